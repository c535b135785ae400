"""What the events of conflicts say."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypedDict

from orders.events import MerchantCode
from outbox.event_types import EventType
from payments.models import ConflictReason, ConflictStatus, DecidedAs, Resolution, Severity

CONFLICT: Final = "conflict"


class ConflictOpenedPayload(TypedDict):
    """A case that no rule may decide."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    severity: Annotated[Severity, "PAGE: within the hour. TICKET: within the day."]
    expected: Annotated[Mapping[str, Any], "What was known; its fields depend on the reason."]
    received: Annotated[Mapping[str, Any], "What was told instead."]


class ConflictProposedPayload(TypedDict):
    """Somebody has proposed how to decide, and another person is asked."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    status: ConflictStatus
    how: Annotated[Resolution, "What was proposed."]


class ConflictReopenedPayload(TypedDict):
    """The question stands again."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    status: ConflictStatus
    why: Annotated[str, "In words: a proposal was taken back, or a refund has failed."]


class ConflictResolvedPayload(TypedDict):
    """A conflict whose question is answered."""

    conflict_id: str
    merchant: MerchantCode
    reason: ConflictReason
    resolution: Annotated[str, "How, in words."]
    status: NotRequired[ConflictStatus]
    how: NotRequired[Annotated[str, "FACT where the question answered itself, else the decision."]]
    decided_as: NotRequired[DecidedAs]
    refund_no: NotRequired[Annotated[str | None, "Of the refund that resolves it, if one does."]]


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
CONFLICT_PROPOSED: Final = EventType(
    name="conflict.proposed",
    aggregate_type=CONFLICT,
    payload=ConflictProposedPayload,
    when="a person has proposed how to decide, and another one must approve",
)
CONFLICT_REOPENED: Final = EventType(
    name="conflict.reopened",
    aggregate_type=CONFLICT,
    payload=ConflictReopenedPayload,
    when="a proposal was taken back, or what was decided did not happen",
)
EVENT_TYPES: Final = (CONFLICT_OPENED, CONFLICT_PROPOSED, CONFLICT_REOPENED, CONFLICT_RESOLVED)
