"""People of the console with some rights and no others."""

from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from payments.roles import ROLES

#: The roles of those who work here; a merchant's own people are another matter.
INSIDERS = [role for role in ROLES if role != "merchant"]


def staff(*permissions: str, name: str = "clerk") -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def member(*roles: str, name: str = "clerk") -> Client:
    """Somebody with these roles, logged in."""
    user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    user.groups.add(*Group.objects.filter(name__in=roles))
    client = Client()
    client.force_login(user)
    return client
