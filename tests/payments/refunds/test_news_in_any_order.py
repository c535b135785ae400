"""A refund that succeeds and fails ends the same in whatever order that is told."""

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from payments.callback import Callback
from payments.models import Conflict, ProviderAccount, ProviderTransaction, Refund
from payments.refunds import sweep
from payments.refunds.carry_out import carry_out
from tests.concurrency.deeds import place
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import ask, paid_order, reasons, room_of
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.refunds.test_told import (
    early,
    failed,
    order_of,
    outcomes,
    paid,
    refunded,
    total,
)
from tests.payments.telling import NOW, tell_one

pytestmark = pytest.mark.django_db(transaction=True)

REVERSED = "CONFLICT REFUND_REVERSED"
SOON = NOW + timedelta(minutes=1)
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


def dispositions() -> list[tuple[str, str, int]]:
    rows = ProviderTransaction.objects.filter(kind="REFUND").order_by("txn_no")
    return list(rows.values_list("txn_no", "disposition", "counted_minor"))


# --- Refunds that nobody here asked for ---


@pytest.mark.parametrize(
    ("succeeded_at", "failed_at"),
    [(NOW, LATER), (NOW, NOW), (None, NOW), (NOW, None), (None, None)],
)
@pytest.mark.parametrize("order", list(permutations(("success", "failure"))))
def test_a_failure_is_the_last_word_unless_it_is_known_to_be_older(
    account: ProviderAccount,
    succeeded_at: datetime | None,
    failed_at: datetime | None,
    order: tuple[str, str],
) -> None:
    told = {
        "success": refunded("re_1", 3_000, occurred_at=succeeded_at),
        "failure": failed("re_1", 3_000, occurred_at=failed_at),
    }

    assert outcomes(account, *(told[name] for name in order)) == ["APPLIED", REVERSED]
    assert outcomes(account, *told.values()) == ["DUPLICATE", "DUPLICATE"]

    assert room_of() == (0, 0, 0)
    assert order_of(account) == ("PAID", 0)
    assert dispositions() == [("re_1", "RETURNED", 0)]
    assert "REFUND_REVERSED" in reasons()


@pytest.mark.parametrize("order", list(permutations(("success", "failure"))))
def test_a_success_that_is_stated_to_be_later_is_the_last_word(
    account: ProviderAccount, order: tuple[str, str]
) -> None:
    told = {
        "success": refunded("re_1", 3_000, occurred_at=LATER),
        "failure": failed("re_1", 3_000, occurred_at=NOW),
    }

    outcomes(account, *(told[name] for name in order), *told.values())

    assert room_of() == (3_000, 3_000, 0)
    assert dispositions() == [("re_1", "APPLIED", 3_000)]
    assert reasons() == ["EXTERNAL_REFUND"]


@pytest.mark.parametrize("order", list(permutations(("first", "failure", "second"))))
def test_the_latest_of_all_that_is_stated_counts(
    account: ProviderAccount, order: tuple[str, ...]
) -> None:
    told = {
        "first": refunded("re_1", 3_000, occurred_at=NOW),
        "failure": failed("re_1", 3_000, occurred_at=SOON),
        "second": refunded("re_1", 3_000, occurred_at=LATER),
    }

    outcomes(account, *(told[name] for name in order))

    assert room_of() == (3_000, 3_000, 0)
    assert dispositions() == [("re_1", "APPLIED", 3_000)]


@pytest.mark.parametrize("order", list(permutations(("success", "older", "undated"))))
def test_a_failure_told_without_a_time_may_be_later_than_any_success(
    account: ProviderAccount, order: tuple[str, ...]
) -> None:
    told = {
        "success": refunded("re_1", 3_000, occurred_at=LATER),
        "older": failed("re_1", 3_000, occurred_at=NOW),
        "undated": failed("re_1", 3_000, occurred_at=None),
    }

    outcomes(account, *(told[name] for name in order))

    assert room_of() == (0, 0, 0)
    assert dispositions() == [("re_1", "RETURNED", 0)]
    assert "REFUND_REVERSED" in reasons()


