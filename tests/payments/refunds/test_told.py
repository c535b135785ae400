"""What providers tell of refunds, in any order, once or often: each counts once."""

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Outcome
from payments.models import (
    Conflict,
    ConflictStatus,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    RefundStatus,
)
from payments.refunds import sweep
from payments.refunds.carry_out import carry_out
from payments.refunds.recover import recover
from payments.refunds.request import request
from tests.concurrency.deeds import place
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import (
    ask,
    asked,
    events_of,
    let_leases_end,
    paid_order,
    reasons,
    room_of,
)
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


def refunded(
    number: str, amount_minor: int | None, kind: Kind = Kind.REFUNDED, **values: Any
) -> Callback:
    money = None if amount_minor is None else Money(amount_minor, "USD")
    usual = {"txn_no": number, "money": money, "reverses": "pi_1001", "order_no": None}
    return callback(kind, **usual | values)


def total(amount_minor: int, **values: Any) -> Callback:
    """A charge that states all that was refunded of it so far."""
    return refunded("ch_1001", amount_minor, cumulative=True, **values)


def failed(number: str, amount_minor: int | None, **values: Any) -> Callback:
    return refunded(number, amount_minor, Kind.REFUND_FAILED, **values)


def outcomes(account: ProviderAccount, *told: Callback) -> list[str]:
    verdicts = [tell_one(account, one) for one in told]
    assert_books_balance()
    return [f"{v.outcome} {v.reason}".strip() for v in verdicts]


def tells(account: ProviderAccount, told: Callback) -> None:
    """What happens while the provider is being asked."""
    outcomes(account, told)


def order_of(account: ProviderAccount) -> tuple[str, int]:
    order = account.merchant.orders.get()
    return order.status, order.refunded_minor


# --- Refunds that nobody here asked for ---


def test_a_refund_from_the_providers_dashboard_is_counted_once_and_asked_about(
    account: ProviderAccount,
) -> None:
    told = [refunded("re_1", 3_000), refunded("re_1", 3_000)]

    assert outcomes(account, *told) == ["APPLIED", "DUPLICATE"]
    assert room_of() == (3_000, 3_000, 0)
    assert order_of(account) == ("PAID", 3_000)
    assert reasons() == ["EXTERNAL_REFUND"]
    assert events_of("order") == [("order.paid", 1), ("order.refunded", 2)]


def test_the_same_number_with_another_amount_is_a_conflict(account: ProviderAccount) -> None:
    told = [refunded("re_1", 3_000), refunded("re_1", 3_001), refunded("re_1", 3_001)]

    assert outcomes(account, *told)[1:] == ["CONFLICT TRANSACTION_ALTERED"] * 2
    assert room_of() == (3_000, 3_000, 0)
    assert reasons() == ["EXTERNAL_REFUND", "TRANSACTION_ALTERED"]


def test_more_than_was_paid_counts_as_far_as_there_is_room(account: ProviderAccount) -> None:
    told = [refunded("re_1", 8_000), refunded("re_2", 8_000), refunded("re_3", 1)]

    exceeds = "CONFLICT REVERSAL_EXCEEDS_PAYMENT"
    assert outcomes(account, *told) == ["APPLIED", exceeds, exceeds]
    assert room_of() == (10_000, 10_000, 0)
    kept = ProviderTransaction.objects.filter(kind="REFUND").order_by("txn_no")
    assert list(kept.values_list("counted_minor", "disposition")) == [
        *((8_000, "APPLIED"), (2_000, "APPLIED"), (0, "HELD"))
    ]
    asked = Conflict.objects.filter(reason="REVERSAL_EXCEEDS_PAYMENT").order_by("pk")
    assert [each.received["not_counted_minor"] for each in asked] == [6_000, 1]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"money": Money(3_000, "EUR")}, "CURRENCY_MISMATCH"),
        ({"account_no": "acct_foreign"}, "MERCHANT_MISMATCH"),
    ],
)
def test_a_refund_of_another_account_or_currency_counts_nothing(
    account: ProviderAccount, values: dict[str, Any], reason: str
) -> None:
    told = [refunded("re_1", 3_000, **values)] * 2

    assert outcomes(account, *told) == [f"CONFLICT {reason}", "DUPLICATE"]
    assert room_of() == (0, 0, 0)


