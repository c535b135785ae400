"""What was told, where it has to go, how far it got, and what was heard."""

from outbox.models.consumed import (
    CONSUMED_ID_LENGTH_MAX,
    CONSUMER_GROUP_LENGTH_MAX,
    ConsumedEvent,
)
from outbox.models.destination import (
    BUS,
    CODE_LENGTH_MAX,
    REASON_LENGTH_MAX,
    Destination,
    DestinationKind,
    DestinationState,
    Party,
)
from outbox.models.dispatch import ERROR_LENGTH_MAX, Dispatch, DispatchState
from outbox.models.event import (
    AGGREGATE_ID_LENGTH_MAX,
    AGGREGATE_TYPE_LENGTH_MAX,
    TENANT_LENGTH_MAX,
    TYPE_LENGTH_MAX,
    Event,
)
from outbox.models.webhook import (
    ASKED_BY_LENGTH_MAX,
    ATTEMPT_ERROR_LENGTH_MAX,
    Attempt,
    Endpoint,
    EndpointSecret,
)

__all__ = [
    "AGGREGATE_ID_LENGTH_MAX",
    "AGGREGATE_TYPE_LENGTH_MAX",
    "ASKED_BY_LENGTH_MAX",
    "ATTEMPT_ERROR_LENGTH_MAX",
    "BUS",
    "CODE_LENGTH_MAX",
    "CONSUMED_ID_LENGTH_MAX",
    "CONSUMER_GROUP_LENGTH_MAX",
    "ERROR_LENGTH_MAX",
    "REASON_LENGTH_MAX",
    "TENANT_LENGTH_MAX",
    "TYPE_LENGTH_MAX",
    "Attempt",
    "ConsumedEvent",
    "Destination",
    "DestinationKind",
    "DestinationState",
    "Dispatch",
    "DispatchState",
    "Endpoint",
    "EndpointSecret",
    "Event",
    "Party",
]
