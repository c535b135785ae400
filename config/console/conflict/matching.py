"""Find the order that a payment belongs to: by its number, among those that it could pay."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, colours, related, text, two_sides
from config.console.conflict import resolutions
from orders.models import ORDER_NO_LENGTH_MAX, Order, OrderStatus
from payments.conflicts import seen as seeing
from payments.conflicts.fitting import why_not
from payments.conflicts.seen import Held
from payments.models import Conflict, Resolution

#: How many orders are offered.
FOUND_MAX: Final = 10


def view(request: HttpRequest, held: Held) -> HttpResponse:
    """Search; each order that is found says whether it fits, and leads on if it does."""
    term = request.GET.get("q", "").strip()[:ORDER_NO_LENGTH_MAX]
    meta = Conflict._meta  # noqa: SLF001 - Django's documented way to a model's names
    context = admin.site.each_context(request) | {
        "title": resolutions.NAMES[Resolution.MATCH],
        "opts": meta,
        "original": held.conflict,
        "term": term,
        "back": cells.page_of(held.conflict),
        "money": _money(held),
        "named": text.visible(two_sides.order_named(held.conflict)),
        "table": _table(held, _found(held, term)),
    }
    request.current_app = admin.site.name  # as Django's own pages do
    return TemplateResponse(request, "console/match.html", context)


def _found(held: Held, term: str) -> list[Order]:
    """Those whose number begins so; without one, those that wait for exactly this money."""
    orders = Order.objects.filter(merchant_id=held.conflict.merchant_id)
    if term:
        orders = orders.filter(order_no__startswith=term)
    elif held.money is not None:
        payable = Q(status__in=(OrderStatus.WAIT_PAY, OrderStatus.CLOSED))
        orders = orders.filter(
            payable, amount_minor=held.money.amount_minor, currency=held.money.currency
        )
    return list(orders.order_by("-id")[:FOUND_MAX])


def _table(held: Held, found: list[Order]) -> SafeString:
    return cells.table(
        (_("Order"), _("Amount"), _("Status"), _("Placed"), ""),
        [
            (
                cells.link(order),
                cells.amount(related.money(order.amount_minor, order.currency)),
                cells.label(order.status, colours.ORDER),
                cells.moment(order.created_at),
                _choice(held, order),
            )
            for order in found
        ],
    )


def _choice(held: Held, order: Order) -> Any:
    seen = seeing.Held(
        conflict=held.conflict,
        money=held.money,
        order=held.order,
        target_no=order.order_no,
        target=order,
    )
    hindrance = why_not(Resolution.MATCH, seen.facts)
    if hindrance:
        return cells.words(hindrance)
    link = resolutions.link_to(held.conflict.pk, Resolution.MATCH)
    return format_html(
        '<a class="c-button" href="{}?{}">{}</a>',
        link,
        urlencode({"order_no": order.order_no}),
        _("Match to this order"),
    )


def _money(held: Held) -> str:
    money = held.money
    return related.money(money.amount_minor, money.currency) if money else cells.NOTHING
