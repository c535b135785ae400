"""What providers said: accounts and their keys, deliveries, the ledger, refunds and conflicts."""

from payments.models.accounts import AccountKey, ProviderAccount, UnknownKeySighting
from payments.models.confirmations import Confirmation, ConfirmationStatus, Inquiry
from payments.models.conflicts import Conflict, ConflictReason, ConflictStatus, Severity
from payments.models.deliveries import Delivery
from payments.models.ledger import Disposition, ProviderTransaction, TransactionKind
from payments.models.refunds import REASON_LENGTH_MAX, Refund, RefundStatus

__all__ = [
    "REASON_LENGTH_MAX",
    "AccountKey",
    "Confirmation",
    "ConfirmationStatus",
    "Conflict",
    "ConflictReason",
    "ConflictStatus",
    "Delivery",
    "Disposition",
    "Inquiry",
    "ProviderAccount",
    "ProviderTransaction",
    "Refund",
    "RefundStatus",
    "Severity",
    "TransactionKind",
    "UnknownKeySighting",
]
