"""Provider keys at rest: which key opens them, and what happens when none does."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from payments import vault
from payments.models import AccountKey, Delivery, ProviderAccount
from tests.factories import STRIPE_SECRET, AccountKeyFactory, ProviderAccountFactory
from tests.payments.over_http import stripe_paid
from tests.signing import signed_stripe

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture
def account(settings: Settings) -> ProviderAccount:
    """Its keys are sealed with OLD."""
    settings.VAULT_KEYS = [OLD]
    account = ProviderAccountFactory.create(name="main")
    AccountKeyFactory.create(account=account, secret="whsec_tests_second_5bQ8")
    return account


def _deliver(account: ProviderAccount, secret: str = STRIPE_SECRET) -> Any:
    body = stripe_paid("1001")
    headers = signed_stripe(body, secret, datetime.fromtimestamp(time.time(), UTC))
    content_type = headers.pop("Content-Type")
    path = f"/callbacks/{account.endpoint}"
    return Client().post(path, body, content_type=content_type, headers=headers)


def _rekey() -> str:
    written = StringIO()
    call_command("rekey", stdout=written)
    return written.getvalue()


def _opened_by(keys: Sequence[str], settings: Settings) -> list[bool]:
    settings.VAULT_KEYS = list(keys)
    opened = []
    for row in AccountKey.objects.order_by("id"):
        try:
            vault.unseal(bytes(row.material))
        except vault.Undecryptable:
            opened.append(False)
        else:
            opened.append(True)
    return opened


def test_a_vault_key_is_rotated_without_a_gap(account: ProviderAccount, settings: Settings) -> None:
    assert _deliver(account).status_code == 200

    settings.VAULT_KEYS = [NEW, OLD]
    assert _deliver(account).status_code == 200
    assert _rekey() == "2 keys are encrypted with the newest vault key.\n"
    assert _deliver(account).status_code == 200

    settings.VAULT_KEYS = [NEW]
    assert _deliver(account).status_code == 200
    assert _deliver(account, "whsec_tests_second_5bQ8").status_code == 200
    assert _opened_by([OLD], settings) == [False, False]


def test_a_vault_key_dropped_too_early_puts_callbacks_off_until_it_is_back(
    account: ProviderAccount, settings: Settings
) -> None:
    settings.VAULT_KEYS = [NEW]
    answer = _deliver(account)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.content == b"try again later"
    assert Delivery.objects.count() == 0

    settings.VAULT_KEYS = [NEW, OLD]
    assert _deliver(account).status_code == 200


def test_a_vault_key_dropped_too_early_is_named_by_rekey(
    account: ProviderAccount, settings: Settings
) -> None:
    first = account.keys.earliest("id")
    settings.VAULT_KEYS = [NEW]

    with pytest.raises(CommandError) as refusal:
        _rekey()

    assert str(refusal.value) == (
        f"Key {first.key_id!r} of account {account.pk}: None of VAULT_KEYS made this: the key was"
        " dropped before `manage.py rekey` had run."
    )


def test_rekey_changes_all_keys_or_none(account: ProviderAccount, settings: Settings) -> None:
    settings.VAULT_KEYS = [Fernet.generate_key().decode()]
    AccountKeyFactory.create(account=account, key_id="of-a-lost-vault-key")
    settings.VAULT_KEYS = [NEW, OLD]
    before = list(AccountKey.objects.order_by("id").values_list("material", flat=True))

    with pytest.raises(CommandError, match="of-a-lost-vault-key"):
        _rekey()

    after = list(AccountKey.objects.order_by("id").values_list("material", flat=True))
    assert list(map(bytes, after)) == list(map(bytes, before))
    assert _opened_by([OLD], settings) == [True, True, False]


def test_an_account_whose_key_is_lost_holds_up_no_other(
    account: ProviderAccount, settings: Settings
) -> None:
    settings.VAULT_KEYS = [NEW]
    other = ProviderAccountFactory.create(name="other")

    assert [_deliver(account).status_code, _deliver(other).status_code] == [503, 200]


def test_a_replaced_secret_counts_at_once(account: ProviderAccount) -> None:
    assert _deliver(account).status_code == 200
    AccountKey.objects.update(material=vault.seal(b"whsec_tests_replaced_3Wd0"))

    assert _deliver(account).status_code == 401
    assert _deliver(account, "whsec_tests_replaced_3Wd0").status_code == 200


def test_what_was_tampered_with_does_not_open(settings: Settings) -> None:
    sealed = vault.seal(b"secret")

    assert vault.seal(b"secret") != sealed
    assert b"secret" not in sealed
    for tampered in (b"", b"x", sealed[:-1], sealed[:40] + b"A" + sealed[41:]):
        with pytest.raises(vault.Undecryptable):
            vault.unseal(tampered)
    assert vault.unseal(sealed) == b"secret"
