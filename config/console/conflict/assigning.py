"""Take a conflict on, give it to somebody, or lay it back: one guarded move of the domain."""

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, rights, who
from config.console.conflict import numbers
from config.console.deeds import Asked
from payments.conflicts import assigning, checking
from payments.conflicts.assigning import Assignment
from payments.conflicts.refusals import Refused
from payments.models import Conflict


class AssignForm(forms.Form):
    """Whom to give it to."""

    to = forms.ChoiceField(
        label=gettext_lazy("Who"), required=False, widget=forms.Select(attrs=deeds.LOOK)
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        people = [(str(user.pk), user.get_username()) for user in assigning.who_decide()]
        field = self.fields["to"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", _("Nobody")), *people]


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask whom, or do it. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, checking.RESOLVE)
    row = Conflict.objects.select_related("assignee").filter(pk=pk).first()
    if row is None:
        raise Http404
    form = AssignForm(request.POST or None)
    if request.method == "POST":
        if not form.is_valid():
            raise BadRequest
        to, seen = (_number(request, name) for name in ("to", "seen"))
        _assign(request, row, Assignment(to=to, seen=seen))
        return HttpResponseRedirect(_back(request, row))
    holder = row.assignee.get_username() if row.assignee else _("nobody")
    asked = Asked(
        title=_("Give this conflict to somebody"),
        says=[_("It is with %(holder)s now.") % {"holder": holder}],
        button=_("Give"),
        back=cells.page_of(row),
        form=form,
        seen={"seen": row.assignee_id or ""},
    )
    return deeds.ask(request, Conflict, asked, row)


def link_to(conflict_id: int) -> str:
    """Where it is done."""
    return reverse("admin:payments_conflict_assign", args=[conflict_id])


def _assign(request: HttpRequest, row: Conflict, wanted: Assignment) -> None:
    try:
        moved = assigning.assign(row.pk, wanted, person=who.person(request), now=timezone.now())
    except Refused as refusal:
        messages.warning(request, _("Nothing was changed. %(why)s") % {"why": refusal})
    except OperationalError:
        messages.error(request, deeds.BUSY)
    else:
        says = _("Given.") if moved else _("It was so already.")
        messages.success(request, says)


def _back(request: HttpRequest, row: Conflict) -> str:
    """The page that it was asked from, if it is one of ours; else the conflict's."""
    asked = request.POST.get("back", "")
    is_ours = url_has_allowed_host_and_scheme(asked, allowed_hosts=None) and asked.startswith("/")
    return asked if is_ours else cells.page_of(row)


def _number(request: HttpRequest, name: str) -> int | None:
    value = request.POST.get(name, "")
    return numbers.row_id(value) if value else None
