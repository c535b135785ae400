"""Decide a conflict, or propose to: the page that spells it out, and what comes of the answer.

The page brings back what it was shown of. The domain compares that under its locks; if anything
has moved, nothing is done, and the page comes again with what moved.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import cells, deeds, ended, related, rights, text, who
from config.console.conflict import approvers, changes, matching, resolutions
from config.console.conflict.forms import DecisionForm
from config.console.deeds import Asked
from payments.conflicts import checking, four_eyes, resolve
from payments.conflicts import seen as seeing
from payments.conflicts.checking import Wanted
from payments.conflicts.fitting import why_not
from payments.conflicts.options import Option, option
from payments.conflicts.refusals import Moved, NeedsTwoPeople, Refused
from payments.conflicts.seen import Change, Held, NoSuchConflict, NotSeen
from payments.models import Conflict, Resolution
from payments.refunds.access import clients


class _Case(NamedTuple):
    """What is asked about: the conflict as it is now, and what the resolution would do."""

    held: Held
    how: Resolution
    choice: Option
    limit: int | None

    @property
    def takes_two(self) -> bool:
        return self.limit is not None


def view(request: HttpRequest, pk: int, how: str) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, checking.RESOLVE)
    resolution = _resolution(how)
    order_no = _order_no(request, resolution)
    held = _look(pk, order_no)
    if request.method == "POST":
        return _answer(request, held, resolution)
    if resolution is Resolution.MATCH and not order_no:
        return matching.view(request, held)
    hindrance = why_not(resolution, held.facts)
    if hindrance:
        messages.warning(request, hindrance)
        return HttpResponseRedirect(cells.page_of(held.conflict))
    return _page(request, _case(held, resolution))


def _answer(request: HttpRequest, held: Held, how: Resolution) -> HttpResponse:
    hindrance = why_not(how, held.facts)
    # Somebody has decided it, or it fits no more: the domain says who and what, and why not.
    case = None if hindrance else _case(held, how)
    takes_two = request.POST.get("way") == "propose"
    form = DecisionForm(request.POST, how=how, takes_two=takes_two, money=held.money)
    if case is not None and not form.is_valid():
        return _page(request, case, form=form, token=request.POST.get("seen", ""))
    try:
        said = _decide(request, held, how, takes_two=takes_two)
    except Moved as moved:
        return _overtaken(request, held, how, moved.changes)
    except NeedsTwoPeople as refusal:
        messages.warning(request, str(refusal))
        return HttpResponseRedirect(request.get_full_path())
    except Refused as refusal:
        messages.warning(
            request, _("Nothing was changed. %(why)s") % {"why": text.visible(str(refusal))}
        )
    except OperationalError:
        messages.error(request, deeds.BUSY)
    else:
        messages.success(request, said)
    return HttpResponseRedirect(cells.page_of(held.conflict))


def _decide(request: HttpRequest, held: Held, how: Resolution, *, takes_two: bool) -> str:
    """Raises Refused, BadRequest."""
    try:
        seen = seeing.read(request.POST.get("seen", ""))
    except NotSeen as error:
        raise BadRequest from error
    wanted = Wanted(how=how, why=request.POST.get("why", ""), order_no=held.target_no)
    person, now, pk = who.person(request), timezone.now(), held.conflict.pk
    if takes_two:
        four_eyes.propose(pk, wanted, seen=seen, person=person, now=now)
        return _("Proposed. Another person has to approve it.")
    done = resolve.resolve(
        pk, wanted, seen=seen, person=person, client_for=clients(timezone.now), now=now
    )
    return _("Decided: %(resolution)s.") % {"resolution": ended.how(done.conflict)}


def _page(
    request: HttpRequest,
    case: _Case,
    *,
    form: DecisionForm | None = None,
    token: str = "",
    changed: Sequence[Change] = (),
) -> HttpResponse:
    held, how = case.held, case.how
    name = resolutions.name_of(how, takes_two=case.takes_two)
    says = [case.choice.consequence]
    if case.limit is not None:
        says.append(_two_people(request, case))
    if changed:
        says.insert(0, _("Nothing was done: what you saw has moved. Read it again, and decide."))
    asked = Asked(
        title=name,
        says=says,
        button=name,
        back=cells.page_of(held.conflict),
        form=form or DecisionForm(how=how, takes_two=case.takes_two, money=held.money),
        seen={
            "seen": token or held.seen.token(),
            "order_no": held.target_no,
            "way": "propose" if case.takes_two else "decide",
        },
        grave=how in resolutions.GRAVE,
        table=changes.table(changed, held) if changed else "",
    )
    answer = deeds.ask(request, Conflict, asked, held.conflict)
    answer.status_code = changes.OVERTAKEN if changed else answer.status_code
    return answer


def _overtaken(
    request: HttpRequest, held: Held, how: Resolution, changed: Sequence[Change]
) -> HttpResponse:
    """What moved; and the same decision to be taken anew, if it still fits."""
    if not why_not(how, held.facts):
        return _page(request, _case(held, how), changed=changed)
    says = _("What you wanted to do fits no more: %(why)s") % {"why": why_not(how, held.facts)}
    title = _("Nothing was done: what you saw has moved")
    return changes.overtaken(request, held, changed, title=title, says=says)


def _case(held: Held, how: Resolution) -> _Case:
    choice = option(how, held.facts)
    return _Case(held, how, choice, checking.alone_up_to(held, choice))


def _two_people(request: HttpRequest, case: _Case) -> str:
    choice, limit = case.choice, case.limit or 0
    who_may = approvers.names(but=who.person(request).user_id)
    if not limit:
        return _(
            "Two people decide about any amount in %(currency)s here: you propose, and another "
            "person approves. Who may: %(names)s."
        ) % {"currency": choice.currency, "names": who_may}
    return _(
        "%(amount)s are above %(limit)s, up to which one person decides alone: you propose, and "
        "another person approves. Who may: %(names)s."
    ) % {
        "amount": related.money(choice.amount_minor, choice.currency),
        "limit": related.money(limit, choice.currency),
        "names": who_may,
    }


def _resolution(how: str) -> Resolution:
    if how.upper() not in resolutions.NAMES or how.upper() == Resolution.ASK_PROVIDER:
        raise Http404
    return Resolution(how.upper())


def _order_no(request: HttpRequest, how: Resolution) -> str:
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get("order_no", "").strip() if how is Resolution.MATCH else ""


def _look(pk: int, order_no: str) -> Held:
    try:
        return seeing.look(pk, target_no=order_no)
    except NoSuchConflict as error:
        raise Http404 from error
