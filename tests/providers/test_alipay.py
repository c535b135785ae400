"""Alipay: what its notifications mean, and what binds them to the account."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.alipay import Alipay
from payments.providers.alipay_sign import signed_form
from payments.providers.port import Key, Misconfigured, Reason, Rejected, Reply, Verified
from tests.providers import rsa_senders
from tests.providers.rsa_senders import NOW, form, private_key, public_pem

ALIPAY = Alipay()
SENDER = rsa_senders.sender("alipay")


def reading_of(**fields: str) -> Reading:
    request = SENDER.signed(fields)
    assert SENDER.authenticate(request) == Verified("k0")
    (reading,) = ALIPAY.read(request, SENDER.account)
    return reading


def told(**fields: str) -> Callback:
    reading = reading_of(**fields)
    assert isinstance(reading, Callback), reading
    return reading


def yuan(fen: int) -> Money:
    return Money(fen, "CNY")


def test_a_payment_is_told_whole() -> None:
    assert told() == Callback(
        event_id="ac05099524730693a8b330c5ecf72da9786",
        event_type="trade_status_sync:TRADE_SUCCESS",
        kind=Kind.PAID,
        txn_no="2026010122001400000000000001",
        order_no="O-1",
        money=yuan(1099),
        account_no="2014072300007148",
        occurred_at=NOW - timedelta(hours=7, minutes=50),
    )


def test_a_trade_that_is_finished_is_the_payment_told_before() -> None:
    paid, finished = told(), told(trade_status="TRADE_FINISHED", notify_id="later")
    assert (finished.kind, finished.txn_no, finished.money) == (Kind.PAID, paid.txn_no, paid.money)


@pytest.mark.parametrize("status", ["TRADE_SUCCESS", "TRADE_FINISHED", "TRADE_CLOSED"])
def test_a_trade_with_a_refund_states_the_total_refunded_so_far(status: str) -> None:
    refunded = told(
        trade_status=status,
        refund_fee="5.00",
        gmt_refund="2026-01-01 07:59:57.000",
        out_biz_no="RF1001",
    )
    assert (refunded.kind, refunded.money) == (Kind.REFUNDED, yuan(500))
    assert refunded.linked_nos == ("RF1001",)
    assert refunded.occurred_at == NOW - timedelta(seconds=3)


def test_a_refund_of_nothing_is_no_refund() -> None:
    assert told(refund_fee="0.00").kind is Kind.PAID
    assert told(refund_fee="").kind is Kind.PAID
    assert told(trade_status="TRADE_CLOSED", refund_fee="0.00").kind is Kind.CLOSED


def test_a_trade_that_closes_is_unpaid_unless_it_was_refunded() -> None:
    closed = told(trade_status="TRADE_CLOSED", gmt_close="2026-01-01 08:00:00")
    assert (closed.kind, closed.occurred_at) == (Kind.CLOSED, NOW)
    refunded = told(trade_status="TRADE_CLOSED", gmt_refund="2026-01-01 08:00:00")
    assert (refunded.kind, refunded.money) == (Kind.REFUNDED, yuan(1099))


def test_a_refund_of_an_unknown_part_is_unreadable() -> None:
    reading = reading_of(gmt_refund="2026-01-01 08:00:00")
    assert reading == Unreadable(
        "a refund that does not say how much", "ac05099524730693a8b330c5ecf72da9786"
    )


def test_a_trade_that_waits_for_its_buyer_is_pending() -> None:
    assert told(trade_status="WAIT_BUYER_PAY").kind is Kind.PENDING


def test_other_notifications_are_ignored() -> None:
    for fields, event_type in (
        ({"trade_status": "TRADE_DREAMT"}, "trade_status_sync:TRADE_DREAMT"),
        ({"trade_status": "", "notify_type": "dut_user_sign"}, "dut_user_sign"),
    ):
        ignored = told(**fields)
        assert (ignored.kind, ignored.event_type) == (Kind.IGNORED, event_type)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"total_amount": ""}, "total_amount is missing"),
        ({"total_amount": "1e3"}, "not a plain decimal amount: '1e3'"),
        ({"refund_fee": "NaN"}, "not a plain decimal amount: 'NaN'"),
        ({"trade_no": ""}, "trade_no is missing"),
        ({"app_id": ""}, "app_id is missing"),
        ({"out_trade_no": "订单"}, "out_trade_no is not ASCII"),
        ({"notify_type": ""}, "notify_type is missing"),
    ],
)
def test_a_trade_that_lacks_what_matters_is_unreadable(fields: dict[str, str], why: str) -> None:
    assert reading_of(**fields) == Unreadable(why, "ac05099524730693a8b330c5ecf72da9786")


def test_more_decimals_than_yuan_have_are_words_and_no_money() -> None:
    paid = told(total_amount="10.999")
    assert (paid.money, paid.stated_amount) == (None, "10.999 CNY")


def test_a_time_that_is_none_leaves_the_payment_paid() -> None:
    for stated in ("2026-02-30 10:00:00", "", "yesterday", "20260101"):
        paid = told(gmt_payment=stated)
        assert (paid.kind, paid.occurred_at) == (Kind.PAID, None)


def test_another_app_or_seller_is_told_as_another_account() -> None:
    assert told(app_id="2099000000000000").account_no == "2099000000000000"
    assert told(seller_id="2088000000000000").account_no == "2014072300007148/2088000000000000"
    assert told(seller_id="").account_no == "2014072300007148/-"
    unbound = replace(SENDER.account, settings={})
    (reading,) = ALIPAY.read(SENDER.signed({"seller_id": "2088000000000000"}), unbound)
    assert isinstance(reading, Callback)
    assert reading.account_no == "2014072300007148"


def test_an_event_without_an_id_is_known_by_what_is_signed() -> None:
    request = SENDER.signed({"notify_id": ""})
    (reading,) = ALIPAY.read(request, SENDER.account)
    altered = replace(request, body=request.body.replace(b"sign_type=RSA2", b"sign_type=RSA"))
    assert SENDER.authenticate(altered) == Verified("k0")
    assert [reading] == ALIPAY.read(altered, SENDER.account)
    assert isinstance(reading, Unreadable)
    assert len(reading.event_id) == 64


def test_a_gbk_form_verifies_and_reads() -> None:
    fields = {name.encode(): value.encode() for name, value in SENDER.usual.items()}
    fields |= {b"charset": b"GBK", b"subject": "大乐透".encode("gbk")}
    body = signed_form(fields, private_key("alipay"))
    assert SENDER.authenticate(form(body)) == Verified("k0")
    (reading,) = ALIPAY.read(form(body), SENDER.account)
    assert reading == told()


def test_unknown_and_empty_fields_take_part() -> None:
    request = SENDER.signed({"mdiscount_amount": "0.10", "voucher_detail_list": ""})
    assert SENDER.authenticate(request) == Verified("k0")
    for removed in (b"&mdiscount_amount=0.10", b"&voucher_detail_list="):
        assert removed in request.body
        without = replace(request, body=request.body.replace(removed, b""))
        assert SENDER.authenticate(without) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_missing_signature_is_told_from_a_wrong_one() -> None:
    body = urlencode(SENDER.usual).encode()
    assert SENDER.authenticate(form(body)) == Rejected(Reason.SIGNATURE_MISSING)
    assert SENDER.authenticate(form(body + b"&sign=")) == Rejected(Reason.SIGNATURE_MISSING)
    assert SENDER.authenticate(form(body + b"&sign=AA==")) == Rejected(Reason.SIGNATURE_WRONG)


def test_the_answer_is_success_and_nothing_else() -> None:
    assert (ALIPAY.acknowledge(Reply.ACCEPTED).status, ALIPAY.acknowledge(Reply.ACCEPTED).body) == (
        200,
        b"success",
    )
    assert ALIPAY.acknowledge(Reply.REJECTED).body == b"fail"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"sign_type": "RSA"}, r"settings.sign_type must be one of: 'RSA2'"),
        ({"seller": "2088"}, r"settings.seller is not a known setting"),
        ({"seller_id": 2088}, r"settings.seller_id must be text"),
    ],
)
def test_settings_that_would_not_hold_are_refused(settings: dict[str, object], why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        ALIPAY.check_settings(replace(SENDER.account, settings=settings))


def test_a_key_of_an_app_in_certificate_mode_is_its_certificate() -> None:
    pem = rsa_senders.certificate("支付宝", private_key("alipay"))
    sender = SENDER.with_keys(Key("cert", "signature", pem))
    ALIPAY.check_settings(sender.account)
    request = sender.signed({"alipay_cert_sn": "0" * 32})
    assert sender.authenticate(request) == Verified("cert")
    assert sender.authenticate(request, NOW + timedelta(days=2000)) == Rejected(
        Reason.SIGNATURE_WRONG
    )


def test_while_the_key_changes_either_verifies_and_a_retired_one_does_not() -> None:
    new = Key("new", "signature", public_pem(private_key("alipay new")))
    old = replace(SENDER.account.keys[0], key_id="old", not_after=NOW)
    sender = SENDER.with_keys(new, old)
    assert sender.authenticate(sender.genuine()) == Verified("old")
    after = NOW + timedelta(seconds=1)
    assert sender.authenticate(sender.genuine(), after) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_key_that_could_prove_nothing_is_refused() -> None:
    with pytest.raises(Misconfigured, match="'k9' is not a public key"):
        ALIPAY.check_settings(SENDER.with_keys(Key("k9", "signature", b"x")).account)
