"""Approve a manual payment that another has proposed, reject it, or withdraw one's own."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import cells, deeds, related, rights, text, who
from config.console.approving import WhyForm, must_be_another
from config.console.deeds import Asked, Deed
from payments.conflicts import four_eyes
from payments.manual import recording
from payments.models import ManualPayment, ManualStatus


def links(request: HttpRequest, row: ManualPayment) -> list[Deed]:
    """What this person may do about one that waits."""
    if row.status != ManualStatus.PROPOSED:
        return []
    approve, decline = (
        reverse(f"admin:payments_manualpayment_{verb}", args=[row.pk])
        for verb in ("approve", "decline")
    )
    if row.proposed_by_id == request.user.pk:
        may = request.user.has_perm(recording.RECORD)
        return [Deed(_("Withdraw"), decline, grave=True)] if may else []
    if not request.user.has_perm(four_eyes.APPROVE):
        return []
    reject = Deed(_("Reject"), decline, grave=True)
    return [reject] if _has_moved(row) else [Deed(_("Approve"), approve), reject]


def why_not(request: HttpRequest, row: ManualPayment) -> str:
    """Why this person cannot approve it, in words; empty if he can, or if it is over."""
    if row.status != ManualStatus.PROPOSED:
        return ""
    if _has_moved(row):
        names = {"order": row.order.order_no, "status": row.order.status}
        return (
            _(
                "It can be approved no more: order %(order)s has moved since, it is %(status)s. "
                "Reject or withdraw it."
            )
            % names
        )
    return must_be_another(request, row.proposed_by_id, four_eyes.APPROVE)


def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or approve it. Raises PermissionDenied, Http404."""
    rights.require(request, four_eyes.APPROVE)
    row = _found(pk)
    if request.method == "POST":
        return deeds.done(request, lambda: _approved(request, row), cells.page_of(row))
    hindrance = why_not(request, row)
    if hindrance:
        messages.warning(request, hindrance)
        return HttpResponseRedirect(cells.page_of(row))
    asked = Asked(
        title=_("Approve: order %(order)s is paid") % {"order": row.order.order_no},
        says=[sentence(row), _("It is carried out at once, and only if nothing has moved.")],
        button=_("Approve"),
        back=cells.page_of(row),
    )
    return deeds.ask(request, ManualPayment, asked, row)


def decline(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask why, or reject it; the proposer withdraws it. Raises PermissionDenied, Http404."""
    row = _found(pk)
    is_own = row.proposed_by_id == request.user.pk
    rights.require(request, recording.RECORD if is_own else four_eyes.APPROVE)
    form = WhyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        why = form.cleaned_data["why"]
        return deeds.done(request, lambda: _declined(request, row, why), cells.page_of(row))
    name = _("Withdraw") if is_own else _("Reject")
    asked = Asked(
        title=_("%(answer)s: order %(order)s is paid")
        % {"answer": name, "order": row.order.order_no},
        says=[sentence(row), _("Nothing moves: the order goes on waiting.")],
        button=name,
        back=cells.page_of(row),
        form=form,
        grave=True,
    )
    return deeds.ask(request, ManualPayment, asked, row)


def sentence(row: ManualPayment) -> str:
    """Who says what."""
    names = {
        "who": row.proposed_by.get_username(),
        "amount": related.money(row.amount_minor, row.currency),
        "order": row.order.order_no,
        "note": row.note,
    }
    says = _("%(who)s says that %(amount)s were paid for order %(order)s: %(note)s") % names
    return text.visible(says)


def _approved(request: HttpRequest, row: ManualPayment) -> str:
    person = who.person(request)
    deeds.refusing(lambda: recording.approve(row.pk, person=person, now=timezone.now()))
    return _("Order %(order)s is paid.") % {"order": row.order.order_no}


def _declined(request: HttpRequest, row: ManualPayment, why: str) -> str:
    person = who.person(request)
    deeds.refusing(lambda: recording.decline(row.pk, why=why, person=person, now=timezone.now()))
    return _("Nothing has moved: order %(order)s goes on waiting.") % {"order": row.order.order_no}


def _has_moved(row: ManualPayment) -> bool:
    return row.order.version != row.order_version


def _found(pk: int) -> ManualPayment:
    rows = ManualPayment.objects.select_related("order__merchant", "proposed_by")
    row = rows.filter(pk=pk).first()
    if row is None:
        raise Http404
    return row
