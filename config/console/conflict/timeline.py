"""All that happened to a conflict's order and money, in one list by time, each with its source."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from audit.models import AuditEntry
from config.console import cells, colours, ended, related
from config.console.conflict import deeds_done
from orders.events import AGGREGATE_TYPE
from orders.models import Order
from outbox.models import Event
from payments.conflict_events import CONFLICT
from payments.conflicts.seen import Held
from payments.models import Conflict, Delivery, ProviderTransaction, Refund
from payments.refunds.events import REFUND

#: How much is read of each kind, the newest; and how much is shown of all, the newest too.
EACH_MAX: Final = 20
SHOWN_MAX: Final = 40


class Entry(NamedTuple):
    """One thing that happened: when, who says so, and what."""

    at: datetime
    source: str
    what: SafeString | str
    more: SafeString | str = ""


class Timeline(NamedTuple):
    """The entries, oldest first; and where the rest is, if there is more than is shown."""

    entries: list[Entry]
    rest: SafeString | str


def of(held: Held) -> Timeline:
    """The story, in a bounded number of bounded questions."""
    conflict, money = held.conflict, held.money
    order_no = _order_no(held)
    told = Q(merchant=conflict.merchant_id, order_no=order_no) if order_no else Q(pk__in=[])
    told |= Q(transaction=conflict.transaction_id) if money else Q()
    conflicts = list(_conflicts(held)[:EACH_MAX])
    refunds = _refunds(held)
    entries = [
        *_of_order(held.order),
        *_of_deliveries(told),
        *_of_money(held),
        *_of_conflicts(conflicts),
        *_of_refunds(refunds),
        *_of_events(held, conflicts, refunds),
        *_of_people(conflicts),
    ]
    entries.sort(key=lambda entry: entry.at)
    return Timeline(entries[-SHOWN_MAX:], _rest(held, order_no, len(entries)))


def _order_no(held: Held) -> str:
    if held.order is not None:
        return held.order.order_no
    return held.money.order_no if held.money is not None else ""


def _rest(held: Held, order_no: str, number: int) -> SafeString | str:
    """Where all of it is, if this may not be all."""
    if number < EACH_MAX or not order_no:
        return ""
    named = {"merchant__id__exact": held.conflict.merchant_id, "order_no": order_no}
    return cells.list_of(Delivery, _("The newest are shown: all deliveries of the order"), **named)


def _of_order(order: Order | None) -> Iterator[Entry]:
    if order is None:
        return
    money = related.money(order.placed_minor or order.amount_minor, order.currency)
    placed = _("Order %(order)s placed over %(amount)s")
    yield Entry(
        order.created_at,
        _("Order"),
        placed % {"order": order.order_no, "amount": money},
    )
    if order.closed_at is not None:
        yield Entry(order.closed_at, _("Order"), _("Closed"))
    if order.paid_at is not None:
        paid = _("Paid by %(txn)s") % {"txn": cells.words(order.paid_txn_no)}
        yield Entry(order.paid_at, _("Order"), paid)


def _of_deliveries(told: Q) -> Iterator[Entry]:
    rows = Delivery.objects.filter(told).defer("body", "headers").select_related("account")
    for row in rows.order_by("-id")[:EACH_MAX]:
        verdict = cells.label(row.outcome, colours.OUTCOME)
        yield Entry(
            row.received_at,
            row.account.endpoint,
            cells.link(row, _("Delivered: %(type)s") % {"type": row.event_type or row.kind}),
            cells.two_lines(verdict, row.reason),
        )


def _of_money(held: Held) -> Iterator[Entry]:
    of = Q(pk__in=[held.conflict.transaction_id]) | Q(reverses=held.conflict.transaction_id)
    if held.order is not None:
        of |= Q(order=held.order)
    rows = ProviderTransaction.objects.filter(of).select_related("account")
    for row in rows.order_by("-id")[:EACH_MAX]:
        says = _("%(kind)s of %(amount)s: %(txn)s") % {
            "kind": row.kind,
            "amount": related.money(row.amount_minor, row.currency),
            "txn": row.txn_no,
        }
        now = cells.label(row.disposition, colours.DISPOSITION)
        yield Entry(row.recorded_at, _("Ledger"), cells.link(row, says), now)


def _conflicts(held: Held) -> QuerySet[Conflict]:
    about = Q(pk=held.conflict.pk)
    if held.order is not None:
        about |= Q(order=held.order)
    rows = Conflict.objects.filter(about).select_related("policy")
    return rows.order_by("-id")


def _of_conflicts(rows: list[Conflict]) -> Iterator[Entry]:
    for row in rows:
        opened = _("Conflict opened: %(reason)s") % {"reason": row.reason}
        yield Entry(row.opened_at, _("Rules"), cells.link(row, opened))
        if row.resolved_at is not None and not row.decision:
            yield Entry(
                row.resolved_at,
                _("A fact that came"),
                _("The question of %(reason)s answered itself") % {"reason": row.reason},
                ended.how(row),
            )


def _refunds(held: Held) -> list[Refund]:
    of = Q(payment=held.conflict.transaction_id) if held.conflict.transaction_id else Q(pk__in=[])
    if held.order is not None:
        of |= Q(order=held.order)
    return list(Refund.objects.filter(of).select_related("merchant").order_by("-id")[:EACH_MAX])


def _of_refunds(rows: list[Refund]) -> Iterator[Entry]:
    for row in rows:
        words = {"no": row.refund_no, "amount": related.money(row.amount_minor, row.currency)}
        status = cells.label(row.status, colours.REFUND)
        asked = cells.link(row, _("Refund %(no)s of %(amount)s asked for") % words)
        yield Entry(row.requested_at, _("Refund"), asked)
        if row.finished_at is not None:
            ended = cells.link(row, _("Refund %(no)s ended") % words)
            yield Entry(row.finished_at, _("Refund"), ended, status)


def _of_events(held: Held, conflicts: list[Conflict], refunds: list[Refund]) -> Iterator[Entry]:
    code = held.conflict.merchant.code
    named = Q(aggregate_type=CONFLICT, aggregate_id__in=[str(row.pk) for row in conflicts])
    numbers = [f"{code}/{row.refund_no}" for row in refunds]
    named |= Q(aggregate_type=REFUND, aggregate_id__in=numbers)
    if held.order is not None:
        about = f"{code}/{held.order.order_no}"
        named |= Q(aggregate_type=AGGREGATE_TYPE, aggregate_id=about)
    rows = Event.objects.filter(named).defer("payload", "headers")
    for row in rows.order_by("-created_at")[:EACH_MAX]:
        yield Entry(row.created_at, _("Event"), cells.link(row, f"{row.type} #{row.seq}"))


def _of_people(conflicts: list[Conflict]) -> Iterator[Entry]:
    rows = AuditEntry.objects.filter(
        object_type=CONFLICT, object_id__in=[str(row.pk) for row in conflicts]
    )
    for row in rows.order_by("-seq")[:EACH_MAX]:
        yield Entry(row.at, deeds_done.by(row), deeds_done.what(row), cells.words(row.why))