def test_a_payment_is_found_by_the_order_it_paid_if_nothing_else_names_it(
    account: ProviderAccount,
) -> None:
    told = refunded("re_1", 3_000, reverses="", order_no="1001")

    assert outcomes(account, told) == ["APPLIED"]
    assert room_of() == (3_000, 3_000, 0)


def test_a_refund_without_an_amount_that_nobody_knows_is_recorded(
    account: ProviderAccount,
) -> None:
    assert outcomes(account, refunded("re_1", None)) == ["RECORDED NO_AMOUNT"]
    assert room_of() == (0, 0, 0)


# --- Refunds of ours ---


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("amount_minor", [3_000, None])
def test_a_callback_settles_a_refund_of_ours_before_we_know_the_answer(
    account: ProviderAccount, amount_minor: int | None, *, sent: bool
) -> None:
    provider = ProviderDouble(loses_reply=True)
    ask(account, "R-1", 3_000)
    if sent:
        carry_out(provider, now=NOW)
    told = refunded("re_R-1", amount_minor, refund_no="R-1")

    assert outcomes(account, told, told) == ["APPLIED", "DUPLICATE"]

    refund = Refund.objects.get()
    assert (refund.status, refund.provider_refund_no) == ("SUCCEEDED", "re_R-1")
    assert room_of() == (3_000, 3_000, 0)
    assert reasons() == []
    let_leases_end()
    assert recover(provider, now=NOW) + carry_out(provider, now=NOW) == {}


def test_a_callback_between_the_request_and_its_answer_wins_and_the_answer_is_too_late(
    account: ProviderAccount,
) -> None:
    told = refunded("re_R-1", 3_000, refund_no="R-1")
    provider = ProviderDouble(before=lambda _: tells(account, told))
    ask(account, "R-1", 3_000)

    assert carry_out(provider, now=NOW) == {"LOST": 1}
    assert room_of() == (3_000, 3_000, 0)
    assert_books_balance()


def test_a_callback_that_does_not_name_our_refund_is_found_to_be_ours_by_its_number(
    account: ProviderAccount,
) -> None:
    told = refunded("re_R-1", 3_000)
    provider = ProviderDouble(before=lambda _: tells(account, told))
    ask(account, "R-1", 3_000)

    assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}

    assert room_of() == (3_000, 3_000, 0)
    assert [(c.reason, c.status) for c in Conflict.objects.all()] == [
        ("EXTERNAL_REFUND", ConflictStatus.RESOLVED)
    ]
    assert outcomes(account, told) == ["DUPLICATE"]


def test_and_also_where_there_was_no_room_beside_ours(account: ProviderAccount) -> None:
    told = refunded("re_R-1", 6_000)
    provider = ProviderDouble(before=lambda _: tells(account, told))
    ask(account, "R-1", 6_000)

    assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}

    assert room_of() == (6_000, 6_000, 0)
    assert [(c.reason, c.status) for c in Conflict.objects.all()] == [
        ("REVERSAL_EXCEEDS_PAYMENT", ConflictStatus.RESOLVED)
    ]
    assert_books_balance()