@pytest.mark.parametrize("order", list(permutations(("success", "failure", "later"))))
@pytest.mark.parametrize("has_later", [False, True])
def test_a_failure_without_an_amount_has_no_time_either(
    account: ProviderAccount, order: tuple[str, ...], *, has_later: bool
) -> None:
    told = {
        "success": refunded("re_1", 3_000, occurred_at=LATER),
        "failure": failed("re_1", None, occurred_at=NOW),
        "later": failed("re_1", 3_000, occurred_at=SOON),
    }

    outcomes(account, *(told[name] for name in order if has_later or name != "later"))

    assert room_of() == (0, 0, 0)
    assert dispositions() == [("re_1", "RETURNED", 0)]
    assert "REFUND_REVERSED" in reasons()


def test_money_that_leaves_again_after_a_person_has_decided_is_asked_about(
    account: ProviderAccount,
) -> None:
    told = [
        failed("re_1", 3_000, occurred_at=None),
        refunded("re_1", 3_000, occurred_at=NOW),
        refunded("re_1", 3_000, occurred_at=SOON),
        refunded("re_1", 3_000, occurred_at=LATER),
    ]
    assert outcomes(account, *told[:3]) == ["APPLIED", REVERSED, "DUPLICATE"]
    Conflict.objects.update(status="RESOLVED", resolved_at=NOW)

    assert outcomes(account, told[3], told[3]) == [REVERSED, "DUPLICATE"]
    assert room_of() == (0, 0, 0)
    assert reasons() == ["REFUND_REVERSED"] * 2


def test_what_goes_out_again_after_it_came_back_asks_again(account: ProviderAccount) -> None:
    told = [
        refunded("re_1", 3_000, occurred_at=NOW),
        failed("re_1", 3_000, occurred_at=SOON),
        refunded("re_1", 3_000, occurred_at=LATER),
        failed("re_1", 3_000, occurred_at=LATER + timedelta(hours=1)),
    ]

    assert outcomes(account, *told) == ["APPLIED", REVERSED, REVERSED, REVERSED]
    assert reasons().count("REFUND_REVERSED") == 3
    assert room_of() == (0, 0, 0)


@pytest.mark.parametrize("order", list(permutations(("success", "failure"))))
def test_a_failure_that_states_no_money_is_remembered_too(
    account: ProviderAccount, order: tuple[str, str]
) -> None:
    told = {
        "success": refunded("re_1", 3_000, occurred_at=None),
        "failure": failed("re_1", None, occurred_at=None),
    }

    assert outcomes(account, *(told[name] for name in order))[1] == REVERSED

    assert room_of() == (0, 0, 0)
    assert dispositions() == [("re_1", "RETURNED", 0)]


def test_a_failure_alone_moves_nothing_and_asks_nobody(account: ProviderAccount) -> None:
    told = failed("re_1", 3_000)

    assert outcomes(account, told, told) == ["APPLIED", "DUPLICATE"]
    assert room_of() == (0, 0, 0)
    assert reasons() == []


@pytest.mark.parametrize("money", [500, None])
@pytest.mark.parametrize("order", list(permutations(("success", "failure", "order", "paid"))))
def test_both_may_come_before_the_payment(
    account: ProviderAccount, order: tuple[str, ...], money: int | None
) -> None:
    about: dict[str, Any] = {"reverses": "pi_2", "order_no": "1002", "occurred_at": None}
    for name in order:
        match name:
            case "order":
                place(account.merchant, "1002", 1_200)
            case "paid":
                outcomes(account, paid())
            case "success":
                outcomes(account, early(500, occurred_at=None))
            case _:
                outcomes(account, failed("re_1", money, **about))

    assert room_of("pi_2") == (0, 0, 0)
    assert dispositions() == [("re_1", "RETURNED", 0)]
    assert "REFUND_REVERSED" in reasons()
    assert account.merchant.orders.get(order_no="1002").status == "PAID"


# --- A repeat that takes up what was parked ---


@pytest.mark.parametrize(
    ("amount_minor", "asked"), [(500, "EXTERNAL_REFUND"), (1_300, "REVERSAL_EXCEEDS_PAYMENT")]
)
@pytest.mark.parametrize("cumulative", [False, True])
def test_a_repeat_that_takes_up_a_parked_refund_asks_and_answers_as_its_payment_would(
    account: ProviderAccount, amount_minor: int, asked: str, *, cumulative: bool
) -> None:
    place(account.merchant, "1002", 1_200)
    told = early(amount_minor, cumulative=cumulative)
    outcomes(account, told)
    grace = timedelta(minutes=15)
    assert sweep.sweep(now=NOW + grace, grace=grace) == (0, 1)
    # Two transactions that could not see each other: the payment has missed what waits for it.
    waiting = ProviderTransaction.objects.filter(kind="REFUND")
    waiting.update(reverses_no="pi_hidden")
    outcomes(account, paid())
    waiting.update(reverses_no="pi_2")

    assert outcomes(account, told, told)[1] == "DUPLICATE"

    assert room_of("pi_2") == (min(1_200, amount_minor), min(1_200, amount_minor), 0)
    states = dict(Conflict.objects.values_list("reason", "status"))
    assert states == {"PAYMENT_NOT_FOUND": "RESOLVED", asked: "OPEN"}


