"""What only PayPal's client does."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from payments.clients import paypal_token
from payments.clients.choice import choose
from payments.clients.port import Answer
from payments.providers.port import Key
from tests.clients.cases import CASES, NOW, PATIENCE
from tests.clients.servers import paypal
from tests.clients.servers.base import running
from tests.clients.servers.paypal import PayPalApi

(CASE,) = (case for case in CASES if case.name == "paypal")


@pytest.fixture
def api() -> Iterator[PayPalApi]:
    with running(CASE.api()) as server:
        assert isinstance(server, PayPalApi)
        server.pay(CASE.payment())
        yield server
    paypal_token.forget_all()


def ask(api: PayPalApi, *, later: timedelta = timedelta(0)) -> Answer:
    account = CASE.account(api.url)
    client = choose("paypal", account, now=NOW + later, patience=PATIENCE).client
    assert client is not None
    return client.query_payment(txn_no=CASE.txn_no, order_no="").answer


def test_a_token_is_kept_until_shortly_before_it_ends(api: PayPalApi) -> None:
    assert [ask(api), ask(api)] == [Answer.SUCCEEDED] * 2
    assert api.tokens_given == 1
    almost = timedelta(seconds=32400) - paypal_token.MARGIN
    assert ask(api, later=almost - timedelta(seconds=1)) is Answer.SUCCEEDED
    assert api.tokens_given == 1
    assert ask(api, later=almost) is Answer.SUCCEEDED
    assert api.tokens_given == 2


def test_a_token_that_is_refused_is_fetched_anew(api: PayPalApi) -> None:
    ask(api)
    api.token = "A21AAFrevoked"
    assert ask(api) is Answer.UNKNOWN
    assert ask(api) is Answer.SUCCEEDED
    assert api.tokens_given == 2


def test_a_wrong_secret_is_unknown_and_uses_no_other_accounts_token(api: PayPalApi) -> None:
    ask(api)
    wrong = (Key(paypal.CLIENT_ID, "api", b"wrong"),)
    answer = CASE.client(api, keys=wrong).refund(CASE.order())
    assert (answer.answer, answer.why) == (
        Answer.UNKNOWN,
        "HTTP 401 instead of an access token",
    )
    assert api.executed == []
