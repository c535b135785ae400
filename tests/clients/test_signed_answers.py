"""WeChat Pay's and Alipay's answers: only what they have signed, and only about what was asked."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest

from payments.clients.port import Answer, StatementUnavailable
from tests.clients.cases import CASES
from tests.clients.servers.alipay import AlipayApi
from tests.clients.servers.base import Answered, FakeApi, running
from tests.clients.servers.rsa import sign
from tests.clients.servers.wechatpay_v3 import BILL, WechatPayV3Api
from tests.providers.rsa_senders import private_key

WECHAT, ALIPAY = (
    next(case for case in CASES if case.name == name) for name in ("wechatpay_v3", "alipay")
)


@pytest.fixture
def wechat() -> Iterator[WechatPayV3Api]:
    with running(WECHAT.api()) as server:
        assert isinstance(server, WechatPayV3Api)
        server.pay(WECHAT.payment())
        yield server
        assert server.complaints == []


@pytest.fixture
def alipay() -> Iterator[AlipayApi]:
    with running(ALIPAY.api()) as server:
        assert isinstance(server, AlipayApi)
        server.pay(ALIPAY.payment())
        yield server
        assert server.complaints == []


def replaying(api: FakeApi, answered: Answered) -> None:
    """From now on the server answers everything with this."""
    api.replayed = answered


def test_a_genuine_answer_about_another_refund_says_nothing(wechat: WechatPayV3Api) -> None:
    client = WECHAT.client(wechat)
    client.refund(WECHAT.order("R-1"))
    path = "/v3/refund/domestic/refunds/R-1"
    captured = wechat.answer(replace(wechat.requests[-1], method="GET", target=path))
    assert captured.status == 401  # a request signed for something else proves nothing either
    wechat.complaints.clear()
    client.query_refund(WECHAT.order("R-1"), provider_refund_no="")
    replaying(wechat, wechat.answer(wechat.requests[-1]))
    for answer in (
        client.refund(WECHAT.order("R-2")).answer,
        client.query_refund(WECHAT.order("R-2"), provider_refund_no="").answer,
        client.query_payment(txn_no=WECHAT.txn_no, order_no="").answer,
    ):
        assert answer is Answer.UNKNOWN
    again = client.query_refund(WECHAT.order("R-1"), provider_refund_no="")
    assert again.answer is Answer.SUCCEEDED


@pytest.mark.parametrize("header", ["Wechatpay-Timestamp", "Wechatpay-Nonce", "Wechatpay-Serial"])
def test_an_answer_with_one_changed_header_says_nothing(
    wechat: WechatPayV3Api, header: str
) -> None:
    client = WECHAT.client(wechat)
    client.query_payment(txn_no=WECHAT.txn_no, order_no="")
    good = wechat.answer(wechat.requests[-1])
    changed = {**good.headers, header: good.headers[header][:-1] + "9"}
    replaying(wechat, replace(good, headers=changed))
    answer = client.query_payment(txn_no=WECHAT.txn_no, order_no="")
    assert answer.answer is Answer.UNKNOWN
    assert answer.why.startswith("HTTP 200 whose signature is not WeChat Pay's")


def test_a_not_found_that_is_not_signed_proves_nothing(wechat: WechatPayV3Api) -> None:
    replaying(wechat, Answered(404, b'{"code": "RESOURCE_NOT_EXISTS"}'))
    asked = WECHAT.client(wechat).query_refund(WECHAT.order(), provider_refund_no="")
    assert asked.answer is Answer.UNKNOWN


def test_a_refund_number_that_wechat_pay_would_not_take_is_not_sent(
    wechat: WechatPayV3Api,
) -> None:
    answer = WECHAT.client(wechat).refund(WECHAT.order("R:1.2"))
    assert (answer.answer, wechat.requests) == (Answer.REFUSED, [])


def test_a_partner_asks_for_his_sub_merchant(wechat: WechatPayV3Api) -> None:
    wechat.sub_mchid = "1900000109"
    account_no = "1900000001/1900000109"
    client = WECHAT.client(wechat, account_no=account_no)
    assert client.refund(WECHAT.order()).answer is Answer.SUCCEEDED
    asked = client.query_refund(WECHAT.order(), provider_refund_no="")
    assert asked.answer is Answer.SUCCEEDED
    payment = client.query_payment(txn_no="", order_no="O-1")
    assert payment.callback is not None
    assert payment.callback.account_no == account_no


def test_a_long_reason_is_cut_between_characters(wechat: WechatPayV3Api) -> None:
    order = replace(WECHAT.order(), reason="x" + "退" * 50)
    assert WECHAT.client(wechat).refund(order).answer is Answer.SUCCEEDED
    assert ("x" + "退" * 26 + '"').encode() in wechat.requests[0].body


def test_the_bill_is_the_announced_one(wechat: WechatPayV3Api) -> None:
    client = WECHAT.client(wechat)
    assert client.fetch_statement(date(2026, 1, 1)) == BILL
    wechat.bill = b"another day's"
    with pytest.raises(StatementUnavailable):
        client.fetch_statement(date(2026, 1, 1))


def test_a_genuine_answer_about_another_payment_says_nothing(wechat: WechatPayV3Api) -> None:
    client = WECHAT.client(wechat)
    assert client.query_payment(txn_no=WECHAT.txn_no, order_no="").answer is Answer.SUCCEEDED
    replaying(wechat, wechat.answer(wechat.requests[-1]))
    for numbers in (("4200000000202601010000000002", ""), ("", "O-2")):
        answer = client.query_payment(txn_no=numbers[0], order_no=numbers[1])
        assert (answer.answer, answer.callback) == (Answer.UNKNOWN, None)


def test_a_bill_is_fetched_from_nobody_else(wechat: WechatPayV3Api, alipay: AlipayApi) -> None:
    with running(WECHAT.api()) as stranger:
        wechat.bill_host = stranger.url
        alipay.bill_url = f"{stranger.url}/bill.zip"
        for client in (WECHAT.client(wechat), ALIPAY.client(alipay)):
            with pytest.raises(StatementUnavailable, match="the bill's address is not"):
                client.fetch_statement(date(2026, 1, 1))
        assert stranger.requests == []


def answer_of(body: str) -> Answered:
    return Answered(200, body.encode())


GOOD = (
    '{"code":"10000","trade_no":"2026010122001400000000000001","out_trade_no":"O-1",'
    '"trade_status":"TRADE_SUCCESS","total_amount":"100.00"}'
)
NODE = "alipay_trade_query_response"


def variants() -> dict[str, str]:
    good = sign(private_key("alipay"), GOOD.encode())
    evil = GOOD.replace("100.00", "999.00")
    return {
        "changed": f'{{"{NODE}":{evil},"sign":"{good}"}}',
        "twice": f'{{"{NODE}":{evil},"{NODE}":{GOOD},"sign":"{good}"}}',
        "within another": f'{{"x":{{"{NODE}":{GOOD}}},"{NODE}":{evil},"sign":"{good}"}}',
        "within a text": f'{{"sign":"{good}","x":"\\"{NODE}\\":","{NODE}":{evil}}}',
        "two signatures": f'{{"sign":"{good}","{NODE}":{evil},"sign":"{good}"}}',
        "without": f'{{"{NODE}":{GOOD}}}',
        "empty": f'{{"{NODE}":{GOOD},"sign":""}}',
        "of another method": f'{{"alipay_trade_refund_response":{GOOD},"sign":"{good}"}}',
        "an error": f'{{"error_response":{GOOD},"sign":"{good}"}}',
        "a list": f'[{{"{NODE}":{GOOD},"sign":"{good}"}}]',
    }


@pytest.mark.parametrize("name", list(variants()))
def test_only_the_very_bytes_that_alipay_signed_are_read(alipay: AlipayApi, name: str) -> None:
    replaying(alipay, answer_of(variants()[name]))
    answer = ALIPAY.client(alipay).query_payment(txn_no=ALIPAY.txn_no, order_no="")
    assert (answer.answer, answer.callback) == (Answer.UNKNOWN, None)


@pytest.mark.parametrize(
    "before", ["", '"sign":"{good}",', '"alipay_cert_sn":"1","sign":"{good}",']
)
def test_the_signature_may_stand_on_either_side(alipay: AlipayApi, before: str) -> None:
    good = sign(private_key("alipay"), GOOD.encode())
    after = "" if before else f',"sign":"{good}"'
    body = f'{{{before.replace("{good}", good)}"{NODE}":{GOOD}{after}}}'
    replaying(alipay, answer_of(body))
    answer = ALIPAY.client(alipay).query_payment(txn_no=ALIPAY.txn_no, order_no="")
    assert answer.answer is Answer.SUCCEEDED


def test_a_genuine_answer_about_another_trade_says_nothing(alipay: AlipayApi) -> None:
    good = sign(private_key("alipay"), GOOD.encode())
    replaying(alipay, answer_of(f'{{"{NODE}":{GOOD},"sign":"{good}"}}'))
    answer = ALIPAY.client(alipay).query_payment(txn_no="2026010122001400000000000002", order_no="")
    assert answer.answer is Answer.UNKNOWN


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "https://evil.example/.alipay.com",
        "https://xalipay.com/b",
        "https://b.alipay.com:8443/b",
        "file:///etc/passwd",
        "https://[::1",
        "",
    ],
)
def test_a_bill_is_fetched_from_alipay_only(alipay: AlipayApi, url: str) -> None:
    alipay.bill_url = url
    with pytest.raises(StatementUnavailable):
        ALIPAY.client(alipay).fetch_statement(date(2026, 1, 1))
    assert len(alipay.requests) == 1
