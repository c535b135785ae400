"""Approve a version of a policy that another has proposed, reject it, or withdraw one's own."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import (
    cells,
    deeds,
    policy_pages,
    policy_trials,
    policy_words,
    rights,
    text,
    who,
)
from config.console.approving import WhyForm, must_be_another
from config.console.deeds import Asked, Deed
from payments.models import ConflictPolicy, PolicyStatus
from payments.policies import changing, current, document


def links(request: HttpRequest, row: ConflictPolicy) -> list[Deed]:
    """What this person may do about a version that waits."""
    if row.status != PolicyStatus.PROPOSED:
        return []
    decline = policy_pages.address("decline", row.pk)
    if _is_own(request, row):
        may = request.user.has_perm(changing.PROPOSE)
        return [Deed(_("Withdraw"), decline, grave=True)] if may else []
    if not request.user.has_perm(changing.APPROVE):
        return []
    approve = policy_pages.address("approve", row.pk)
    return [Deed(_("Approve"), approve), Deed(_("Reject"), decline, grave=True)]


def why_not(request: HttpRequest, row: ConflictPolicy) -> str:
    """Why this person cannot approve it, in words; empty if he can, or if it does not wait."""
    if row.status != PolicyStatus.PROPOSED:
        return ""
    return must_be_another(request, row.proposed_by_id, changing.APPROVE)


def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, with what it would have done, or let it count. Raises PermissionDenied, Http404."""
    row = _found(request, pk, changing.APPROVE)
    if request.method == "POST":
        values = {"seen": policy_pages.seen_version(request)}
        return policy_pages.done(request, row.merchant_id, lambda: _approve(request, row, values))
    hindrance = why_not(request, row)
    if hindrance:
        messages.warning(request, hindrance)
        return HttpResponseRedirect(cells.page_of(row))
    present, wanted = current.rules_of(row.merchant_id), document.read(row.rules)
    asked = Asked(
        title=_("Approve version %(version)s of %(merchant)s") % _named(row),
        says=[_proposed(row), _("It counts at once, for conflicts that open from then on.")],
        button=_("Approve"),
        back=cells.page_of(row),
        seen={"seen": policy_pages.shown_version(request, row.merchant_id)},
        table=policy_words.table(present, wanted)
        + policy_trials.shown(row.merchant, wanted, now=timezone.now()),
    )
    return deeds.ask(request, ConflictPolicy, asked, row)


def decline(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask why, or reject it; the proposer withdraws it. Raises PermissionDenied, Http404."""
    row = _found(request, pk)
    is_own = _is_own(request, row)
    rights.require(request, changing.PROPOSE if is_own else changing.APPROVE)
    form = WhyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = {"why": form.cleaned_data["why"]}
        return policy_pages.done(request, row.merchant_id, lambda: _decline(request, row, values))
    title = (
        _("Withdraw version %(version)s of %(merchant)s")
        if is_own
        else _("Reject version %(version)s of %(merchant)s")
    )
    asked = Asked(
        title=title % _named(row),
        says=[_proposed(row), _("The policy that counts now stays as it is.")],
        button=_("Withdraw") if is_own else _("Reject"),
        back=cells.page_of(row),
        form=form,
        grave=True,
    )
    return deeds.ask(request, ConflictPolicy, asked, row)


def _approve(request: HttpRequest, row: ConflictPolicy, values: dict[str, Any]) -> str:
    changing.approve(row.pk, **values, person=who.person(request), now=timezone.now())
    return _("Version %(version)s counts from now on.") % {"version": row.version}


def _decline(request: HttpRequest, row: ConflictPolicy, values: dict[str, Any]) -> str:
    policy = changing.decline(row.pk, **values, person=who.person(request), now=timezone.now())
    names = {"version": policy.version}
    if policy.status == PolicyStatus.WITHDRAWN:
        return _("Version %(version)s is withdrawn.") % names
    return _("Version %(version)s is rejected.") % names


def _found(request: HttpRequest, pk: int, right: str = "") -> ConflictPolicy:
    rows = ConflictPolicy.objects.select_related("merchant", "proposed_by")
    row = rows.filter(pk=pk).first()
    if right:
        rights.require(request, right)
    if row is None:
        raise Http404
    return row


def _is_own(request: HttpRequest, row: ConflictPolicy) -> bool:
    return row.proposed_by_id == request.user.pk


def _named(row: ConflictPolicy) -> dict[str, Any]:
    return policy_pages.named(row.merchant) | {"version": row.version}


def _proposed(row: ConflictPolicy) -> str:
    names = {"who": row.proposed_by.get_username(), "why": row.why}
    return text.visible(_("%(who)s proposes it: %(why)s") % names)
