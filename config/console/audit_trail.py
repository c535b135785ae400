"""What the audit says about one row: on the row's own page, below all else."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Model, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from audit.models import AuditEntry
from config.console import cells, text
from config.console.cells import Section
from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import Destination, Dispatch, Endpoint, Event
from payments.models import (
    AccountKey,
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

#: The right to look into the audit.
VIEW: Final = "audit.view_auditentry"
ROWS_MAX: Final = 20
#: Of a change, the fields that a table shows; the entry's own page has all of them.
_FIELDS_MAX: Final = 4
_VALUE_LENGTH_MAX: Final = 120

#: How entries name an object: its kind, and its id among its kind.
Name = tuple[str, str]


def _conflicts(**of: Any) -> list[Name]:
    found = Conflict.objects.filter(**of).values_list("pk", flat=True)[:ROWS_MAX]
    return [("conflict", str(key)) for key in found]


def _of_endpoint(row: Endpoint) -> list[Name]:
    return [("webhook", row.destination.code), ("destination", row.destination.code)]


def _of_order(row: Order) -> list[Name]:
    return [("order", str(row.pk)), *_conflicts(order=row)]


#: By which names the audit knows a row. What was decided of a conflict was decided of its money.
_NAMES: Final[Mapping[type[Model], Callable[[Any], Iterable[Name]]]] = {
    Order: _of_order,
    ProviderTransaction: lambda row: [
        ("transaction", str(row.pk)),
        *_conflicts(transaction=row),
    ],
    Delivery: lambda row: [("delivery", str(row.pk)), *_conflicts(delivery=row)],
    Refund: lambda row: [("refund", str(row.pk)), *_conflicts(subject=f"refund:{row.pk}")],
    Conflict: lambda row: [("conflict", str(row.pk))],
    Proposal: lambda row: [("conflict", str(row.conflict_id))],
    ConflictPolicy: lambda row: [("policy", f"{row.merchant.code}/{row.version}")],
    ManualPayment: lambda row: [("order", str(row.order_id))],
    Recipient: lambda row: [("recipient", str(row.pk))],
    ProviderAccount: lambda row: [("account", row.endpoint)],
    AccountKey: lambda row: [("account", row.account.endpoint)],
    Destination: lambda row: [("destination", row.code), ("webhook", row.code)],
    Endpoint: _of_endpoint,
    Event: lambda row: [("event", str(row.pk))],
    Dispatch: lambda row: [("event", str(row.event_id)), ("dispatch", str(row.pk))],
    Merchant: lambda row: [("merchant", str(row.pk))],
    ApiKey: lambda row: [("api_key", row.prefix)],
    Record: lambda row: [("record", str(row.pk))],
    User: lambda row: [("user", str(row.pk))],
}


def section(request: HttpRequest, row: Model) -> list[Section]:
    """The section, for who may look into the audit; none for rows of which it never speaks."""
    known = _NAMES.get(type(row))
    if known is None or not request.user.has_perm(VIEW):
        return []
    about = reduce(or_, (Q(object_type=kind, object_id=name) for kind, name in known(row)))
    entries = AuditEntry.objects.filter(about).order_by("-seq")[:ROWS_MAX]
    kind, name = next(iter(known(row)))
    return [Section(_("Audit"), table(entries, more=_all_of(kind, name)))]


def table(entries: Iterable[AuditEntry], *, more: str = "") -> SafeString:
    """Entries, newest first: who, when, from where, what, before and after, why."""
    return cells.table(
        (_("When"), _("Who"), _("Action"), _("Before and after"), _("Why"), _("From where")),
        [
            (
                cells.link(entry, cells.moment(entry.at)),
                who(entry),
                entry.action,
                changes(entry, most=_FIELDS_MAX),
                cells.words(entry.why),
                cells.words(entry.origin),
            )
            for entry in entries
        ],
        more=more,
    )


def who(entry: AuditEntry) -> SafeString | str:
    """The actor, and what kind of one."""
    return cells.two_lines(text.visible(entry.actor) or _("nobody known"), entry.actor_kind)


def changes(entry: AuditEntry, *, most: int | None = None) -> SafeString | str:
    """The values that differ, each before and after; or the values, where there was no before."""
    names = [
        name
        for name in {**entry.before, **entry.after}
        if entry.before.get(name) != entry.after.get(name)
    ]
    lines = [
        (text.visible(name), _value(entry.before, name), _value(entry.after, name))
        for name in names[:most]
    ]
    shown = format_html_join("", '<span class="c-change"><b>{}</b> {} &rarr; {}</span>', lines)
    if most is not None and len(names) > most:
        more = _("and %(number)s more") % {"number": len(names) - most}
        return format_html('{}<span class="c-under">{}</span>', shown, more)
    return shown or cells.NOTHING


def _value(side: Mapping[str, Any], name: str) -> str:
    if name not in side:
        return cells.NOTHING
    value = side[name]
    shown = value if isinstance(value, str) else text.pretty_json(value)
    shown = text.visible(" ".join(shown.split()))
    return f"{shown[:_VALUE_LENGTH_MAX]}..." if len(shown) > _VALUE_LENGTH_MAX else shown


def _all_of(kind: str, name: str) -> SafeString:
    address = (
        f"{reverse('admin:audit_auditentry_changelist')}?{urlencode({'about': f'{kind} {name}'})}"
    )
    return format_html('<a class="c-link" href="{}">{}</a>', address, _("All entries about it"))
