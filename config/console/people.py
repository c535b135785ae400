"""The people of the console: Django's users and groups, in the look of the other screens."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.forms import ModelForm
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.console.audited import Audited
from orders.models import Membership

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

    def state(self, row: Group) -> dict[str, Any]:
        """What its members may."""
        return {
            "name": row.name,
            "permissions": sorted(row.permissions.values_list("codename", flat=True)),
        }
