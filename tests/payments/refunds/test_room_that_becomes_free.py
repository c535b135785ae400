"""What went back and found no room waits, and takes it, oldest first, when it becomes free."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from payments.callback import Callback, Kind
from payments.models import Conflict, ProviderAccount, ProviderTransaction, Refund
from payments.refunds.carry_out import carry_out
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import ask, events_of, paid_order, room_of
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.refunds.test_disputed import dispute
from tests.payments.refunds.test_told import failed, order_of, outcomes, refunded, total
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db(transaction=True)

LATER = NOW + timedelta(hours=1)
EXCEEDS = "CONFLICT REVERSAL_EXCEEDS_PAYMENT"


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


def counted(*numbers: str) -> list[tuple[int, str]]:
    rows = ProviderTransaction.objects.filter(kind__in=["REFUND", "CHARGEBACK"])
    found = {row.txn_no: (row.counted_minor, row.disposition) for row in rows}
    return [found[number] for number in numbers]


def questions(reason: str) -> list[tuple[str, str]]:
    asked = Conflict.objects.filter(reason=reason).order_by("transaction_id")
    return list(asked.values_list("transaction__txn_no", "status"))


def our_refund_is_refused(account: ProviderAccount) -> None:
    carry_out(ProviderDouble(refuses=True), now=LATER)


def our_refund_fails_by_callback(account: ProviderAccount) -> None:
    outcomes(account, failed("re_R-1", 6_000, refund_no="R-1"))


def our_refund_fails_after_it_succeeded(account: ProviderAccount) -> None:
    carry_out(ProviderDouble(), now=NOW)
    outcomes(account, failed("re_R-1", 6_000, occurred_at=LATER))


#: Who takes 6,000 of 10,000 first, and how that comes back.
TAKERS: dict[str, tuple[Callback | None, Callable[[ProviderAccount], object]]] = {
    "ours, refused": (None, our_refund_is_refused),
    "ours, fails by callback": (None, our_refund_fails_by_callback),
    "ours, fails after it succeeded": (None, our_refund_fails_after_it_succeeded),
    "another's, fails": (
        refunded("re_0", 6_000),
        lambda account: outcomes(account, failed("re_0", 6_000, occurred_at=LATER)),
    ),
    "a dispute that is won": (
        dispute(Kind.DISPUTED, 6_000, "du_0"),
        lambda account: outcomes(account, dispute(Kind.DISPUTE_WON, 6_000, "du_0")),
    ),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    "waiting",
    [
        (refunded("re_1", 7_000), refunded("re_2", 5_000)),
        (refunded("re_1", 7_000), dispute(Kind.DISPUTED, 5_000, "re_2")),
        (dispute(Kind.DISPUTED, 7_000, "re_1"), refunded("re_2", 5_000)),
    ],
    ids=["refunds", "a refund and a dispute", "a dispute and a refund"],
)
def test_room_that_becomes_free_is_taken_by_what_waits_oldest_first(
    account: ProviderAccount, taker: str, waiting: tuple[Callback, Callback]
) -> None:
    first, frees = TAKERS[taker]
    if first is None:
        ask(account, "R-1", 6_000)
    else:
        outcomes(account, first)
    assert outcomes(account, *waiting) == [EXCEEDS, EXCEEDS]
    assert counted("re_1", "re_2") == [(4_000, "APPLIED"), (0, "HELD")]
    frees(account)

    assert counted("re_1", "re_2") == [(7_000, "APPLIED"), (3_000, "APPLIED")]
    reserved, refunded_minor, charged_back = room_of()
    assert (reserved, refunded_minor + charged_back) == (refunded_minor, 10_000)
    assert order_of(account)[1] == refunded_minor
    assert questions("REVERSAL_EXCEEDS_PAYMENT") == [("re_1", "RESOLVED"), ("re_2", "OPEN")]
    assert_books_balance()


def test_a_refund_that_counts_at_last_is_still_nobodys_here(account: ProviderAccount) -> None:
    ask(account, "R-1", 6_000)
    outcomes(account, refunded("re_1", 5_000))
    assert questions("EXTERNAL_REFUND") == []

    our_refund_is_refused(account)

    assert questions("REVERSAL_EXCEEDS_PAYMENT") == [("re_1", "RESOLVED")]
    assert Conflict.objects.get(reason="REVERSAL_EXCEEDS_PAYMENT").resolution == (
        "room became free: all of it counts"
    )
    assert questions("EXTERNAL_REFUND") == [("re_1", "OPEN")]
    assert events_of("order")[1:] == [("order.refunded", 2), ("order.refunded", 3)]


def test_a_refund_that_waits_and_fails_waits_no_more(account: ProviderAccount) -> None:
    ask(account, "R-1", 6_000)
    outcomes(account, refunded("re_1", 5_000), failed("re_1", 5_000))

    assert counted("re_1") == [(0, "RETURNED")]
    assert Conflict.objects.get(reason="REVERSAL_EXCEEDS_PAYMENT").resolution == (
        "the refund failed: its money came back"
    )
    our_refund_is_refused(account)
    assert room_of() == (0, 0, 0)


def test_a_total_that_waits_is_counted_once_with_the_refunds_that_explain_it(
    account: ProviderAccount,
) -> None:
    outcomes(account, dispute(Kind.DISPUTED, 7_000))
    assert outcomes(account, total(5_000)) == [EXCEEDS]
    assert outcomes(account, refunded("re_1", 2_000), refunded("re_2", 3_000)) == [EXCEEDS] * 2
    assert counted("re_1", "re_2") == [(2_000, "APPLIED"), (1_000, "APPLIED")]
    assert room_of() == (3_000, 3_000, 7_000)

    outcomes(account, dispute(Kind.DISPUTE_WON, 7_000))

    assert counted("re_1", "re_2", "ch_1001:5000") == [
        *((2_000, "APPLIED"), (3_000, "APPLIED"), (0, "APPLIED"))
    ]
    assert room_of() == (5_000, 5_000, 0)
    assert questions("REVERSAL_EXCEEDS_PAYMENT") == [
        *(("ch_1001:5000", "RESOLVED"), ("re_1", "RESOLVED"), ("re_2", "RESOLVED"))
    ]


def test_a_dispute_that_was_lost_without_room_stays_lost(account: ProviderAccount) -> None:
    ask(account, "R-1", 6_000)
    told = [dispute(Kind.DISPUTED, 10_000), dispute(Kind.DISPUTE_LOST, 10_000)]
    assert outcomes(account, *told) == [EXCEEDS, EXCEEDS]

    outcomes(account, dispute(Kind.DISPUTE_WON, 10_000))
    our_refund_is_refused(account)

    assert room_of() == (0, 0, 10_000)


def test_what_disagrees_with_the_payment_takes_no_room(account: ProviderAccount) -> None:
    ask(account, "R-1", 10_000)
    outcomes(account, refunded("re_1", 3_000, account_no="acct_foreign"))

    our_refund_is_refused(account)

    assert room_of() == (0, 0, 0)
    assert counted("re_1") == [(0, "HELD")]


def test_ours_has_its_room_whatever_waits(account: ProviderAccount) -> None:
    ask(account, "R-1", 6_000)
    outcomes(account, refunded("re_1", 9_000))

    carry_out(ProviderDouble(), now=LATER)

    assert Refund.objects.get().status == "SUCCEEDED"
    assert room_of() == (10_000, 10_000, 0)
    assert counted("re_1", "re_R-1") == [(4_000, "APPLIED"), (6_000, "APPLIED")]
