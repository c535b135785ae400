"""The screens of the console: Django looks for them here."""

from config.console import (
    accounts,
    audit_log,
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
    "accounts",
    "audit_log",
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
