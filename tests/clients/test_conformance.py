"""What every client promises, whatever its provider or the network does."""

from datetime import date

import pytest

from orders.money import Money
from payments.callback import Kind
from payments.clients.port import Answer, StatementUnavailable
from tests.clients.cases import Case
from tests.clients.servers.base import FakeApi, Trouble

#: The server has not carried it out, or has and nobody can tell.
UNTOLD = [trouble for trouble in Trouble if trouble is not Trouble.FORGED]


def test_a_refund_is_carried_out_once_and_answered_with_its_exact_amount(
    case: Case, api: FakeApi
) -> None:
    client = case.client(api)
    answer = client.refund(case.order())
    assert answer.answer is (Answer.SUCCEEDED if case.instant else Answer.PENDING)
    assert answer.amount == Money(1099, case.currency)
    assert bool(answer.provider_refund_no) is case.numbered
    assert api.executed == [("R-1", *(case.amounts[1099, case.currency] or ()))]


def test_the_same_number_again_is_the_same_refund(case: Case, api: FakeApi) -> None:
    first = case.client(api).refund(case.order())
    again = case.client(api).refund(case.order())
    assert (again.answer, again.amount, again.provider_refund_no) == (
        first.answer,
        first.amount,
        first.provider_refund_no,
    )
    assert len(api.executed) == 1


def test_another_number_is_another_refund(case: Case, api: FakeApi) -> None:
    client = case.client(api)
    client.refund(case.order("R-1"))
    client.refund(case.order("R-2"))
    assert [number for number, *_ in api.executed] == ["R-1", "R-2"]


def test_a_lost_reply_is_unknown_and_the_question_finds_the_refund(
    askable: Case, api: FakeApi
) -> None:
    api.troubles = [Trouble.LOST_REPLY]
    client = askable.client(api)
    assert client.refund(askable.order()).answer is Answer.UNKNOWN
    found = client.query_refund(askable.order(), provider_refund_no="")
    assert (found.answer, found.amount) == (Answer.SUCCEEDED, Money(1099, askable.currency))
    assert len(api.executed) == 1


def test_a_lost_reply_is_found_by_repeating_the_refund(case: Case, api: FakeApi) -> None:
    api.troubles = [Trouble.LOST_REPLY]
    client = case.client(api)
    assert client.refund(case.order()).answer is Answer.UNKNOWN
    assert client.refund(case.order()).answer in {Answer.SUCCEEDED, Answer.PENDING}
    assert len(api.executed) == 1


@pytest.mark.parametrize("trouble", UNTOLD, ids=lambda each: each.name)
def test_no_trouble_makes_a_refund_refused_or_sends_it_twice(
    case: Case, api: FakeApi, trouble: Trouble
) -> None:
    api.troubles = [trouble]
    answer = case.client(api).refund(case.order())
    assert answer.answer is Answer.UNKNOWN
    assert answer.why
    sent = [each for each in api.requests if "oauth2" not in each.path]
    assert len(sent) == 1


@pytest.mark.parametrize("trouble", UNTOLD, ids=lambda each: each.name)
def test_trouble_with_a_question_is_unknown_or_is_overcome_by_asking_once_more(
    askable: Case, api: FakeApi, trouble: Trouble
) -> None:
    client = askable.client(api)
    client.refund(askable.order())
    before = len(api.requests)
    api.troubles = [trouble] * 2
    assert client.query_refund(askable.order(), provider_refund_no="").answer is Answer.UNKNOWN
    assert len(api.requests) - before <= 2
    api.troubles = [trouble] * 2
    assert client.query_payment(txn_no=askable.txn_no, order_no="").answer is Answer.UNKNOWN


def test_a_question_that_nobody_answered_is_asked_once_more(getting: Case, api: FakeApi) -> None:
    client = getting.client(api)
    for trouble in (Trouble.LOST_REPLY, Trouble.UNAVAILABLE):
        api.troubles = [trouble]
        answer = client.query_payment(txn_no=getting.txn_no, order_no="")
        assert answer.answer is Answer.SUCCEEDED


@pytest.mark.parametrize("number", ["", "known"], ids=["by our number", "by its number"])
def test_a_refund_that_is_not_there_yet_is_not_found_and_later_is(
    askable: Case, api: FakeApi, number: str
) -> None:
    client = askable.client(api)
    known = client.refund(askable.order()).provider_refund_no if number else ""
    if not number:
        client.refund(askable.order())
    api.blind_for = 1
    query = client.query_refund(askable.order(), provider_refund_no=known)
    assert query.answer is Answer.NOT_FOUND
    query = client.query_refund(askable.order(), provider_refund_no=known)
    assert query.answer is Answer.SUCCEEDED


def test_a_refund_that_never_was_is_not_found(askable: Case, api: FakeApi) -> None:
    client = askable.client(api)
    client.refund(askable.order("R-1"))
    asked = client.query_refund(askable.order("R-2"), provider_refund_no="")
    assert asked.answer is Answer.NOT_FOUND


def test_a_refund_of_a_payment_that_the_provider_does_not_know_is_not_found(
    case: Case, api: FakeApi
) -> None:
    api.payments.clear()
    assert case.client(api).refund(case.order()).answer is Answer.NOT_FOUND
    assert api.executed == []


def test_a_refund_under_way_is_pending_or_not_yet_known(askable: Case, api: FakeApi) -> None:
    api.new_status = "pending"
    client = askable.client(api)
    # Alipay says of such a refund only that it has not happened.
    expected = Answer.UNKNOWN if askable.name == "alipay" else Answer.PENDING
    assert client.refund(askable.order()).answer is expected


