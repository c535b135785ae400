"""Take stored deliveries once more: the page that says what would change now, and the doing."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, deeds, finding, redriving, rights, text, who
from config.console.deeds import Asked
from payments import replay
from payments.models import Delivery
from payments.replayed import Replayed, Result, Said

#: How many at once: each is received and undone to see what it comes to.
REPLAYED_MAX: Final = 500
_DIGEST_LENGTH: Final = 16
_RESULTS: Final = {
    Result.CHANGES: gettext_lazy("changes"),
    Result.NOTHING: gettext_lazy("changes nothing"),
    Result.DIFFERS: gettext_lazy("would change something else by now"),
    Result.CANNOT: gettext_lazy("cannot be taken once more"),
}
_SUMS: Final = {
    Result.CHANGES: gettext_lazy("%(number)s changed something"),
    Result.NOTHING: gettext_lazy("%(number)s change nothing any more"),
    Result.DIFFERS: gettext_lazy("%(number)s would change something else by now"),
    Result.CANNOT: gettext_lazy("%(number)s cannot be taken once more"),
}
_COLOURS: Final = {Result.CHANGES: "warning", Result.DIFFERS: "danger", Result.CANNOT: "danger"}


def to_page(rows: QuerySet[Delivery]) -> HttpResponse:
    """Where it is shown what these would change; of too many those that came first."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[: REPLAYED_MAX + 1])
    named = ",".join(str(pk) for pk in ids[:REPLAYED_MAX])
    more = "&more=1" if len(ids) > REPLAYED_MAX else ""
    return HttpResponseRedirect(f"{reverse('admin:payments_delivery_replay')}?ids={named}{more}")


def view(request: HttpRequest) -> HttpResponse:
    """Say what would change, or let exactly that happen. Raises PermissionDenied, BadRequest."""
    rights.require(request, rights.REPLAY)
    firsts = _firsts(request)
    if not firsts:
        messages.warning(request, _("Choose deliveries in the list first."))
        return HttpResponseRedirect(_list())
    form = deeds.WhyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        seen = _seen(request.POST.get("seen", ""))
        why = form.cleaned_data["why"]
        return deeds.done(request, lambda: _replay(request, firsts, seen, why), _back(firsts))
    found = [replay.rehearse(first, now=timezone.now()) for first in firsts]
    return deeds.ask(request, Delivery, _asked(request, found, form))


def _firsts(request: HttpRequest) -> list[Delivery]:
    """The requests that the address names, of those that this user may see."""
    ids = redriving.ids_of(request.GET.get("ids", ""))
    may_see = finding.seen(request, Delivery)
    if may_see is None:
        return []
    return replay.requests(may_see.filter(pk__in=ids).values_list("pk", flat=True))


def _asked(request: HttpRequest, found: list[Replayed], form: deeds.WhyForm) -> Asked:
    changes = [each for each in found if each.result is Result.CHANGES]
    says = [
        _("Requests that would change something now: %(changing)s of %(all)s. Nothing is done yet.")
        % {"all": len(found), "changing": len(changes)},
        _(
            "Each was looked at by itself, as things stand now. The deliveries stay as they are; "
            "what is taken once more is written beside them."
        ),
    ]
    if "more" in request.GET:
        says.append(
            _(
                "There are more: these are the %(most)s that came first. "
                "For all of them there is manage.py replay."
            )
            % {"most": REPLAYED_MAX}
        )
    button = _("Take %(number)s once more") % {"number": len(changes)} if changes else ""
    return Asked(
        title=_("Take stored requests once more: %(number)s") % {"number": len(found)},
        says=says,
        button=button,
        back=_back([each.first for each in found]),
        form=form if changes else None,
        seen={"seen": ",".join(f"{each.first.pk}:{each.digest}" for each in changes)},
        table=_table(found),
    )


def _table(found: list[Replayed]) -> SafeString:
    columns = (_("Delivery"), _("Received"), _("It was"), _("It would be now"), _("What it does"))
    # What would change something is what has to be read.
    ordered = sorted(found, key=lambda each: (each.result is Result.NOTHING, each.first.pk))
    return cells.table(
        columns,
        [
            (
                cells.link(each.first, str(each.first.pk)),
                cells.moment(each.first.received_at),
                _verdicts(each.was),
                text.visible(each.why) or _verdicts(each.now),
                cells.two_lines(
                    cells.label(str(_RESULTS[each.result]), _coloured(each.result)),
                    ", ".join(each.told),
                ),
            )
            for each in ordered
        ],
    )


def _verdicts(said: Sequence[Said]) -> SafeString | str:
    """The verdict on one callback, or how many of a batch had which."""
    numbers = Counter(said)
    if len(said) == 1:
        return cells.two_lines(cells.label(said[0].outcome, colours.OUTCOME), said[0].reason)
    return ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())


def _coloured(result: Result) -> dict[str, str]:
    return {str(_RESULTS[result]): _COLOURS.get(result, "")}


def _replay(request: HttpRequest, firsts: list[Delivery], seen: dict[int, str], why: str) -> str:
    by = who.actor(request.user, request)
    done = [
        replay.carry_out(first, seen=seen[first.pk], by=by, why=why, now=timezone.now())
        for first in firsts
        if first.pk in seen
    ]
    counted = Counter(each.result for each in done)
    if not counted[Result.CHANGES]:
        raise deeds.Refused(_summed(counted) or _("there was nothing to change"))
    if len(done) > 1:
        with transaction.atomic():
            after = {"asked": len(done), **{str(result): n for result, n in counted.items()}}
            deeds.keep(request, "delivery.replays", "many", after=after, why=why)
    return _("Taken once more: %(sum)s.") % {"sum": _summed(counted)}


def _summed(counted: Counter[Result]) -> str:
    return ", ".join(
        str(_SUMS[each] % {"number": counted[each]}) for each in Result if counted[each]
    )


def _seen(written: str) -> dict[int, str]:
    """What the page was shown to come to, by the first delivery of each request."""
    pairs = [part.partition(":") for part in written.split(",") if part]
    ids = redriving.ids_of(",".join(pair[0] for pair in pairs))
    if not ids or any(len(pair[2]) != _DIGEST_LENGTH for pair in pairs):
        raise BadRequest
    return dict(zip(ids, (pair[2] for pair in pairs), strict=True))


def _back(firsts: list[Delivery]) -> str:
    return cells.page_of(firsts[0]) if len(firsts) == 1 else _list()


def _list() -> str:
    return reverse("admin:payments_delivery_changelist")
