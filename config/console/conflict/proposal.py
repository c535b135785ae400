"""A decision that waits for a second person: as the page shows it, and how it ends."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, related, rights, text, who
from config.console.conflict import approvers, changes, resolutions
from config.console.conflict.forms import WhyForm
from config.console.deeds import Asked, Deed
from payments.conflicts import checking, four_eyes, waiting
from payments.conflicts import seen as seeing
from payments.conflicts.refusals import Moved, Refused
from payments.conflicts.seen import Change
from payments.models import Conflict, Proposal, ProposalStatus, Resolution
from payments.refunds.access import clients

_APPROVE: Final = "approve"


class _Verb(NamedTuple):
    name: Any
    says: Any
    done: Any
    right: str
    grave: bool = False


_VERBS: Final[Mapping[str, _Verb]] = {
    _APPROVE: _Verb(
        gettext_lazy("Approve"),
        gettext_lazy("Exactly this is carried out now, under your name and %(who)s's."),
        gettext_lazy("Approved and carried out."),
        four_eyes.APPROVE,
    ),
    "reject": _Verb(
        gettext_lazy("Reject"),
        gettext_lazy("Nothing of it is carried out; the conflict is open again."),
        gettext_lazy("Rejected: the conflict is open again."),
        four_eyes.APPROVE,
        grave=True,
    ),
    "withdraw": _Verb(
        gettext_lazy("Withdraw"),
        gettext_lazy("You take it back; the conflict is open again."),
        gettext_lazy("Withdrawn: the conflict is open again."),
        checking.RESOLVE,
    ),
}


class Standing(NamedTuple):
    """A proposal that waits, as the page of its conflict shows it."""

    name: str
    consequence: str
    lines: list[tuple[str, str]]
    deeds: list[Deed]


def standing(request: HttpRequest, conflict: Conflict) -> Standing | None:
    """What waits for a second person about this conflict, and what this user may do about it."""
    pending = Proposal.objects.select_related("proposed_by").filter(
        conflict=conflict, status=ProposalStatus.PENDING
    )
    row = pending.first()
    if row is None:
        return None
    lines = [
        (_("Amount"), related.money(row.amount_minor, row.currency)),
        (_("Proposed by"), _by(row)),
        (_("Why"), cells.words(row.why)),
        (_("Expires"), cells.moment(row.expires_at)),
        (_("May approve"), approvers.names(but=row.proposed_by_id)),
    ]
    name = str(resolutions.NAMES[row.resolution])
    return Standing(name, text.visible(_told(row)), lines, _deeds(request, row))


def view(request: HttpRequest, pk: int, proposal_id: int, verb: str) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404."""
    known = Proposal.objects.select_related("proposed_by", "conflict")
    row = known.filter(pk=proposal_id, conflict=pk).first()
    if row is None or verb not in _VERBS:
        raise Http404
    rights.require(request, _VERBS[verb].right)
    form = None if verb == _APPROVE else WhyForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        why = "" if form is None else form.cleaned_data["why"]
        return _answer(request, row, verb, why)
    return deeds.ask(request, Conflict, _asked(row, verb, form), row.conflict)


def _answer(request: HttpRequest, row: Proposal, verb: str, why: str) -> HttpResponse:
    try:
        _ACTS[verb](request, row, why)
    except Moved as moved:
        return _overtaken(request, row, moved.changes)
    except Refused as refusal:
        messages.warning(
            request, _("Nothing was changed. %(why)s") % {"why": text.visible(str(refusal))}
        )
    except OperationalError:
        messages.error(request, deeds.BUSY)
    else:
        messages.success(request, str(_VERBS[verb].done))
    return HttpResponseRedirect(cells.page_of(row.conflict))


def _approve(request: HttpRequest, row: Proposal, _why: str) -> None:
    four_eyes.approve(
        row.pk,
        digest=request.POST.get("digest", ""),
        person=who.person(request),
        client_for=clients(timezone.now),
        now=timezone.now(),
    )


def _reject(request: HttpRequest, row: Proposal, why: str) -> None:
    four_eyes.reject(row.pk, why=why, person=who.person(request), now=timezone.now())


def _withdraw(request: HttpRequest, row: Proposal, why: str) -> None:
    four_eyes.withdraw(row.pk, why=why, person=who.person(request), now=timezone.now())


_ACTS: Final[Mapping[str, Callable[[HttpRequest, Proposal, str], None]]] = {
    _APPROVE: _approve,
    "reject": _reject,
    "withdraw": _withdraw,
}


def _asked(row: Proposal, verb: str, form: WhyForm | None) -> Asked:
    chosen = _VERBS[verb]
    proposer = row.proposed_by.get_username()
    return Asked(
        title=f"{chosen.name}: {resolutions.NAMES[Resolution(row.resolution)]}",
        says=[
            _told(row),
            _("Proposed by %(who)s: %(why)s") % {"who": _by(row), "why": cells.words(row.why)},
            str(chosen.says) % {"who": proposer},
        ],
        button=str(chosen.name),
        back=cells.page_of(row.conflict),
        form=form,
        seen={"digest": row.digest},
        grave=chosen.grave,
    )


def _overtaken(request: HttpRequest, row: Proposal, moved: tuple[Change, ...]) -> HttpResponse:
    """The state is not the one that it was proposed in: what is different."""
    held = seeing.look(row.conflict_id, target_no=row.order_no)
    return changes.overtaken(
        request,
        held,
        moved,
        title=_("Nothing was done: the state has moved since it was proposed"),
        says=_("Reject the proposal, or have it withdrawn, and decide on what is true now."),
    )


def _deeds(request: HttpRequest, row: Proposal) -> list[Deed]:
    is_own = row.proposed_by_id == request.user.pk
    verbs = ("withdraw",) if is_own else (_APPROVE, "reject")
    return [
        Deed(
            str(_VERBS[verb].name),
            reverse("admin:payments_conflict_proposal", args=[row.conflict_id, row.pk, verb]),
            _VERBS[verb].grave,
        )
        for verb in verbs
        if request.user.has_perm(_VERBS[verb].right)
    ]


def _told(row: Proposal) -> str:
    return waiting.told([row])[row.pk]


def _by(row: Proposal) -> str:
    at = cells.moment(row.proposed_at)
    return _("%(who)s, %(at)s") % {"who": row.proposed_by.get_username(), "at": at}
