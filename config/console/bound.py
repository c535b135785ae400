"""The state that a decision rests on, in words: as it was seen, and as it is now."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, related
from payments.conflicts.seen import Seen, Value

_NAMES: Final[Mapping[str, Promise]] = {
    "conflict.status": gettext_lazy("Conflict: status"),
    "conflict.version": gettext_lazy("Conflict: version"),
    "transaction": gettext_lazy("Transaction"),
    "transaction.txn_no": gettext_lazy("Transaction"),
    "transaction.order_no": gettext_lazy("Transaction: order it names"),
    "transaction.disposition": gettext_lazy("Transaction: where the money stands"),
    "transaction.amount_minor": gettext_lazy("Transaction: amount"),
    "transaction.refund_reserved_minor": gettext_lazy("Transaction: refunded or promised"),
    "transaction.refunded_minor": gettext_lazy("Transaction: refunded"),
    "transaction.charged_back_minor": gettext_lazy("Transaction: charged back"),
    "order": gettext_lazy("Order"),
    "order.order_no": gettext_lazy("Order"),
    "order.status": gettext_lazy("Order: status"),
    "order.amount_minor": gettext_lazy("Order: amount"),
    "order.refunded_minor": gettext_lazy("Order: refunded"),
    "order.paid_txn_no": gettext_lazy("Order: paid by"),
    "order.payable_through": gettext_lazy("Order: payable through"),
    "order.version": gettext_lazy("Order: version"),
    "target": gettext_lazy("Order to match to"),
    "target.order_no": gettext_lazy("Order to match to"),
    "target.status": gettext_lazy("Order to match to: status"),
    "target.amount_minor": gettext_lazy("Order to match to: amount"),
    "target.refunded_minor": gettext_lazy("Order to match to: refunded"),
    "target.paid_txn_no": gettext_lazy("Order to match to: paid by"),
    "target.payable_through": gettext_lazy("Order to match to: payable through"),
    "target.version": gettext_lazy("Order to match to: version"),
}
_AMOUNT: Final = "_minor"
#: Shown with the amounts.
_CURRENCY: Final = ".currency"


def table(then: Seen, now: Seen | None) -> SafeString:
    """Each thing as it was and as it is; without `now`, as it was."""
    columns = [_("What it rests on"), _("When it was proposed")]
    if now is None:
        return cells.narrow(
            cells.table(columns, [(_name(name), _shown(name, then)) for name in _names(then)])
        )
    moved = {change.name for change in then.changes(now)}
    # A state that has another shape now, an order that was not there: all that either says.
    names = dict.fromkeys([*_names(then), *_names(now)])
    rows = [
        (_name(name), _shown(name, then), _now(_shown(name, now), differs=name in moved))
        for name in names
    ]
    return cells.narrow(cells.table([*columns, _("Now")], rows))


def _names(seen: Seen) -> list[str]:
    known = [name for name in _NAMES if name in seen.values]
    others = seen.values.keys() - _NAMES.keys()
    return known + sorted(name for name in others if not name.endswith(_CURRENCY))


def _name(name: str) -> str:
    return str(_NAMES.get(name) or cells.words(name))


def _shown(name: str, seen: Seen) -> str:
    value: Value = seen.values.get(name)
    currency = seen.values.get(f"{name.partition('.')[0]}{_CURRENCY}")
    if name.endswith(_AMOUNT) and isinstance(value, int) and isinstance(currency, str):
        return related.money(value, currency)
    return cells.NOTHING if value is None else cells.words(str(value))


def _now(shown: str, *, differs: bool) -> SafeString | str:
    return format_html('<span class="c-late">{}</span>', shown) if differs else shown