# --- Refunds of ours that failed ---


def fails(account: ProviderAccount, amount_minor: int) -> None:
    ask(account, "R-1", amount_minor)
    carry_out(ProviderDouble(refuses=True), now=NOW)


def test_a_success_after_our_failure_blocks_the_room_that_it_has_used(
    account: ProviderAccount,
) -> None:
    fails(account, 6_000)
    told = refunded("re_R-1", 6_000, refund_no="R-1")

    assert outcomes(account, told, told) == [REVERSED, "DUPLICATE"]

    assert room_of() == (6_000, 6_000, 0)
    assert order_of(account) == ("PAID", 6_000)
    assert reasons() == ["REFUND_REVERSED"]
    assert ask(account, "R-2").amount_minor == 4_000


def test_a_success_after_our_failure_counts_as_far_as_there_is_room(
    account: ProviderAccount,
) -> None:
    fails(account, 6_000)
    ask(account, "R-2", 7_000)

    assert outcomes(account, refunded("re_R-1", 6_000, refund_no="R-1")) == [REVERSED]

    assert room_of() == (10_000, 3_000, 0)
    assert order_of(account) == ("PAID", 3_000)
    assert reasons() == ["REFUND_REVERSED", "REVERSAL_EXCEEDS_PAYMENT"]
    carry_out(ProviderDouble(refuses=True), now=LATER)
    assert room_of() == (6_000, 6_000, 0)
    assert reasons() == ["REFUND_REVERSED", "REVERSAL_EXCEEDS_PAYMENT"]


def test_a_success_after_our_failure_is_in_no_total_that_was_told_before_we_asked(
    account: ProviderAccount,
) -> None:
    at(NOW - timedelta(days=1), total(3_000), account)
    fails(account, 5_000)

    assert outcomes(account, refunded("re_R-1", 5_000, refund_no="R-1")) == [REVERSED]

    assert room_of() == (8_000, 8_000, 0)


def test_a_success_after_our_failure_may_fail_again(account: ProviderAccount) -> None:
    fails(account, 6_000)
    told = [refunded("re_R-1", 6_000, refund_no="R-1"), failed("re_R-1", 6_000, refund_no="R-1")]

    assert outcomes(account, *told) == [REVERSED, REVERSED]
    assert room_of() == (0, 0, 0)
    assert Refund.objects.get().status == "FAILED"


def test_a_repeated_success_does_not_undo_a_failure_that_came_after_it(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 6_000)
    told = refunded("re_R-1", 6_000, refund_no="R-1")
    outcomes(account, told, failed("re_R-1", 6_000, occurred_at=LATER))

    assert outcomes(account, told) == ["DUPLICATE"]
    assert room_of() == (0, 0, 0)


