"""The screens of the console: Django looks for them here."""

from config.console import (
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
    recipients,
    refunds,
    transactions,
)

__all__ = [
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
    "recipients",
    "refunds",
    "transactions",
]
