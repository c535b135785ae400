"""The people of the console: Django's users and groups, in the look of the other screens."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.access import second_factor
from config.console import audit_trail
from config.console.audited import Audited

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    _Screen = ModelAdmin[Any]
    _Users = UserAdmin[User]
else:
    from unfold.admin import ModelAdmin as _Screen

    _Users = UserAdmin

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserScreen(Audited, _Users, _Screen):
    """Who may enter the console."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    change_form_after_template = "console/sections.html"
    readonly_fields = ("shown_second_factor",)
    fieldsets = (
        *(UserAdmin.fieldsets or ()),
        (_("Second factor"), {"fields": ("shown_second_factor",)}),
    )

    @admin.display(description=_("Second factor"))
    def shown_second_factor(self, user: User) -> SafeString | str:
        """Whether he has one, and where it is taken away."""
        if second_factor.of(user) is None:
            return str(_("None"))
        link = reverse("access:reset", args=[user.pk])
        return format_html('<a class="c-link" href="{}">{}</a>', link, _("Set up: reset it"))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page, with what the audit says of him."""
        if kwargs.get("obj") is not None:
            context |= {"sections": audit_trail.section(request, kwargs["obj"])}
        return super().render_change_form(request, context, *args, **kwargs)

    def state(self, row: User) -> dict[str, Any]:
        """What he may; neither his password nor his address."""
        return {
            "username": row.username,
            "active": row.is_active,
            "staff": row.is_staff,
            "superuser": row.is_superuser,
            "groups": sorted(row.groups.values_list("name", flat=True)),
            "permissions": sorted(row.user_permissions.values_list("codename", flat=True)),
        }


@admin.register(Group)
class GroupScreen(Audited, GroupAdmin, _Screen):
    """What those who do the same work may see."""

    def state(self, row: Group) -> dict[str, Any]:
        """What its members may."""
        return {
            "name": row.name,
            "permissions": sorted(row.permissions.values_list("codename", flat=True)),
        }
