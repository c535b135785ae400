"""Each status in its colour; what is not named is plain."""

from collections.abc import Mapping
from typing import Final

from idempotency.models import RecordStatus
from orders.models import OrderStatus
from outbox.models import DestinationState, DispatchState
from payments.callback import Outcome
from payments.models import (
    ConfirmationStatus,
    ConflictStatus,
    Disposition,
    ManualStatus,
    PolicyStatus,
    ProposalStatus,
    RefundStatus,
    Severity,
    TransactionKind,
)

ORDER: Final[Mapping[str, str]] = {
    OrderStatus.WAIT_PAY: "info",
    OrderStatus.PAID: "success",
    OrderStatus.REFUNDED: "warning",
}
OUTCOME: Final[Mapping[str, str]] = {
    Outcome.APPLIED: "success",
    Outcome.CONFLICT: "danger",
    Outcome.PARKED: "warning",
    Outcome.HELD: "warning",
    Outcome.QUARANTINED: "danger",
    Outcome.RECORDED: "info",
}
KIND: Final[Mapping[str, str]] = {
    TransactionKind.REFUND: "warning",
    TransactionKind.CHARGEBACK: "danger",
}
DISPOSITION: Final[Mapping[str, str]] = {
    Disposition.APPLIED: "success",
    Disposition.HELD: "danger",
    Disposition.PARKED: "warning",
}
CONFLICT: Final[Mapping[str, str]] = {
    ConflictStatus.OPEN: "danger",
    ConflictStatus.PROPOSED: "warning",
    ConflictStatus.RESOLVED: "success",
}
PROPOSAL: Final[Mapping[str, str]] = {
    ProposalStatus.PENDING: "warning",
    ProposalStatus.APPROVED: "success",
    ProposalStatus.REJECTED: "danger",
}
POLICY: Final[Mapping[str, str]] = {
    PolicyStatus.PROPOSED: "warning",
    PolicyStatus.ACTIVE: "success",
    PolicyStatus.REJECTED: "danger",
}
MANUAL: Final[Mapping[str, str]] = {
    ManualStatus.PROPOSED: "warning",
    ManualStatus.BOOKED: "success",
    ManualStatus.REJECTED: "danger",
}
CONFIRMATION: Final[Mapping[str, str]] = {
    ConfirmationStatus.WAITING: "warning",
    ConfirmationStatus.CONFIRMED: "success",
    ConfirmationStatus.REFUTED: "info",
    ConfirmationStatus.UNANSWERED: "danger",
}
REFUND: Final[Mapping[str, str]] = {
    RefundStatus.REQUESTED: "info",
    RefundStatus.PROCESSING: "warning",
    RefundStatus.SUCCEEDED: "success",
    RefundStatus.FAILED: "danger",
}
SEVERITY: Final[Mapping[str, str]] = {Severity.PAGE: "danger", Severity.TICKET: "info"}
DISPATCH: Final[Mapping[str, str]] = {
    DispatchState.PENDING: "info",
    DispatchState.CLAIMED: "info",
    DispatchState.PUBLISHED: "success",
    DispatchState.DEAD: "danger",
}
DESTINATION: Final[Mapping[str, str]] = {
    DestinationState.ACTIVE: "success",
    DestinationState.PAUSED: "warning",
    DestinationState.DISABLED: "danger",
}
KEY: Final[Mapping[str, str]] = {
    RecordStatus.PROCESSING: "info",
    RecordStatus.SUCCEEDED: "success",
    RecordStatus.FAILED_RETRYABLE: "warning",
}
MODE: Final[Mapping[str, str]] = {"LIVE": "success", "TEST": "warning"}
