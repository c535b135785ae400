"""Which of a provider's errors are final: few, and none because it merely sounds so."""

from collections.abc import Iterator
from typing import Final

import pytest

from payments.clients.port import Answer, Client
from tests.clients.cases import CASES, Case
from tests.clients.servers.base import FakeApi, Trouble, running

BY_NAME: Final = {case.name: case for case in CASES}

FINAL: Final = (
    ("stripe", "charge_disputed"),
    ("stripe", "charge_not_refundable"),
    ("wechatpay_v3", "403 USER_ACCOUNT_ABNORMAL"),
    ("alipay", "ACQ.TRADE_NOT_ALLOW_REFUND"),
    ("alipay", "ACQ.NOT_ALLOW_PARTIAL_REFUND"),
    ("paypal", "REFUND_TIME_LIMIT_EXCEEDED"),
    ("paypal", "REFUND_NOT_ALLOWED"),
    ("adyen", "138"),
)
#: Nothing is left of the payment, and none of its refunds that are shown is ours.
SPENT: Final = (
    ("stripe", "charge_already_refunded"),
    ("paypal", "CAPTURE_FULLY_REFUNDED"),
    ("paypal", "REFUND_AMOUNT_EXCEEDED"),
    ("alipay", "ACQ.TRADE_HAS_FINISHED"),
)
NOT_FINAL: Final = (
    ("stripe", "balance_insufficient"),
    ("stripe", "a_code_of_next_year"),
    ("wechatpay_v3", "403 NOT_ENOUGH"),
    ("wechatpay_v3", "400 PARAM_ERROR"),
    ("wechatpay_v3", "500 SYSTEM_ERROR"),
    ("wechatpay_v3", "429 USER_ACCOUNT_ABNORMAL"),
    ("alipay", "ACQ.SYSTEM_ERROR"),
    ("alipay", "ACQ.SELLER_BALANCE_NOT_ENOUGH"),
    ("alipay", "isp.unknow-error"),
    ("paypal", "REFUND_FAILED_INSUFFICIENT_FUNDS"),
    ("paypal", "PREVIOUS_REQUEST_IN_PROGRESS"),
    ("adyen", "704"),
    ("adyen", "138 transient"),
    ("adyen", "000"),
)
#: Perhaps refused because this number has been used: there is only what the question finds.
ASKED: Final = (
    ("stripe", "idempotency_error"),
    ("wechatpay_v3", "400 INVALID_REQUEST"),
    ("alipay", "ACQ.DISCORDANT_REPEAT_REQUEST"),
    ("alipay", "ACQ.TRADE_HAS_CLOSE"),
    ("paypal", "DUPLICATE_REQUEST_ID"),
)


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> Iterator[tuple[FakeApi, Client, Case]]:
    """A server that refuses by the given code, its client, and its case."""
    name, code = request.param
    case = BY_NAME[name]
    with running(case.api()) as api:
        api.pay(case.payment())
        api.refusal = code
        yield api, case.client(api), case
        assert api.complaints == []


def each(pairs: tuple[tuple[str, str], ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "asked", pairs, ids=[" ".join(pair) for pair in pairs], indirect=True
    )


Asked = tuple[FakeApi, Client, Case]


@each(FINAL)
def test_a_code_that_is_documented_as_final_refuses(asked: Asked) -> None:
    api, client, case = asked
    answer = client.refund(case.order())
    assert answer.answer is Answer.REFUSED
    assert "Doe" not in answer.why
    assert "张三" not in answer.why
    assert api.executed == []


@each(SPENT)
def test_a_spent_payment_is_no_refusal_yet_for_ours_may_not_be_shown(asked: Asked) -> None:
    api, client, case = asked
    answer = client.refund(case.order())
    assert (answer.answer, answer.is_spent) == (Answer.NOT_FOUND, True)
    assert answer.why
    assert api.executed == []


@each(NOT_FINAL)
def test_any_other_code_is_unknown(asked: Asked) -> None:
    _, client, case = asked
    answer = client.refund(case.order())
    assert answer.answer is Answer.UNKNOWN
    assert answer.why


@each(ASKED)
def test_a_number_that_may_be_used_is_what_the_question_finds(asked: Asked) -> None:
    api, client, case = asked
    assert client.refund(case.order()).answer is Answer.NOT_FOUND
    api.execute(api.payments[case.txn_no], "R-1", case.wire_amount, case.currency)
    asked_for = case.order("R-1")
    api.refuse_known = True
    found = client.refund(asked_for)
    assert (found.answer, found.amount) == (Answer.SUCCEEDED, asked_for.amount)
    assert len(api.executed) == 1


@each((("stripe", "charge_already_refunded"), ("paypal", "CAPTURE_FULLY_REFUNDED")))
def test_what_is_refunded_already_by_this_number_has_succeeded(asked: Asked) -> None:
    api, client, case = asked
    api.execute(api.payments[case.txn_no], "R-1", case.wire_amount, case.currency)
    api.refuse_known = True
    assert client.refund(case.order()).answer is Answer.SUCCEEDED


@each((("stripe", "charge_already_refunded"), ("paypal", "CAPTURE_FULLY_REFUNDED")))
def test_what_is_refunded_already_is_unknown_where_the_question_has_no_answer(
    asked: Asked,
) -> None:
    api, client, case = asked
    api.questions_fail_by = Trouble.FAULT
    assert client.refund(case.order()).answer is Answer.UNKNOWN