def test_our_number_with_other_money_is_a_conflict_and_settles_nothing(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    told = refunded("re_R-1", 2_999, refund_no="R-1")

    assert outcomes(account, told, told) == ["CONFLICT AMOUNT_MISMATCH"] * 2
    assert Refund.objects.get().status == RefundStatus.REQUESTED
    assert reasons() == ["AMOUNT_MISMATCH"]
    assert room_of() == (3_000, 0, 0)


def test_a_refund_of_ours_that_the_provider_says_failed_gives_its_room_back(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    carry_out(ProviderDouble(pends=True), now=NOW)
    told = failed("re_R-1", 3_000)

    assert outcomes(account, told, told) == ["APPLIED", "DUPLICATE"]
    assert Refund.objects.get().status == RefundStatus.FAILED
    assert room_of() == (0, 0, 0)
    assert reasons() == []


def test_a_refund_that_fails_after_it_succeeded_moves_the_amounts_back(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1")
    carry_out(ProviderDouble(), now=NOW)
    assert order_of(account) == ("REFUNDED", 10_000)
    told = failed("re_R-1", 10_000, occurred_at=NOW + timedelta(days=2))

    assert outcomes(account, told, told) == ["CONFLICT REFUND_REVERSED", "DUPLICATE"]

    assert Refund.objects.get().status == RefundStatus.FAILED
    assert room_of() == (0, 0, 0)
    assert order_of(account) == ("PAID", 0)
    assert reasons() == ["REFUND_REVERSED"]
    assert events_of() == [
        *(("refund.requested", 1), ("refund.succeeded", 2), ("refund.failed", 3))
    ]
    assert events_of("order")[1:] == [("order.refunded", 2), ("order.refunded", 3)]


def test_older_news_of_a_failure_changes_nothing(account: ProviderAccount) -> None:
    told = [refunded("re_1", 3_000), failed("re_1", 3_000, occurred_at=NOW - timedelta(hours=1))]

    assert outcomes(account, *told) == ["APPLIED", "RECORDED STALE"]
    assert room_of() == (3_000, 3_000, 0)


def test_a_success_after_a_failure_counts_and_a_person_is_asked(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    carry_out(ProviderDouble(refuses=True), now=NOW)
    told = refunded("re_R-1", 3_000, refund_no="R-1")

    assert outcomes(account, told, told) == ["CONFLICT REFUND_REVERSED", "DUPLICATE"]
    assert Refund.objects.get().status == RefundStatus.FAILED
    assert room_of() == (3_000, 3_000, 0)
    assert order_of(account) == ("PAID", 3_000)
    assert reasons() == ["REFUND_REVERSED"]


# --- Running totals ---


@pytest.mark.parametrize(
    "amounts",
    [
        (1_000, 1_500, 5_000),
        (1_500, 1_000, 5_000),
        (1_000, 1_000, 1_500, 1_500, 5_000, 5_000),
        (5_000, 1_500, 1_000),
        (1_500, 5_000, 1_000, 5_000),
    ],
)
def test_a_total_counts_for_what_it_adds(
    account: ProviderAccount, amounts: tuple[int, ...]
) -> None:
    told = outcomes(account, *map(total, amounts))

    assert set(told) <= {"APPLIED", "DUPLICATE"}
    assert room_of() == (5_000, 5_000, 0)
    assert order_of(account) == ("PAID", 5_000)
    steps = told.count("APPLIED")
    assert len(events_of("order")) == 1 + steps
    counting = ProviderTransaction.objects.filter(kind="REFUND", counted_minor__gt=0)
    assert counting.count() == steps


def test_the_steps_of_a_growing_total_are_counted_one_by_one(account: ProviderAccount) -> None:
    outcomes(account, total(1_000), total(1_500), total(10_000))

    counted = ProviderTransaction.objects.filter(kind="REFUND").order_by("pk")
    assert [row.counted_minor for row in counted] == [1_000, 500, 8_500]
    assert order_of(account) == ("REFUNDED", 10_000)
    assert events_of("order")[1:] == [("order.refunded", n) for n in (2, 3, 4)]


@pytest.mark.parametrize(
    "told",
    list(
        permutations(
            (
                refunded("re_1", 1_000),
                refunded("re_2", 500),
                total(1_000),
                total(1_500),
            )
        )
    ),
)
def test_totals_and_single_refunds_of_the_same_money_count_once_in_any_order(
    account: ProviderAccount, told: tuple[Callback, ...]
) -> None:
    outcomes(account, *told)
    outcomes(account, *told)

    assert room_of() == (1_500, 1_500, 0)
    assert order_of(account) == ("PAID", 1_500)
    singles = ProviderTransaction.objects.filter(txn_no__in=["re_1", "re_2"]).order_by("txn_no")
    assert [row.counted_minor for row in singles] == [1_000, 500]


def test_a_total_may_be_the_refund_of_ours_that_is_under_way(account: ProviderAccount) -> None:
    provider = ProviderDouble(loses_reply=True)
    ask(account, "R-1", 6_000)
    carry_out(provider, now=NOW)

    assert outcomes(account, total(6_000)) == ["APPLIED"]
    assert room_of() == (6_000, 6_000, 0)
    assert reasons() == []

    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}
    assert room_of() == (6_000, 6_000, 0)
    assert_books_balance()
    assert outcomes(account, total(6_000), total(6_500)) == ["DUPLICATE", "APPLIED"]
    assert room_of() == (6_500, 6_500, 0)
    assert reasons() == ["EXTERNAL_REFUND"]


def test_a_total_that_turns_out_to_be_somebody_elses_refund_is_asked_about(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 6_000)
    outcomes(account, total(6_000))
    carry_out(ProviderDouble(refuses=True), now=NOW)

    assert Refund.objects.get().status == RefundStatus.FAILED
    assert room_of() == (6_000, 6_000, 0)
    assert reasons() == ["EXTERNAL_REFUND"]
    assert_books_balance()


def test_a_total_told_before_we_asked_is_not_our_refund(account: ProviderAccount) -> None:
    tell_one(account, total(3_000), now=NOW - timedelta(hours=1))
    ask(account, "R-1", 2_000)
    carry_out(ProviderDouble(), now=NOW)

    assert room_of() == (5_000, 5_000, 0)
    assert outcomes(account, total(5_000)) == ["DUPLICATE"]


def test_a_total_that_names_our_refund_settles_it(account: ProviderAccount) -> None:
    ask(account, "R-1", 2_000)
    told = total(5_000, refund_no="R-1")

    assert outcomes(account, told, told) == ["APPLIED", "DUPLICATE"]

    assert Refund.objects.get().status == RefundStatus.SUCCEEDED
    assert room_of() == (5_000, 5_000, 0)
    assert reasons() == ["EXTERNAL_REFUND"]


def test_a_refund_that_only_a_total_told_can_fail(account: ProviderAccount) -> None:
    told = [total(5_000), failed("re_2", 2_000), failed("re_2", 2_000), total(5_000)]

    assert outcomes(account, *told) == [
        *("APPLIED", "CONFLICT REFUND_REVERSED", "DUPLICATE", "DUPLICATE")
    ]
    assert room_of() == (3_000, 3_000, 0)
    assert order_of(account) == ("PAID", 3_000)
    assert outcomes(account, refunded("re_2", 2_000)) == ["DUPLICATE"]
    assert outcomes(account, total(6_000)) == ["APPLIED"]
    assert room_of() == (4_000, 4_000, 0)


# --- Before the payment ---


def early(amount_minor: int = 500, number: str = "re_1", **values: Any) -> Callback:
    return refunded(number, amount_minor, reverses="pi_2", order_no="1002", **values)


def paid(**values: Any) -> Callback:
    return callback(order_no="1002", txn_no="pi_2", amount_minor=1_200, **values)


def test_a_refund_before_its_payment_waits_and_follows_it(account: ProviderAccount) -> None:
    place(account.merchant, "1002", 1_200)

    assert outcomes(account, early(), early()) == ["PARKED", "DUPLICATE"]
    assert outcomes(account, paid()) == ["APPLIED"]

    order = account.merchant.orders.get(order_no="1002")
    assert (order.status, order.refunded_minor, order.version) == ("PAID", 500, 2)
    assert room_of("pi_2") == (500, 500, 0)
    assert outcomes(account, early()) == ["DUPLICATE"]


@pytest.mark.parametrize("told", list(permutations(("order", "paid", "re_1", "re_2", "total"))))
def test_an_order_its_payment_and_its_refunds_may_come_in_any_order(
    account: ProviderAccount, told: tuple[str, ...]
) -> None:
    for name in told:
        match name:
            case "order":
                place(account.merchant, "1002", 1_200)
            case "paid":
                outcomes(account, paid())
            case "total":
                outcomes(account, early(1_200, "ch_2", cumulative=True))
            case number:
                outcomes(account, early(500 if number == "re_1" else 700, number))
        assert_books_balance()

    order = account.merchant.orders.get(order_no="1002")
    assert (order.status, order.refunded_minor) == ("REFUNDED", 1_200)
    assert room_of("pi_2") == (1_200, 1_200, 0)


def test_what_waits_for_long_is_asked_about_until_its_payment_comes(
    account: ProviderAccount,
) -> None:
    place(account.merchant, "1002", 1_200)
    outcomes(account, early())
    grace = timedelta(minutes=15)

    assert sweep.sweep(now=NOW, grace=grace) == (0, 0)
    assert sweep.sweep(now=NOW + grace, grace=grace) == (0, 1)
    assert sweep.sweep(now=NOW + grace, grace=grace) == (0, 0)
    assert reasons() == ["PAYMENT_NOT_FOUND"]

    outcomes(account, paid())
    states = dict(Conflict.objects.values_list("reason", "status"))
    assert states == {"PAYMENT_NOT_FOUND": "RESOLVED", "EXTERNAL_REFUND": "OPEN"}


def test_what_a_payment_has_missed_the_sweep_finds(account: ProviderAccount) -> None:
    place(account.merchant, "1002", 1_200)
    outcomes(account, early())
    ProviderTransaction.objects.filter(txn_no="re_1").update(reverses_no="pi_hidden")
    outcomes(account, paid())
    ProviderTransaction.objects.filter(txn_no="re_1").update(reverses_no="pi_2")

    assert sweep.sweep(now=NOW, grace=timedelta(minutes=15)) == (1, 0)
    assert room_of("pi_2") == (500, 500, 0)
    assert_books_balance()


def test_a_failure_before_its_payment_ends_the_waiting(account: ProviderAccount) -> None:
    place(account.merchant, "1002", 1_200)
    told = [early(), failed("re_1", 500, reverses="pi_2"), paid(), early()]

    assert outcomes(account, *told) == ["PARKED", "PARKED", "APPLIED", "DUPLICATE"]
    assert room_of("pi_2") == (0, 0, 0)
    assert reasons() == ["REFUND_REVERSED"]


# --- What could be forged ---


@pytest.mark.parametrize("kind", [Kind.REFUNDED, Kind.REFUND_FAILED, Kind.DISPUTED])
def test_what_nobody_vouches_for_takes_no_money_back(account: ProviderAccount, kind: Kind) -> None:
    ProviderAccount.objects.update(confirm=True)

    assert outcomes(account, refunded("re_1", 3_000, kind)) == ["HELD UNCONFIRMED"]
    assert room_of() == (0, 0, 0)
    assert Delivery.objects.filter(outcome=Outcome.HELD).count() == 1


def test_a_second_refund_at_the_provider_that_carries_our_number_is_money_of_its_own(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    first = tell_one(account, refunded("re_1", 3_000, refund_no="R-1"))
    again = tell_one(account, refunded("re_1", 3_000, refund_no="R-1"))
    second = tell_one(account, refunded("re_2", 3_000, refund_no="R-1"))

    assert [v.outcome for v in (first, again, second)] == [
        *(Outcome.APPLIED, Outcome.DUPLICATE, Outcome.APPLIED)
    ]
    assert room_of() == (6_000, 6_000, 0)
    assert reasons() == ["EXTERNAL_REFUND"]
    assert_books_balance()


def test_our_refund_told_again_with_other_money_is_altered(account: ProviderAccount) -> None:
    ask(account, "R-1", 3_000)
    tell_one(account, refunded("re_1", 3_000, refund_no="R-1"))
    altered = tell_one(account, refunded("re_1", 300, refund_no="R-1"))

    assert (altered.outcome, altered.reason) == (Outcome.CONFLICT, "TRANSACTION_ALTERED")
    assert room_of() == (3_000, 3_000, 0)


@pytest.mark.parametrize("kind", [Kind.REFUNDED, Kind.REFUND_FAILED])
def test_a_refund_of_another_payment_does_not_settle_ours_though_it_carries_its_number(
    account: ProviderAccount, kind: Kind
) -> None:
    paid_order(account, "1002")
    ours = ask(account, "R-1", 3_000)
    tell_one(account, refunded("re_9", 3_000, kind, refund_no="R-1", reverses="pi_1002"))

    ours.refresh_from_db()
    assert ours.status == RefundStatus.REQUESTED
    assert room_of() == (3_000, 0, 0)


def test_a_parked_refund_in_another_currency_stays_uncounted_when_it_is_told_again() -> None:
    account = ProviderAccountFactory.create()
    euros = callback(
        Kind.REFUNDED,
        txn_no="re_1",
        money=Money(500, "EUR"),
        reverses="pi_1001",
        order_no=None,
    )
    tell_one(account, euros)
    paid_order(account)
    again = tell_one(account, euros)

    assert again.outcome == Outcome.DUPLICATE
    assert room_of() == (0, 0, 0)


def test_a_refused_refund_gives_back_no_room_that_another_one_needs(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)
    tell_one(account, total(3_000))
    later = NOW + timedelta(hours=1)
    request(merchant=account.merchant, asked=asked("R-2", 5_000), now=later)
    tell_one(account, failed("re_1", 3_000, refund_no="R-1"), now=later)
    assert room_of() == (8_000, 3_000, 0)

    done = tell_one(account, refunded("re_2", 5_000, refund_no="R-2"), now=later)

    assert done.outcome == Outcome.APPLIED
    assert room_of() == (8_000, 8_000, 0)
    assert_books_balance()
