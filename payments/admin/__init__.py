"""The screens that show money: every screen lies here that names a row of payments."""

from payments.admin.accounts import AccountScreen
from payments.admin.conflicts import ConflictScreen
from payments.admin.deliveries import DeliveryScreen
from payments.admin.events import EventScreen
from payments.admin.orders import OrderScreen
from payments.admin.transactions import TransactionScreen

__all__ = [
    "AccountScreen",
    "ConflictScreen",
    "DeliveryScreen",
    "EventScreen",
    "OrderScreen",
    "TransactionScreen",
]
