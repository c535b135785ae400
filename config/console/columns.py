"""Which columns each list has as a file: all that its rows may show, nothing that is secret."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db.models import Model

from audit.models import AuditEntry
from config.console import csv_cells
from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import Destination, Dispatch, Endpoint, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    ConflictPolicy,
    Delivery,
    ManualPayment,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Recipient,
    Refund,
)


class Column(NamedTuple):
    """One value of a row: its name in the file, and its path from the row."""

    name: str
    path: str


class Amount(NamedTuple):
    """An amount: in major units, and beside it in minor ones; its currency is the row's own."""

    name: str
    path: str


Columns = tuple[Column | Amount, ...]


def _named(*names: str, **paths: str) -> Columns:
    """Columns of the row itself, and those that are elsewhere or have another name."""
    return (
        *(Column(name, name) for name in names),
        *(Column(name, path) for name, path in paths.items()),
    )


_OF_ACCOUNT: Final = _named(provider="account__provider", account="account__name")
_OF_MERCHANT: Final = _named(merchant="merchant__code")

#: By table; a list without columns here is not offered as a file.
EXPORTS: Final[Mapping[type[Model], Columns]] = {
    Order: (
        *_OF_MERCHANT,
        *_named("order_no", "status"),
        Amount("amount", "amount_minor"),
        Amount("refunded", "refunded_minor"),
        *_named("currency", "paid_txn_no", "payable_through", "version"),
        *_named("created_at", "paid_at", "closed_at", "expires_at"),
    ),
    ProviderTransaction: (
        *_named("id"),
        *_OF_ACCOUNT,
        *_OF_MERCHANT,
        *_named("kind", "txn_no", "disposition"),
        Amount("amount", "amount_minor"),
        Amount("refund_reserved", "refund_reserved_minor"),
        Amount("refunded", "refunded_minor"),
        Amount("charged_back", "charged_back_minor"),
        *_named("currency", "order_no", applied_to="order__order_no"),
        *_named("reverses_no", "stated_account_no"),
        *_named("occurred_at", "occurred_at_is_stated", "recorded_at"),
    ),
    Refund: (
        *_OF_MERCHANT,
        *_OF_ACCOUNT,
        *_named("refund_no", "status"),
        Amount("amount", "amount_minor"),
        *_named("currency", "provider_refund_no", payment="payment__txn_no"),
        *_named("reason", "why", "asks", order_no="order__order_no"),
        *_named("requested_at", "first_sent_at", "sent_at", "finished_at"),
    ),
    Delivery: (
        *_named("id", "received_at"),
        *_OF_ACCOUNT,
        *_OF_MERCHANT,
        *_named("outcome", "reason", "detail", "event_id", "event_type", "kind"),
        *_named("txn_no", "order_no", "linked_nos", "key_id", "assurance"),
        *_named("body_sha256", "batch_id", "item_no", replay_of="replay_of_id"),
    ),
    Confirmation: (
        *_OF_ACCOUNT,
        *_OF_MERCHANT,
        *_named("txn_no", "order_no", "status", "told_count", "asks", "why"),
        *_named("first_told_at", "last_told_at", "confirmed_at", "refuted_at"),
    ),
    Conflict: (
        *_named("id", "reason", "severity", "status"),
        *_OF_MERCHANT,
        *_named(order_no="order__order_no", txn_no="transaction__txn_no"),
        *_named("opened_at", "due_at", "resolved_at", "resolution", "decision", "decided_as"),
        *_named(decided_by="decided_by__username", proposed_by="proposed_by__username"),
        *_named("why", "subject"),
    ),
    Proposal: (
        *_named("id", "status", "resolution", "order_no"),
        *_named(conflict="conflict_id", reason="conflict__reason"),
        Amount("amount", "amount_minor"),
        *_named("currency", "consequence", "why", "proposed_at", "expires_at", "decided_at"),
        *_named(proposed_by="proposed_by__username", decided_by="decided_by__username"),
        *_named("decided_why"),
    ),
    ConflictPolicy: (
        *_OF_MERCHANT,
        *_named("version", "status", "needs_two", "rules", "why", "proposed_at", "decided_at"),
        *_named(proposed_by="proposed_by__username", decided_by="decided_by__username"),
        *_named("decided_why"),
    ),
    ManualPayment: (
        *_named(merchant="order__merchant__code", order_no="order__order_no"),
        *_named("status", "needs_two"),
        Amount("amount", "amount_minor"),
        *_named("currency", "note", "proposed_at", "decided_at", "decided_why"),
        *_named(proposed_by="proposed_by__username", decided_by="decided_by__username"),
    ),
    Recipient: _named("id", "kind", "shown", "least", "active", merchant="merchant__code"),
    AuditEntry: _named(
        *("seq", "at", "actor_kind", "actor", "origin", "action", "object_type", "object_id"),
        *("before", "after", "why", "previous", "hash"),
    ),
    Event: _named("id", "type", "aggregate_type", "aggregate_id", "seq", "tenant", "created_at"),
    Dispatch: (
        *_named("id", "event_id", type="event__type", destination="destination__code"),
        *_named("aggregate_type", "aggregate_id", "seq", "state", "attempts"),
        *_named("created_at", "published_at", "dead_at", "last_error", "redrive_id"),
    ),
    Destination: _named("code", "kind", "tenant", "event_types", "state", "reason", "created_at"),
    Endpoint: (
        *_named(code="destination__code", tenant="destination__tenant", state="destination__state"),
        *_named("failures", "failing_since", "open_until", "removed_at"),
    ),
    ProviderAccount: (
        *_named("provider", "name"),
        *_OF_MERCHANT,
        *_named("account_no", "live", "active", "created_at"),
    ),
    AccountKey: (
        *_OF_ACCOUNT,
        *_named("purpose", "key_id", "not_before", "not_after", "last_used_at", "created_at"),
    ),
    Merchant: _named("code", "name", "active", "created_at"),
    ApiKey: (*_named("prefix"), *_OF_MERCHANT, *_named("label", "created_at", "revoked_at")),
    Record: _named(
        *("id", "scope", "idem_key", "status", "result_code", "retry_count", "reason"),
        *("created_at", "finished_at", "handed_over_at"),
    ),
}


def paths(columns: Columns) -> list[str]:
    """What to ask the database for."""
    return [column.path for column in columns]


def head(columns: Columns) -> list[str]:
    """The first line."""
    return [name for column in columns for name in _names(column)]


def line(columns: Columns, values: Sequence[Any]) -> list[str]:
    """The line of a row."""
    known = dict(zip(paths(columns), values, strict=True))
    return [part for column in columns for part in _parts(column, known)]


def _names(column: Column | Amount) -> Iterator[str]:
    yield column.name
    if isinstance(column, Amount):
        yield f"{column.name}_minor"


def _parts(column: Column | Amount, known: Mapping[str, Any]) -> Iterator[str]:
    value = known[column.path]
    if isinstance(column, Amount):
        yield csv_cells.major(value, str(known["currency"]))
    yield csv_cells.cell(value)
