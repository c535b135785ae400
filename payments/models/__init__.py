"""What providers said: accounts and their keys, deliveries, the ledger, refunds and conflicts."""

from payments.models.accounts import AccountKey, ProviderAccount, UnknownKeySighting
from payments.models.confirmations import Confirmation, ConfirmationStatus, Inquiry
from payments.models.conflicts import (
    WHY_LENGTH_MAX,
    Conflict,
    ConflictReason,
    ConflictStatus,
    DecidedAs,
    Resolution,
    Severity,
)
from payments.models.deliveries import Delivery
from payments.models.ledger import Disposition, ProviderTransaction, TransactionKind
from payments.models.manual import ManualPayment, ManualStatus
from payments.models.notifications import (
    ERROR_LENGTH_MAX,
    SHOWN_LENGTH_MAX,
    Level,
    Notification,
    NotificationKind,
    NotificationMessage,
    Recipient,
)
from payments.models.policies import ConflictPolicy, PolicyStatus
from payments.models.proposals import Proposal, ProposalStatus
from payments.models.refunds import REASON_LENGTH_MAX, Refund, RefundStatus

__all__ = [
    "ERROR_LENGTH_MAX",
    "REASON_LENGTH_MAX",
    "SHOWN_LENGTH_MAX",
    "WHY_LENGTH_MAX",
    "AccountKey",
    "Confirmation",
    "ConfirmationStatus",
    "Conflict",
    "ConflictPolicy",
    "ConflictReason",
    "ConflictStatus",
    "DecidedAs",
    "Delivery",
    "Disposition",
    "Inquiry",
    "Level",
    "ManualPayment",
    "ManualStatus",
    "Notification",
    "NotificationKind",
    "NotificationMessage",
    "PolicyStatus",
    "Proposal",
    "ProposalStatus",
    "ProviderAccount",
    "ProviderTransaction",
    "Recipient",
    "Refund",
    "RefundStatus",
    "Resolution",
    "Severity",
    "TransactionKind",
    "UnknownKeySighting",
]
