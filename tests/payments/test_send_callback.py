"""`manage.py send_callback`: what a provider would send, over real HTTP."""

import io
import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import Settings

from orders.models import Order
from payments.models import Delivery, ProviderAccount, ProviderTransaction
from payments.providers.samples.demo_keys import PROVIDERS as WITH_DEMO_KEYS
from tests.factories import MerchantFactory, OrderFactory, ProviderAccountFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def public_url(live_service: str, settings: Settings) -> str:
    settings.PUBLIC_URL = live_service
    return live_service


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create(provider="stripe", name="main", live=False)
    OrderFactory.create(
        merchant=account.merchant, order_no="1001", amount_minor=1099, currency="EUR"
    )
    return account


def run(*arguments: str) -> list[str]:
    written = io.StringIO()
    call_command(*arguments, stdout=written)
    return written.getvalue().splitlines()


def send(
    *more: str, provider: str = "stripe", amount: str = "10.99", currency: str = "EUR"
) -> list[str]:
    return run(
        "send_callback",
        f"--provider={provider}",
        "--order=1001",
        f"--amount={amount}",
        f"--currency={currency}",
        *more,
    )


def refused(*more: str, **named: str) -> str:
    with pytest.raises(CommandError) as refusal:
        send(*more, **named)
    return str(refusal.value)


def test_a_payment_is_sent_and_what_became_of_it_is_shown(account: ProviderAccount) -> None:
    said = send()

    assert said == ["answered  1 x 200, text/plain: ok", "became    1 x APPLIED, order 1001"]
    assert Order.objects.get().status == "PAID"


def test_many_at_once_are_one_payment_and_so_is_the_same_command_again(
    account: ProviderAccount,
) -> None:
    said = send("--times=20", "--parallel")
    assert said[0] == "answered  20 x 200, text/plain: ok"
    assert sorted(said[1:]) == [
        "became    1 x APPLIED, order 1001",
        "became    19 x DUPLICATE, order 1001",
    ]

    assert send()[1:] == ["became    1 x DUPLICATE, order 1001"]
    assert send("--transaction=pi_2")[1:] == [
        "became    1 x CONFLICT DUPLICATE_PAYMENT, order 1001"
    ]
    assert send("--event=refunded")[1:] == ["became    1 x APPLIED, order 1001"]
    assert sorted(ProviderTransaction.objects.values_list("kind", flat=True)) == [
        "PAYMENT",
        "PAYMENT",
        "REFUND",
    ]


def test_another_amount_is_exact_and_a_conflict(account: ProviderAccount) -> None:
    assert send(amount="10.98")[1:] == ["became    1 x CONFLICT AMOUNT_MISMATCH, order 1001"]


@pytest.mark.parametrize("how", ["amount", "signature", "timestamp"])
def test_what_is_spoilt_is_refused_and_stores_nothing(account: ProviderAccount, how: str) -> None:
    said = send(f"--tamper={how}")

    assert said == [
        "answered  1 x 401, text/plain: not authentic",
        "became    nothing: no delivery was stored in this database",
    ]
    assert Delivery.objects.count() == 0


def test_a_live_account_is_not_forged_by_accident(account: ProviderAccount) -> None:
    ProviderAccount.objects.update(live=True)

    said = refused()

    assert said == (
        "stripe/main is live: its orders would move, and be delivered, for money that nobody has"
        " paid. Use a test account, or say --live-account"
    )
    assert send("--live-account")[1:] == ["became    1 x APPLIED, order 1001"]


def test_a_dry_run_is_a_command_that_works(account: ProviderAccount, public_url: str) -> None:
    (command,) = send("--dry-run")
    assert Delivery.objects.count() == 0

    words = shlex.split(command)
    assert words[:3] == ["curl", "-i", f"{public_url}/callbacks/stripe/main"]
    answer = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert answer.startswith("HTTP/1.1 200 OK")
    assert Delivery.objects.get().outcome == "APPLIED"


def test_it_is_sent_where_it_is_told(account: ProviderAccount, public_url: str) -> None:
    said = send(f"--url={public_url}/callbacks/stripe/nobody")
    assert said[0] == "answered  1 x 404, text/plain: No such address."

    said = [refused("--url=http://127.0.0.1:9/x")]
    assert said[0].startswith("http://127.0.0.1:9/x: ")
    assert said[0].endswith("; is the service running?")


@pytest.mark.parametrize(
    ("words", "arguments"),
    {
        "10.999 has more decimals than EUR has": {"amount": "10.999"},
        "not a plain decimal amount": {"amount": "1e2"},
        "unknown currency 'EUX'": {"currency": "EUX"},
        "There is no active account of adyen: create_account.": {"provider": "adyen"},
    }.items(),
)
def test_what_cannot_be_sent_is_said(
    account: ProviderAccount, words: str, arguments: dict[str, str]
) -> None:
    assert words in refused(**arguments)


@pytest.mark.parametrize("times", ["0", "-3", "1001", "many"])
def test_how_often_is_said_by_its_limits_and_not_by_a_list(
    account: ProviderAccount, times: str
) -> None:
    assert refused(f"--times={times}").endswith("--times: must be a whole number from 1 to 1000")


def test_a_key_that_the_vault_cannot_open_is_said(
    account: ProviderAccount, settings: Settings
) -> None:
    settings.VAULT_KEYS = [Fernet.generate_key().decode()]

    assert refused().startswith("None of VAULT_KEYS made this")


def test_of_several_accounts_one_is_named(account: ProviderAccount) -> None:
    second = ProviderAccountFactory.create(
        provider="stripe", name="other", live=False, merchant=account.merchant
    )

    assert refused() == "Which one? --account main or other"
    assert send("--account=other")[1:] == ["became    1 x APPLIED, order 1001"]
    assert Delivery.objects.get().account == second


@pytest.mark.parametrize("provider", WITH_DEMO_KEYS)
def test_a_provider_with_a_private_key_is_tried_with_a_pair_of_ones_own(
    provider: str, tmp_path: Path
) -> None:
    merchant = MerchantFactory.create(code="acme")
    OrderFactory.create(merchant=merchant, order_no="1001", amount_minor=1099, currency="CNY")
    settings, private = tmp_path / "settings.json", tmp_path / "private.pem"
    settings.write_text('{"webhook_ids": ["WH-1"]}' if provider == "paypal" else "{}")
    create = ["create_account", "acme", provider, "main", "--account-no=1900000001"]
    create += [f"--settings-file={settings}", f"--demo-keys={private}"]
    with pytest.raises(CommandError, match="--demo-keys is for --test accounts of alipay"):
        run(*create, "--live")
    assert not private.exists()

    run(*create, "--test")

    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert "--private-key" in refused(provider=provider, currency="CNY")
    said = send(f"--private-key={private}", provider=provider, currency="CNY")
    became = "HELD UNCONFIRMED" if provider == "paypal" else "APPLIED"
    assert said[1:] == [f"became    1 x {became}, order 1001"]
    spoilt = send(
        f"--private-key={private}", "--tamper=signature", provider=provider, currency="CNY"
    )
    assert spoilt[0].startswith("answered  1 x 401, ")


def test_a_file_that_is_no_private_key_is_refused(account: ProviderAccount, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")

    assert refused("--private-key=/nonexistent") == "/nonexistent: No such file or directory"
    said = refused(f"--private-key={tmp_path / 'key.pem'}")
    assert said == "not a private key in PEM without a password"
