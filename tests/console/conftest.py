import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.console.rooms import Rows, furnish


@pytest.fixture
def superuser(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def rows(db: None) -> Rows:
    """One row on every screen."""
    return furnish()
