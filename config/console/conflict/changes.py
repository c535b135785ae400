"""What moved since a page was shown, field by field, in words for people."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, related
from config.console.deeds import Asked
from payments.conflicts.seen import Change, Held, Value
from payments.models import Conflict

#: The answer to a form that was overtaken.
OVERTAKEN: Final = 409

_OF: Final[Mapping[str, Any]] = {
    "conflict": gettext_lazy("Conflict: %(field)s"),
    "order": gettext_lazy("Order: %(field)s"),
    "target": gettext_lazy("Order to match to: %(field)s"),
    "transaction": gettext_lazy("Transaction: %(field)s"),
}
_FIELDS: Final[Mapping[str, Any]] = {
    "status": gettext_lazy("status"),
    "version": gettext_lazy("version"),
    "order_no": gettext_lazy("order number"),
    "amount_minor": gettext_lazy("amount"),
    "currency": gettext_lazy("currency"),
    "refunded_minor": gettext_lazy("refunded"),
    "refund_reserved_minor": gettext_lazy("refunded or about to be"),
    "charged_back_minor": gettext_lazy("charged back"),
    "paid_txn_no": gettext_lazy("paid by"),
    "payable_through": gettext_lazy("payable through"),
    "txn_no": gettext_lazy("number"),
    "disposition": gettext_lazy("disposition"),
}


def overtaken(
    request: HttpRequest, held: Held, changes: Sequence[Change], *, title: str, says: str
) -> HttpResponse:
    """The answer to what cannot be done any more: what moved, and no button."""
    asked = Asked(
        title=title,
        says=[says],
        button="",
        back=cells.page_of(held.conflict),
        table=table(changes, held),
    )
    answer = deeds.ask(request, Conflict, asked, held.conflict)
    answer.status_code = OVERTAKEN
    return answer


def table(changes: Sequence[Change], held: Held) -> SafeString:
    """Then and now, side by side; amounts in the currency of what they are of."""
    return cells.table(
        (_("What"), _("When you looked"), _("Now")),
        [
            (_name(change), _shown(change, change.then, held), _shown(change, change.now, held))
            for change in changes
        ],
    )


def _name(change: Change) -> str:
    of, _dot, field = change.name.partition(".")
    known = _FIELDS.get(field)
    return str(_OF[of]) % {"field": known} if of in _OF and known else change.name


def _shown(change: Change, value: Value, held: Held) -> str:
    if value is None or value == "":
        return cells.NOTHING
    if change.name.endswith("_minor") and isinstance(value, int):
        of = {"order": held.order, "target": held.target}.get(change.name.partition(".")[0])
        currency = of.currency if of is not None else held.conflict.currency
        return related.money(value, currency)
    return cells.words(str(value))
