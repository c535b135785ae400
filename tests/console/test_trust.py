"""How much an account's callbacks prove is said on its page, plainly."""

import pytest
from django.test import Client

from tests.console.rooms import page_of
from tests.factories import ProviderAccountFactory

pytestmark = pytest.mark.django_db

BY_ITSELF = "A verified callback moves money by itself."
CONFIRMED = "Payments move nothing until the provider"
NOTHING = "Nothing vouches for what a callback says"


def page(superuser: Client, provider: str, confirm: bool | None) -> str:
    account = ProviderAccountFactory.create(provider=provider, confirm=confirm)
    return superuser.get(page_of(account)).content.decode()


@pytest.mark.parametrize("provider", ["xendit", "flutterwave_v3", "mollie_classic"])
@pytest.mark.parametrize("confirm", [None, True, False])
def test_a_hint_is_called_one_whatever_the_account_says(
    superuser: Client, provider: str, confirm: bool | None
) -> None:
    shown = page(superuser, provider, confirm)
    assert NOTHING in shown
    assert CONFIRMED in shown
    assert BY_ITSELF not in shown


@pytest.mark.parametrize(
    ("provider", "confirm", "says"),
    [
        ("stripe", None, BY_ITSELF),
        ("stripe", True, CONFIRMED),
        ("midtrans", None, BY_ITSELF),
        ("paypal", None, CONFIRMED),
        ("paypal", False, BY_ITSELF),
    ],
)
def test_what_the_account_decides_is_shown(
    superuser: Client, provider: str, confirm: bool | None, says: str
) -> None:
    shown = page(superuser, provider, confirm)
    assert says in shown
    assert NOTHING not in shown


def test_what_a_signature_leaves_out_is_shown(superuser: Client) -> None:
    assert "Not signed: transaction_status" in page(superuser, "midtrans", None)
