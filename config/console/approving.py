"""Approve, reject or withdraw a proposal: the pages that ask, and what comes of the answers."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, rights, text, who
from config.console.deeds import Asked, Deed
from payments.conflicts import checking, four_eyes, waiting
from payments.conflicts.seen import Seen
from payments.models import WHY_LENGTH_MAX, Proposal, ProposalStatus
from payments.refunds.access import clients


class WhyForm(forms.Form):
    """The reason, for whoever reads the history."""

    why = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=WHY_LENGTH_MAX,
        widget=forms.TextInput(attrs=deeds.LOOK),
    )


class _Answer(NamedTuple):
    right: str
    is_proposers: bool
    name: Promise
    says: Promise
    done: Promise
    work: Callable[..., object]
    grave: bool = False


ANSWERS: Final = {
    "approve": _Answer(
        four_eyes.APPROVE,
        False,
        gettext_lazy("Approve"),
        gettext_lazy(
            "Exactly this is carried out at once. Nothing that it rests on has moved since it was "
            "proposed; if anything moves before you approve, nothing is done."
        ),
        gettext_lazy("Approved and carried out: %(what)s"),
        four_eyes.approve,
    ),
    "reject": _Answer(
        four_eyes.APPROVE,
        False,
        gettext_lazy("Reject"),
        gettext_lazy("Nothing moves; the conflict is open again, for anybody to decide."),
        gettext_lazy("Rejected: the conflict is open again."),
        four_eyes.reject,
        grave=True,
    ),
    "withdraw": _Answer(
        checking.RESOLVE,
        True,
        gettext_lazy("Withdraw"),
        gettext_lazy("Nothing moves; the conflict is open again, for anybody to decide."),
        gettext_lazy("Withdrawn: the conflict is open again."),
        four_eyes.withdraw,
        grave=True,
    ),
}


def links(request: HttpRequest, row: Proposal) -> list[Deed]:
    """What this person may do about a proposal now."""
    is_own = row.proposed_by_id == request.user.pk
    return [
        Deed(str(answer.name), _address(row, verb), answer.grave)
        for verb, answer in ANSWERS.items()
        if row.status == ProposalStatus.PENDING
        and answer.is_proposers == is_own
        and request.user.has_perm(answer.right)
        and not (verb == "approve" and _is_void(row))
    ]


def why_not(request: HttpRequest, row: Proposal) -> str:
    """Why this person cannot approve it, in words; empty if he can, or if it is over."""
    if row.status != ProposalStatus.PENDING:
        return ""
    if row.expires_at <= timezone.now():
        return _("It can be approved no more: its time is over. Decide the conflict anew.")
    if _is_void(row):
        return _(
            "It can be approved no more: what it rests on has moved, as marked below. "
            "Reject or withdraw it, and decide the conflict anew."
        )
    return must_be_another(request, row.proposed_by_id, four_eyes.APPROVE)


def must_be_another(request: HttpRequest, proposed_by_id: int, right: str) -> str:
    """Why this person is not the second one, in words; empty if he can be."""
    if proposed_by_id == request.user.pk:
        return _("You proposed it: another person must approve it.")
    if not request.user.has_perm(right):
        return _("To approve or reject it you need the role approver.")
    return ""


def view(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404."""
    answer = ANSWERS[verb]
    row = Proposal.objects.select_related(*waiting.RELATED, "proposed_by").filter(pk=pk).first()
    if row is None:
        raise Http404
    rights.require(request, answer.right)
    form = None if verb == "approve" else WhyForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        values: dict[str, Any] = {} if form is None else {"why": form.cleaned_data["why"]}
        if form is None:
            values = {"digest": request.POST.get("digest", ""), "client_for": clients(timezone.now)}
        return deeds.done(request, lambda: _do(request, row, answer, values), cells.page_of(row))
    hindrance = why_not(request, row) if verb == "approve" else ""
    if hindrance:
        messages.warning(request, hindrance)
        return HttpResponseRedirect(cells.page_of(row))
    return deeds.ask(request, Proposal, _asked(row, answer, form), row)


def state(row: Proposal) -> Seen | None:
    """What it rests on, as it is now; None if it waits no more."""
    return waiting.present([row]).get(row.pk)


def _asked(row: Proposal, answer: _Answer, form: forms.Form | None) -> Asked:
    names = {"answer": answer.name, "what": row.resolution, "conflict": row.conflict_id}
    proposer = {"who": row.proposed_by.get_username(), "why": row.why}
    return Asked(
        title=_("%(answer)s: %(what)s of conflict %(conflict)s") % names,
        says=[
            _told(row),
            text.visible(_("%(who)s proposes it: %(why)s") % proposer),
            str(answer.says),
        ],
        button=str(answer.name),
        back=cells.page_of(row),
        form=form,
        seen={"digest": row.digest},
        grave=answer.grave,
    )


def _do(request: HttpRequest, row: Proposal, answer: _Answer, values: dict[str, Any]) -> str:
    person, told = who.person(request), _told(row)
    deeds.refusing(lambda: answer.work(row.pk, **values, person=person, now=timezone.now()))
    return str(answer.done) % {"what": told}


def _told(row: Proposal) -> str:
    return text.visible(waiting.told([row])[row.pk])


def _is_void(row: Proposal) -> bool:
    now = state(row)
    is_over = row.expires_at <= timezone.now()
    return is_over or (now is not None and bool(Seen(row.seen).changes(now)))


def _address(row: Proposal, verb: str) -> str:
    return reverse(f"admin:payments_proposal_{verb}", args=[row.pk])
