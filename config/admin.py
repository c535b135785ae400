"""The screens of the console: Django looks for them here."""

from config.console import (
    account_keys,
    accounts,
    confirmations,
    conflicts,
    deliveries,
    destinations,
    dispatches,
    endpoints,
    events,
    keys,
    merchants,
    orders,
    people,
    refunds,
    transactions,
)

__all__ = [
    "account_keys",
    "accounts",
    "confirmations",
    "conflicts",
    "deliveries",
    "destinations",
    "dispatches",
    "endpoints",
    "events",
    "keys",
    "merchants",
    "orders",
    "people",
    "refunds",
    "transactions",
]
