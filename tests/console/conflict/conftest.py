import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from payments.models import ProviderAccount
from tests.payments.conflicts import deciding


def someone(name: str, *roles: str) -> Client:
    """A browser in which a person with these roles is logged in."""
    user = User.objects.create_user(name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=roles))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def account(db: None) -> ProviderAccount:
    """An account that can send refunds, of a merchant for whom one person decides."""
    return deciding.sending_account()


@pytest.fixture
def alice(db: None) -> Client:
    return someone("alice", "reviewer")