def test_a_refund_that_failed_is_refused(getting: Case, api: FakeApi) -> None:
    api.new_status = "failed"
    client = getting.client(api)
    assert client.refund(getting.order()).answer is Answer.REFUSED
    assert client.query_refund(getting.order(), provider_refund_no="").answer is Answer.REFUSED


def test_amounts_stand_on_the_wire_as_the_provider_counts_them(case: Case, api: FakeApi) -> None:
    for number, ((minor, currency), wire) in enumerate(case.amounts.items()):
        api.payments[case.txn_no].currency = currency
        before = len(api.executed)
        answer = case.client(api).refund(case.order(f"R-{number}", Money(minor, currency)))
        if wire is None:
            assert (answer.answer, len(api.executed)) == (Answer.REFUSED, before)
        else:
            assert api.executed[before:] == [(f"R-{number}", *wire)]
            assert answer.amount == Money(minor, currency)


def test_a_payment_is_told_in_the_words_of_a_callback(askable: Case, api: FakeApi) -> None:
    answer = askable.client(api).query_payment(txn_no=askable.txn_no, order_no="O-1")
    assert answer.answer is Answer.SUCCEEDED
    assert answer.callback is not None
    assert answer.callback.kind is Kind.PAID
    assert answer.callback.txn_no == askable.txn_no
    assert answer.callback.order_no == "O-1"
    assert answer.callback.money == Money(10000, askable.currency)
    assert answer.callback.account_no in {None, askable.account_no}
    assert askable.txn_no.encode() in answer.raw


def test_a_payment_is_found_by_the_merchants_number(askable: Case, api: FakeApi) -> None:
    answer = askable.client(api).query_payment(txn_no="", order_no="O-1")
    if askable.name == "paypal":
        assert (answer.answer, api.requests) == (Answer.UNKNOWN, [])
    else:
        assert answer.callback is not None
        assert answer.callback.txn_no == askable.txn_no
        missing = askable.client(api).query_payment(txn_no="", order_no="O-2")
        assert missing.answer is Answer.NOT_FOUND


@pytest.mark.parametrize(
    ("state", "expected"), [("open", Answer.PENDING), ("closed", Answer.REFUSED)]
)
def test_an_unpaid_payment_is_pending_or_refused(
    askable: Case, api: FakeApi, state: str, expected: Answer
) -> None:
    api.payments[askable.txn_no].state = state
    answer = askable.client(api).query_payment(txn_no="", order_no="O-1")
    if askable.name == "paypal":
        answer = askable.client(api).query_payment(txn_no=askable.txn_no, order_no="")
    assert answer.answer is expected


def test_a_refunded_payment_is_still_a_payment(askable: Case, api: FakeApi) -> None:
    client = askable.client(api)
    client.refund(askable.order())
    answer = client.query_payment(txn_no=askable.txn_no, order_no="")
    assert answer.callback is not None
    assert (answer.callback.kind, answer.callback.money) == (
        Kind.PAID,
        Money(10000, askable.currency),
    )


def test_an_unknown_payment_is_not_found(askable: Case, api: FakeApi) -> None:
    api.payments.clear()
    answer = askable.client(api).query_payment(txn_no=askable.txn_no, order_no="")
    assert answer.answer is Answer.NOT_FOUND


def test_an_answer_with_a_wrong_signature_says_nothing(signed: Case, api: FakeApi) -> None:
    client = signed.client(api)
    api.troubles = [Trouble.FORGED] * 3
    answers = (
        client.refund(signed.order()).answer,
        client.query_refund(signed.order(), provider_refund_no="").answer,
        client.query_payment(txn_no=signed.txn_no, order_no="").answer,
    )
    assert answers == (Answer.UNKNOWN,) * 3
    assert client.refund(signed.order()).answer is Answer.SUCCEEDED
    assert len(api.executed) == 1


def test_a_statement_is_fetched_or_said_to_be_unavailable(case: Case, api: FakeApi) -> None:
    client = case.client(api)
    if case.name == "adyen":
        with pytest.raises(StatementUnavailable):
            client.fetch_statement(date(2026, 1, 1))
        return
    assert client.fetch_statement(date(2026, 1, 1))
    for trouble in (Trouble.LIMITED, Trouble.PAGE, Trouble.HANG):
        api.troubles = [trouble]
        with pytest.raises(StatementUnavailable):
            client.fetch_statement(date(2026, 1, 1))


def test_nobody_there_is_unknown(case: Case) -> None:
    server = case.api()
    server.server_close()  # its port now refuses connections
    client = case.client(server)
    assert client.refund(case.order()).answer is Answer.UNKNOWN
    assert client.query_payment(txn_no=case.txn_no, order_no="").answer is Answer.UNKNOWN


def test_no_secret_is_in_an_answer_or_a_representation(
    case: Case, api: FakeApi, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    client = case.client(api)
    shown = [repr(client), repr(vars(client))]
    for trouble in Trouble:
        if trouble is Trouble.FORGED:
            continue
        api.troubles = [trouble]
        shown.append(repr(client.refund(case.order())))
        api.troubles = [trouble]
        shown.append(repr(client.query_payment(txn_no=case.txn_no, order_no="")))
    shown += [caplog.text, *capfd.readouterr()]
    secrets = [key.material for key in case.keys if key.purpose.startswith("api")]
    words = [line for secret in secrets for line in secret.decode().splitlines() if len(line) > 20]
    words = [word for word in words if "PRIVATE KEY" not in word]
    assert words
    assert [word for word in words for text in shown if word in text] == []
