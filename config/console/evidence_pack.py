"""Everything that is known of an order or a conflict, for a dispute at the provider.

What its maker may not see is not in it, and is named as left out.
"""

import json
from collections import Counter
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import translation

from audit.models import AuditEntry
from config.console import evidence_rows, finding, two_sides
from config.console import story as stories
from config.console.evidence_timeline import timeline
from orders.events import AGGREGATE_TYPE as ORDER
from orders.models import Order
from outbox.models import Event
from payments.conflict_events import CONFLICT
from payments.models import Conflict, Delivery, ProviderTransaction, Refund
from payments.refunds.events import PAYMENT, REFUND

#: Another form of the pack has another name; docs/console.md has the members.
SCHEMA: Final = "paidonce.evidence/1"
#: How many rows of each kind; what is cut is named.
ROWS_MAX: Final = 500

Pack = dict[str, Any]


def make(request: HttpRequest, row: Order | Conflict, *, now: datetime) -> Pack:
    """The pack; the times, numbers and texts in it are exact, secrets and payers are masked."""
    return _Maker(request).make(row, now=now)


def as_json(pack: Pack) -> bytes:
    """The pack as a file: ASCII, so that nothing in it is invisible."""
    return (json.dumps(pack, indent=2, default=str) + "\n").encode()


class _Maker:
    """Collects what one user may see."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._left_out: list[str] = []
        self._cut: list[str] = []

    def make(self, row: Order | Conflict, *, now: datetime) -> Pack:
        conflict = row if isinstance(row, Conflict) else None
        order = row.order if isinstance(row, Conflict) else row
        story = stories.of_conflict(row) if isinstance(row, Conflict) else stories.of_order(row)
        money = self._rows("payments", story.money, "account")
        # Refunds and chargebacks of its payments belong to it too.
        reversals = ProviderTransaction.objects.filter(reverses__in=[each.pk for each in money])
        known = {each.pk for each in money}
        money += [
            each for each in self._rows("payments", reversals, "account") if each.pk not in known
        ]
        refunds = self._rows("refunds", story.refunds, "account", "payment", "merchant")
        conflicts = self._rows("conflicts", story.conflicts, "decided_by", "proposed_by")
        deliveries = self._rows("deliveries", story.deliveries, "account")
        events = self._rows("events", _events(order, money, refunds, conflicts))
        entries = self._entries(order, conflicts, deliveries)
        together = _batches(deliveries)
        pack: Pack = {
            "schema": SCHEMA,
            "made_at": evidence_rows.now(now),
            "made_by": self._request.user.get_username(),
            "about": f"{row._meta.model_name}:{row.pk}",  # noqa: SLF001 - Django's documented way to a model's names
            "question": _question(conflict) if conflict else None,
            "order": evidence_rows.order(order) if order and self._may_see(order) else None,
            "payments": [evidence_rows.payment(each) for each in money],
            "refunds": [evidence_rows.refund(each) for each in refunds],
            "conflicts": [evidence_rows.conflict(each) for each in conflicts],
            "deliveries": [
                evidence_rows.delivery(each, batch_length=together[each.batch_id])
                for each in deliveries
            ],
            "events": [evidence_rows.event(each) for each in events],
            "audit": [evidence_rows.entry(each) for each in entries],
        }
        pack["timeline"] = timeline(pack)
        return pack | {"left_out": sorted(set(self._left_out)), "cut": sorted(set(self._cut))}

    def _may_see(self, order: Order) -> bool:
        rows = finding.seen(self._request, Order)
        if rows is not None and rows.filter(pk=order.pk).exists():
            return True
        self._left_out.append("order")
        return False

    def _rows(self, name: str, rows: QuerySet[Any], *beside: str) -> list[Any]:
        may_see = finding.seen(self._request, rows.model)
        if may_see is None:
            self._left_out.append(name)
            return []
        found = may_see.filter(pk__in=rows.order_by().values("pk")).defer(None)
        by = "created_at" if rows.model is Event else "pk"
        return self._bounded(name, found.select_related(*beside).order_by(by))

    def _entries(
        self, order: Order | None, conflicts: list[Conflict], deliveries: list[Delivery]
    ) -> list[AuditEntry]:
        if not self._request.user.has_perm("audit.view_auditentry"):
            self._left_out.append("audit")
            return []
        about = Q(object_type="conflict", object_id__in=[str(each.pk) for each in conflicts])
        about |= Q(object_type="delivery", object_id__in=[str(each.pk) for each in deliveries])
        if order is not None:
            about |= Q(object_type="order", object_id=str(order.pk))
        return self._bounded("audit", AuditEntry.objects.filter(about).order_by("seq"))

    def _bounded(self, name: str, rows: QuerySet[Any]) -> list[Any]:
        found = list(rows[: ROWS_MAX + 1])
        if len(found) > ROWS_MAX:
            self._cut.append(name)
        return found[:ROWS_MAX]


def _question(conflict: Conflict) -> str:
    """In English, as all of the pack: the provider reads it, and its digest is nobody's own."""
    with translation.override("en"):
        return two_sides.question(conflict)


def _events(
    order: Order | None,
    money: list[ProviderTransaction],
    refunds: list[Refund],
    conflicts: list[Conflict],
) -> QuerySet[Event]:
    """What was told of any of these."""
    about = Q(aggregate_type=PAYMENT, aggregate_id__in=[str(row.pk) for row in money])
    about |= Q(aggregate_type=CONFLICT, aggregate_id__in=[str(row.pk) for row in conflicts])
    numbers = [f"{row.merchant.code}/{row.refund_no}" for row in refunds]
    about |= Q(aggregate_type=REFUND, aggregate_id__in=numbers)
    if order is not None:
        about |= Q(aggregate_type=ORDER, aggregate_id=f"{order.merchant.code}/{order.order_no}")
    return Event.objects.filter(about)


def _batches(deliveries: list[Delivery]) -> Counter[Any]:
    """How many callbacks the request of each delivery told."""
    batches = {row.batch_id for row in deliveries}
    items = Delivery.objects.filter(batch_id__in=batches).values_list("batch_id", flat=True)
    return Counter(items)
