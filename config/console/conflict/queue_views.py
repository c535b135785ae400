"""Views of the queue: a few that everybody has, and those that a user has named for himself."""

from decimal import Decimal
from typing import Any, Final, NamedTuple

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import deeds, rights, who
from config.console.conflict import queue_filters
from config.console.deeds import Asked
from config.console.screens import ROWS_COUNTED_MAX
from config.models import SavedView
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict, ConflictStatus

#: From what amount on a conflict is large, in major units of its currency.
LARGE_FROM: Final = 1000
#: How many views one user can name.
VIEWS_MAX: Final = 20
VIEW: Final = "payments.view_conflict"


class View(NamedTuple):
    """A view in the bar above the list: where it leads, and how many conflicts are in it."""

    name: str
    link: str
    is_current: bool
    number: str = ""
    forget: str = ""


class _Shared(NamedTuple):
    key: str
    name: Any
    query: str


_SHARED: Final = (
    _Shared("all", gettext_lazy("To decide"), "decision=undecided"),
    _Shared("mine", gettext_lazy("Mine"), "decision=undecided&assignee=me"),
    _Shared("free", gettext_lazy("Unassigned"), "decision=undecided&assignee=nobody"),
    _Shared("late", gettext_lazy("Overdue"), "decision=undecided&overdue=yes"),
    _Shared("large", gettext_lazy("Large"), f"decision=undecided&amount_from={LARGE_FROM}"),
    _Shared("proposed", gettext_lazy("Proposed"), "status__exact=PROPOSED"),
)


def bar(request: HttpRequest) -> list[View]:
    """The shared views with how many are in each, counted in one question; then one's own.

    Of more than lists count only the most urgent are looked through, and the numbers say so.
    """
    numbers = _numbers(request)
    beyond = "+" if numbers["all"] >= ROWS_COUNTED_MAX else ""
    here = _normal(request.GET)
    views = [
        View(
            str(shared.name),
            f"{_list()}?{shared.query}",
            (here or "decision=undecided") == _normal(QueryDict(shared.query)),
            f"{numbers[shared.key]}{beyond}",
        )
        for shared in _SHARED
    ]
    own = SavedView.objects.filter(user=request.user.pk).order_by("name")[:VIEWS_MAX]
    return views + [
        View(
            row.name,
            f"{_list()}?{row.query}",
            here == row.query,
            forget=reverse("admin:payments_conflict_forget_view", args=[row.pk]),
        )
        for row in own
    ]


def save_link(request: HttpRequest) -> str:
    """Where what is filtered now gets a name; empty where nothing is filtered."""
    here = _normal(request.GET)
    return f"{reverse('admin:payments_conflict_save_view')}?{here}" if here else ""


class NameForm(forms.Form):
    """What to call it."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=SavedView.NAME_LENGTH_MAX,
        widget=forms.TextInput(attrs=deeds.LOOK),
    )


def save(request: HttpRequest) -> HttpResponse:
    """Ask for a name, or keep it; the same name again is the same view. Raises PermissionDenied."""
    rights.require(request, VIEW)
    query = _normal(request.GET)[: SavedView.QUERY_LENGTH_MAX]
    form = NameForm(request.POST or None)
    mine = SavedView.objects.filter(user=request.user.pk)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        if mine.exclude(name=name).count() >= VIEWS_MAX:
            messages.warning(request, _("You have as many views as you can have: forget one."))
        else:
            SavedView.objects.update_or_create(
                user=who.user(request), name=name, defaults={"query": query}
            )
        return HttpResponseRedirect(f"{_list()}?{query}")
    asked = Asked(
        title=_("Keep this view"),
        says=[_("What is filtered now gets a name, for you alone, and stands above the list.")],
        button=_("Keep"),
        back=f"{_list()}?{query}",
        form=form,
    )
    return deeds.ask(request, Conflict, asked)


def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or remove one of one's own views. Raises PermissionDenied, Http404."""
    rights.require(request, VIEW)
    row = SavedView.objects.filter(user=request.user.pk, pk=pk).first()
    if row is None:
        raise Http404
    if request.method == "POST":
        row.delete()
        return HttpResponseRedirect(_list())
    asked = Asked(
        title=_("Forget the view %(name)s") % {"name": row.name},
        says=[_("Only the name goes; no conflict is touched.")],
        button=_("Forget"),
        back=f"{_list()}?{row.query}",
    )
    return deeds.ask(request, Conflict, asked)


def _numbers(request: HttpRequest) -> dict[str, int]:
    large = queue_filters.between(Decimal(LARGE_FROM), None)
    urgent = Conflict.objects.filter(status__in=UNDECIDED).order_by("due_at")[:ROWS_COUNTED_MAX]
    return urgent.aggregate(
        all=Count("pk"),
        mine=Count("pk", filter=Q(assignee=request.user.pk)),
        free=Count("pk", filter=Q(assignee=None)),
        late=Count("pk", filter=queue_filters.is_overdue()),
        large=Count("pk", filter=large),
        proposed=Count("pk", filter=Q(status=ConflictStatus.PROPOSED)),
    )


def _normal(sent: QueryDict) -> str:
    """What is asked for, without the page of it, in an order that can be compared."""
    kept = sorted(
        (name, value)
        for name, values in sent.lists()
        for value in values
        if value and name not in ("p", "e")
    )
    query = QueryDict(mutable=True)
    for name, value in kept:
        query.appendlist(name, value)
    return query.urlencode()


def _list() -> str:
    return reverse("admin:payments_conflict_changelist")
