"""Mark an order as paid by hand: the page that asks, and what comes of the answer."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, related, rights, who
from config.console.approving import WhyForm
from config.console.deeds import Asked, Deed
from orders.models import Order, OrderStatus
from payments.manual import recording
from payments.models import ManualStatus


class NoteForm(WhyForm):
    """How somebody knows that the money is there."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.fields["why"].label = gettext_lazy("Note")
        self.fields["why"].help_text = gettext_lazy(
            "How and when it was paid, and where that can be seen: a receipt, a statement."
        )


def link(request: HttpRequest, order: Order) -> list[Deed]:
    """The way to mark an order that waits."""
    may = order.status == OrderStatus.WAIT_PAY and request.user.has_perm(recording.RECORD)
    address = reverse("admin:orders_order_mark_paid", args=[order.pk])
    return [Deed(_("Mark as paid by hand"), address)] if may else []


def mark(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the note, or mark the order. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, recording.RECORD)
    order = Order.objects.filter(pk=pk).first()
    if order is None:
        raise Http404
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        note, seen = form.cleaned_data["why"], rights.number(request.POST.get("seen", ""))
        return deeds.done(
            request, lambda: _marked(request, order, note, seen), cells.page_of(order)
        )
    names = {"order": order.order_no, "amount": related.money(order.amount_minor, order.currency)}
    asked = Asked(
        title=_("Mark order %(order)s as paid") % names,
        says=[
            _("%(amount)s were paid outside of any provider: the order becomes PAID by that.")
            % names,
            _("Above the merchant's amount another person must approve it first."),
            _("A payment that a provider tells of later is asked about as a duplicate."),
        ],
        button=_("Mark as paid"),
        back=cells.page_of(order),
        form=form,
        seen={"seen": request.POST.get("seen", order.version)},
        grave=True,
    )
    return deeds.ask(request, Order, asked, order)


def _marked(request: HttpRequest, order: Order, note: str, seen: int) -> str:
    person = who.person(request)
    made = deeds.refusing(
        lambda: recording.record(order.pk, note=note, seen=seen, person=person, now=timezone.now())
    )
    names = {"order": order.order_no}
    if made.status == ManualStatus.PROPOSED:
        return _("It waits for another person to approve it.")
    return _("Order %(order)s is paid.") % names
