"""The people of the console: Django's users and groups, in the look of the other screens."""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.access import second_factor
from config.console import audit_trail, cells, role_pages
from config.console.audited import Audited
from config.console.deeds import Deed
from orders.models import Membership
from payments.roles import ROLES

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, StackedInline

    _Screen = ModelAdmin[Any]
    _Inline = StackedInline[Membership, User]
    _FormSet = BaseInlineFormSet[Membership, User, ModelForm[Membership]]
    _Users = UserAdmin[User]
else:
    from unfold.admin import ModelAdmin as _Screen
    from unfold.admin import StackedInline as _Inline

    _FormSet = BaseInlineFormSet

    _Users = UserAdmin

_A_SUPERUSERS: Final = ("is_superuser", "groups", "user_permissions")

admin.site.unregister(User)
admin.site.unregister(Group)


class OneMerchant(_FormSet):
    """Whose member somebody is; whoever may do everything belongs to nobody."""

    def clean(self) -> None:
        """Raises ValidationError for a superuser: he would lock himself out."""
        super().clean()
        kept = [form for form in self.forms if form not in self.deleted_forms]
        if self.instance.is_superuser and any(form.cleaned_data for form in kept):
            raise ValidationError(
                _(
                    "A member of a merchant sees nothing but that merchant: make him no superuser, "
                    "or no member."
                )
            )


class MembershipInline(_Inline):
    """The merchant whose endpoints are all that this user sees; none for our own people."""

    model = Membership
    formset = OneMerchant
    hide_title = True
    verbose_name = verbose_name_plural = _("Member of a merchant")


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
    list_display = (
        "username",
        "shown_roles",
        "is_active",
        "is_superuser",
        "last_login",
    )
    change_form_before_template = "console/ahead.html"
    sortable_by = ()
    # Django's two boxes are wider than a phone, and beyond a screen reader.
    filter_horizontal = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """With their groups."""
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.prefetch_related("groups")

    def get_urls(self) -> list[URLPattern]:
        """And the page that gives roles."""
        view = self.admin_site.admin_view(role_pages.give)
        return [path("<int:pk>/roles/", view, name="auth_user_roles"), *super().get_urls()]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may; of a superuser's account, also its password, another superuser."""
        return _may_touch(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """As for a change, and nobody himself."""
        is_own = obj is not None and obj.pk == request.user.pk
        may: bool = super().has_delete_permission(request, obj)
        return may and not is_own and _may_touch(request, obj)

    def user_change_password(
        self,
        request: HttpRequest,
        id: str,  # noqa: A002 - Django's own name
        form_url: str = "",
    ) -> HttpResponse:
        """Another's password: the change is one transaction with its entry."""
        with transaction.atomic():
            return super().user_change_password(request, id, form_url)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """What would give more than roles do is a superuser's; roles have a page of their own."""
        shown = self.readonly_fields
        if request.user.is_superuser:
            return shown
        own = ("is_active", "is_staff") if obj is not None and obj.pk == request.user.pk else ()
        return (*shown, *_A_SUPERUSERS, *own)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """With the way to his roles, and what the audit says of him."""
        user = kwargs.get("obj") or context.get("original")
        if user is not None and not user.is_superuser and self.has_change_permission(request, user):
            context["deeds"] = [Deed(gettext("Give or take roles"), role_pages.address(user))]
        if user is not None:
            context["sections"] = audit_trail.section(request, user)
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=_("roles and groups"))
    def shown_roles(self, row: User) -> str:
        """His groups; those that are roles have the names of the page of roles."""
        return cells.words(", ".join(sorted(group.name for group in row.groups.all())))

    @admin.display(description=_("Second factor"))
    def shown_second_factor(self, user: User) -> SafeString | str:
        """Whether he has one, and where it is taken away."""
        if second_factor.of(user) is None:
            return str(_("None"))
        link = reverse("access:reset", args=[user.pk])
        return format_html('<a class="c-link" href="{}">{}</a>', link, _("Set up: reset it"))

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:  # noqa: ARG002
        """His merchant, once there is somebody."""
        return [] if obj is None else [MembershipInline]

    def state(self, row: User) -> dict[str, Any]:
        """What he may; neither his password nor his address."""
        return {
            "username": row.username,
            "active": row.is_active,
            "staff": row.is_staff,
            "superuser": row.is_superuser,
            "merchant": Membership.objects.filter(user=row)
            .values_list("merchant__code", flat=True)
            .first(),
            "groups": sorted(row.groups.values_list("name", flat=True)),
            "permissions": sorted(row.user_permissions.values_list("codename", flat=True)),
        }


@admin.register(Group)
class GroupScreen(Audited, GroupAdmin, _Screen):
    """What those who do the same work may see."""

    filter_horizontal = ()

    def get_urls(self) -> list[URLPattern]:
        """And the page that says what each role may do."""
        view = self.admin_site.admin_view(role_pages.explain)
        return [path("roles/", view, name="auth_group_roles"), *super().get_urls()]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody a role, which every `migrate` sets, and nobody a group that he is in."""
        return _is_foreign(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """As for a change."""
        return _is_foreign(request, obj) and super().has_delete_permission(request, obj)

    def state(self, row: Group) -> dict[str, Any]:
        """What its members may."""
        return {
            "name": row.name,
            "permissions": sorted(row.permissions.values_list("codename", flat=True)),
        }


def _may_touch(request: HttpRequest, user: User | None) -> bool:
    return user is None or not user.is_superuser or bool(request.user.is_superuser)


def _is_foreign(request: HttpRequest, group: Group | None) -> bool:
    if group is None:
        return True
    return group.name not in ROLES and not request.user.groups.filter(pk=group.pk).exists()
