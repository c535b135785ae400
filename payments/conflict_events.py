"""What the events of conflicts say."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypedDict

from orders.events import MerchantCode
from outbox.event_types import EventType
from payments.models import ConflictReason, Severity

CONFLICT: Final = "conflict"


class ConflictOpenedPayload(TypedDict):
    """A case that no rule may decide."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    severity: Annotated[Severity, "PAGE: within the hour. TICKET: within the day."]
    expected: Annotated[Mapping[str, Any], "What was known; its fields depend on the reason."]
    received: Annotated[Mapping[str, Any], "What was told instead."]


class ConflictResolvedPayload(TypedDict):
    """A conflict whose question is answered."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    resolution: Annotated[str, "How, in words."]


CONFLICT_OPENED: Final = EventType(
    name="conflict.opened",
    aggregate_type=CONFLICT,
    payload=ConflictOpenedPayload,
    when="a person must decide",
)
CONFLICT_RESOLVED: Final = EventType(
    name="conflict.resolved",
    aggregate_type=CONFLICT,
    payload=ConflictResolvedPayload,
    when="the question of a conflict is answered",
)
EVENT_TYPES: Final = (CONFLICT_OPENED, CONFLICT_RESOLVED)
