"""The screens of the console: Django looks for them here."""

from config.console import (
    accounts,
    conflicts,
    deliveries,
    events,
    keys,
    merchants,
    orders,
    people,
    transactions,
)

__all__ = [
    "accounts",
    "conflicts",
    "deliveries",
    "events",
    "keys",
    "merchants",
    "orders",
    "people",
    "transactions",
]
