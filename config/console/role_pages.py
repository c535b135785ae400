"""The page that says what each role may do, and the page that gives somebody his roles."""

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, deeds, rights, role_words, text, who
from config.console.approving import WhyForm
from config.console.cells import Section
from config.console.deeds import Asked
from payments import giving_roles
from payments.roles import ROLES

SUMMARIES: Final[dict[str, Promise]] = {
    "viewer": gettext_lazy("looks at money and conflicts, and changes nothing"),
    "reviewer": gettext_lazy("decides conflicts, or proposes what needs two people"),
    "approver": gettext_lazy("approves what others propose"),
    "operator": gettext_lazy("keeps the machinery running"),
    "merchant": gettext_lazy("for a merchant's own people: sees what goes to its endpoints"),
    "admin": gettext_lazy("gives roles and proposes policies"),
}


class RolesForm(WhyForm):
    """Which roles somebody has."""

    roles = forms.MultipleChoiceField(
        label=gettext_lazy("Roles"), required=False, widget=forms.CheckboxSelectMultiple
    )
    field_order = ("roles", "why")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(role, f"{role}: {SUMMARIES[role]}") for role in ROLES]
        self.fields["roles"].choices = named  # type: ignore[attr-defined]


def explain(request: HttpRequest) -> HttpResponse:
    """What each role may do, for everybody who may enter."""
    own = sorted(request.user.groups.values_list("name", flat=True))
    names = {"roles": text.visible(", ".join(own)) or _("none")}
    context = admin.site.each_context(request) | {
        "title": _("Roles"),
        "said": _("You have: %(roles)s. An admin gives and takes roles, on the page of a user.")
        % names,
        "sections": [Section(_("What each role may do"), role_words.table())],
    }
    request.current_app = admin.site.name
    return TemplateResponse(request, "console/roles.html", context)


def give(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask which roles, or give them. Raises PermissionDenied, Http404."""
    rights.require(request, giving_roles.GIVE)
    user = User.objects.filter(pk=pk).first()
    if user is None:
        raise Http404
    held = sorted(giving_roles.roles_of(user))
    form = RolesForm(request.POST or None, initial={"roles": held})
    if request.method == "POST" and form.is_valid():
        values = {
            "seen": [role for role in request.POST.get("seen", "").split(",") if role],
            "why": form.cleaned_data["why"],
        }
        wanted = form.cleaned_data["roles"]
        return deeds.done(
            request, lambda: _give(request, user, wanted, values), cells.page_of(user)
        )
    asked = Asked(
        title=_("Roles of %(name)s") % {"name": text.visible(user.username)},
        says=[
            _("Whoever has a role may enter the console. A change counts with the next click."),
            _("Nobody gives a role to himself, and the last admin stays."),
            _("The page Roles says of each right which roles have it."),
        ],
        button=_("Give these roles"),
        back=cells.page_of(user),
        form=form,
        seen={"seen": request.POST.get("seen", ",".join(held))},
    )
    return deeds.ask(request, User, asked, user)


def address(user: User) -> str:
    """Where somebody's roles are given."""
    return reverse("admin:auth_user_roles", args=[user.pk])


def _give(request: HttpRequest, user: User, wanted: list[str], values: dict[str, Any]) -> str:
    person = who.person(request)
    deeds.refusing(lambda: giving_roles.give(user.pk, wanted, **values, person=person))
    names = {"name": text.visible(user.username), "roles": ", ".join(sorted(wanted)) or _("none")}
    return _("%(name)s has these roles now: %(roles)s.") % names
