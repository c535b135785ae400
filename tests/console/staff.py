"""People of the console with some rights and no others."""

from django.contrib.auth.models import Permission, User
from django.test import Client


def staff(*permissions: str, name: str = "clerk") -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client