def test_our_refund_that_failed_takes_back_what_was_told_of_it_without_its_number(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    told = [refunded("re_R-1", 3_000), failed("re_R-1", 3_000, refund_no="R-1")]

    assert outcomes(account, *told) == ["APPLIED", REVERSED]
    assert room_of() == (0, 0, 0)
    assert Refund.objects.get().status == "FAILED"


def test_a_refund_of_ours_with_the_longest_number_may_have_been_told_before(
    account: ProviderAccount,
) -> None:
    number = "R" * 64
    ask(account, number, 3_000)
    outcomes(account, refunded(f"re_{number}", 3_000))

    assert carry_out(ProviderDouble(), now=NOW) == {"SUCCEEDED": 1}
    assert Conflict.objects.get().resolution == f"it is refund {number}"[:60]


@pytest.mark.parametrize("money", [3_000, None])
def test_a_failure_told_before_the_answer_that_it_succeeded_is_asked_about(
    account: ProviderAccount, money: int | None
) -> None:
    told = failed("re_R-1", money, occurred_at=None)
    ask(account, "R-1", 3_000)
    outcomes(account, told)

    carry_out(ProviderDouble(), now=NOW)

    assert_books_balance()
    assert Refund.objects.get().status == "PROCESSING"
    assert room_of() == (3_000, 0, 0)
    assert reasons() == ["REFUND_IN_DOUBT"]


@pytest.mark.parametrize("money", [3_000, None])
def test_and_also_before_a_callback_that_says_it_of_our_refund(
    account: ProviderAccount, money: int | None
) -> None:
    ask(account, "R-1", 3_000)
    told = [failed("re_R-1", money), refunded("re_R-1", 3_000, refund_no="R-1")]

    assert outcomes(account, *told)[1] == "CONFLICT AMOUNT_MISMATCH"

    assert room_of() == (3_000, 0, 0)


# --- Totals after a refund has failed ---


def at(moment: datetime, told: Callback, account: ProviderAccount) -> str:
    verdict = tell_one(account, told, now=moment)
    return f"{verdict.outcome} {verdict.reason}".strip()


@pytest.mark.parametrize("order", list(permutations(("single", "before", "failure", "after"))))
def test_a_total_told_after_a_refund_failed_is_what_stands_now(
    account: ProviderAccount, order: tuple[str, ...]
) -> None:
    told = {
        "single": refunded("re_1", 2_000, occurred_at=NOW),
        "before": total(5_000, occurred_at=NOW),
        "failure": failed("re_1", 2_000, occurred_at=SOON),
        "after": total(3_500, occurred_at=LATER),
    }

    for moment, name in enumerate(order):
        at(NOW + timedelta(seconds=moment), told[name], account)
    assert outcomes(account) == []

    assert room_of() == (3_500, 3_500, 0)


def test_an_old_total_that_comes_late_still_has_the_refund_that_failed(
    account: ProviderAccount,
) -> None:
    outcomes(account, refunded("re_1", 2_000), refunded("re_2", 1_000))
    outcomes(account, failed("re_1", 2_000, occurred_at=LATER))

    assert outcomes(account, total(3_000, occurred_at=SOON)) == ["DUPLICATE"]
    assert room_of() == (1_000, 1_000, 0)


def test_the_same_total_later_means_that_as_much_went_back_again(account: ProviderAccount) -> None:
    outcomes(account, total(5_000, occurred_at=NOW))
    outcomes(account, failed("re_1", 2_000, occurred_at=SOON))
    assert room_of() == (3_000, 3_000, 0)

    assert outcomes(account, total(5_000, occurred_at=LATER)) == ["APPLIED"]
    assert room_of() == (5_000, 5_000, 0)
    assert outcomes(account, total(5_000, occurred_at=LATER)) == ["DUPLICATE"]


def test_a_later_time_of_a_failure_takes_it_out_of_a_total_and_asks(
    account: ProviderAccount,
) -> None:
    told = [
        failed("re_1", 2_000, occurred_at=NOW),
        total(5_000, occurred_at=SOON),
        failed("re_1", 2_000, occurred_at=LATER),
    ]

    assert outcomes(account, *told) == ["APPLIED", "APPLIED", REVERSED]
    assert room_of() == (3_000, 3_000, 0)
    assert outcomes(account, told[2]) == ["DUPLICATE"]


def test_a_failure_without_an_amount_was_told_when_it_was_told(account: ProviderAccount) -> None:
    told = [
        failed("re_1", None, occurred_at=None),
        total(5_000, occurred_at=None),
        refunded("re_1", 2_000, occurred_at=None),
    ]

    for seconds, one in enumerate(told):
        at(NOW + timedelta(seconds=seconds), one, account)

    # The total came after the failure: it is what stands now.
    assert room_of() == (5_000, 5_000, 0)


def test_a_total_whose_time_nobody_knows_counts_for_the_larger_story_and_asks(
    account: ProviderAccount,
) -> None:
    outcomes(account, refunded("re_1", 2_000, occurred_at=None))
    at(SOON, failed("re_1", 2_000, occurred_at=None), account)

    assert at(LATER, total(2_000, occurred_at=None), account) == "APPLIED"

    assert room_of() == (2_000, 2_000, 0)
    assert reasons() == ["EXTERNAL_REFUND", "EXTERNAL_REFUND", "REFUND_REVERSED"]
