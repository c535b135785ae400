"""From a stored account to its client, and what is said of the keys that it uses."""

from datetime import timedelta

import pytest

from orders.money import Money
from payments.accounts import find_endpoint
from payments.clients.choice import choose
from payments.clients.port import Answer
from payments.key_changes import add_key
from payments.key_report import report
from payments.models import AccountKey
from payments.opening import open_account
from payments.providers.port import Key, Misconfigured
from tests.clients.cases import NOW, PATIENCE, Case
from tests.clients.servers.base import FakeApi
from tests.factories import MerchantFactory

pytestmark = pytest.mark.django_db(transaction=True)


def opened(case: Case, url: str, *, live: bool = False) -> None:
    open_account(
        merchant=MerchantFactory.create(),
        provider_name=case.name,
        name="main",
        account_no=case.account_no,
        live=live,
        settings={**case.settings, "api_url": url},
        keys=case.keys,
    )


def test_a_stored_account_refunds_by_its_stored_keys(case: Case, api: FakeApi) -> None:
    opened(case, api.url)
    endpoint = find_endpoint(case.name, "main")
    assert endpoint is not None
    client = choose(case.name, endpoint.account, now=NOW, patience=PATIENCE).client
    assert client is not None
    answer = client.refund(case.order())
    assert answer.answer in {Answer.SUCCEEDED, Answer.PENDING}
    assert answer.amount == Money(1099, case.currency)
    stored = [bytes(key.material) for key in AccountKey.objects.all()]
    assert not any(key.material in sealed for key in case.keys for sealed in stored)


def test_a_live_account_is_not_opened_with_an_address(case: Case) -> None:
    with pytest.raises(Misconfigured, match="in test mode"):
        opened(case, "http://10.0.0.1", live=True)


def test_an_api_key_is_told_to_be_used_and_an_older_one_to_be_superfluous() -> None:
    account = open_account(
        merchant=MerchantFactory.create(),
        provider_name="stripe",
        name="main",
        account_no="acct_1",
        live=True,
        settings={},
        keys=[
            Key("first", "signature", b"whsec_clients_dc8Kp2Xq7VwB5nRtYz3M"),
            Key("old", "api", b"sk_live_old"),
        ],
    )
    add_key(
        account, Key("later", "api", b"sk_live_later", not_before=NOW + timedelta(days=1)), now=NOW
    )

    def advice() -> dict[str, str]:
        return {line.key.key_id: line.advice for line in report(account, now=NOW)}

    assert advice()["old"] == "used for the provider's API"
    assert advice()["later"] == "begins later"
    add_key(account, Key("new", "api", b"sk_live_new"), now=NOW)
    assert advice()["old"] == "safe to retire: a newer key is used"
    assert advice()["new"] == "used for the provider's API"
    assert advice()["first"] == "has verified nothing yet"
