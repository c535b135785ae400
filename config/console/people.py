"""The people of the console: Django's users and groups, in the look of the other screens."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

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
class UserScreen(_Users, _Screen):
    """Who may enter the console."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupScreen(GroupAdmin, _Screen):
    """What those who do the same work may see."""
