"""What the database decides when payments race with each other and with their orders."""

import os
from collections import Counter
from collections.abc import Mapping
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from django.db import connection

from orders.models import Order
from payments.models import Conflict, Disposition, ProviderAccount, ProviderTransaction
from tests.concurrency.crew import Crew, Threads
from tests.concurrency.deeds import (
    GRACE,
    close,
    deliver,
    expire,
    place,
    sweep_parked,
    with_deadlocks_seen_at_once,
    without_number_locks,
)
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.invariants import assert_books_balance, outcomes
from tests.payments.over_http import signed, stripe_paid
from tests.payments.telling import NOW, callback

pytestmark = pytest.mark.django_db(transaction=True)

#: How often each race is run by threads, and as often again by processes.
ROUNDS = int(os.environ.get("ROUNDS", "100"))
#: Calls begin within this many seconds of each other: about the length of a transaction, so that
#: each of them is first now and then.
SPREAD = 0.004
#: Each of these costs a deadlock and the pause after it.
SWAPPED_ROUNDS = ROUNDS
#: For races that are not run by threads and processes alike.
ROUNDS_OF_ONE_KIND = 2 * ROUNDS


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create()


def an_order(account: ProviderAccount, order_no: str, **others: object) -> Order:
    return OrderFactory.create(merchant=account.merchant, order_no=order_no, **others)


def assert_balance_after(number: int, deliveries_each: int) -> None:
    """The books balance now and then, and after the last round: what is wrong once stays wrong."""
    if number % 10 == 9 or number + 1 == ROUNDS:
        assert_books_balance(deliveries=(number + 1) * deliveries_each)


def status(order_no: str) -> tuple[str, str]:
    return Order.objects.values_list("status", "paid_txn_no").get(order_no=order_no)


def test_one_callback_twenty_times_at_once_pays_once(crew: Crew, account: ProviderAccount) -> None:
    for number in range(ROUNDS):
        an_order(account, f"A-{number}")
        told = callback(order_no=f"A-{number}", txn_no=f"pi_{number}")

        answers = crew.race(*[partial(deliver, account, told)] * crew.size)

        assert sorted(answers) == [["APPLIED"]] + [["DUPLICATE"]] * (crew.size - 1)
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
        assert_balance_after(number, crew.size)
    assert not Conflict.objects.exists()


@pytest.mark.timeout(300)
def test_over_http_one_callback_twenty_times_at_once_pays_once(
    live_service: str, account: ProviderAccount
) -> None:
    crew = Threads(20)
    for number in range(ROUNDS_OF_ONE_KIND):
        an_order(account, f"A-{number}")
        body = stripe_paid(f"A-{number}", txn_no=f"pi_{number}")
        sending = partial(
            post, live_service, f"/callbacks/{account.endpoint}", body, signed(account, body)
        )

        answers = crew.race(*[sending] * crew.size)

        assert answers == [(200, b"ok")] * crew.size
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
    # What is wrong once stays wrong.
    rounds = ROUNDS_OF_ONE_KIND
    assert outcomes() == {"APPLIED": rounds, "DUPLICATE": rounds * (crew.size - 1)}
    assert_books_balance()
    crew.close()


def post(url: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    client = HTTPConnection(urlsplit(url).netloc, timeout=30)
    client.request("POST", path, body, dict(headers))
    response = client.getresponse()
    answer = response.status, response.read()
    client.close()
    return answer


def test_of_two_transactions_for_one_order_one_pays_and_the_other_asks_a_person(
    crew: Crew, account: ProviderAccount
) -> None:
    winners = Counter[int]()
    for number in range(ROUNDS):
        an_order(account, f"A-{number}")
        txns = [f"pi_{number}_0", f"pi_{number}_1"]

        answers = crew.race(
            *[
                partial(deliver, account, callback(order_no=f"A-{number}", txn_no=txn))
                for txn in txns
            ],
            spread=SPREAD,
        )

        assert sorted(answers) == [["APPLIED"], ["CONFLICT DUPLICATE_PAYMENT"]]
        winner = answers.index(["APPLIED"])
        winners[winner] += 1
        assert status(f"A-{number}") == ("PAID", txns[winner])
        held = Conflict.objects.get(transaction__txn_no=txns[1 - winner])
        assert held.expected["paid_txn_no"] == txns[winner]
        assert_balance_after(number, 2)
    assert len(winners) == 2


def test_two_events_of_one_payment_of_which_one_names_the_order_pay_it(
    crew: Crew, account: ProviderAccount
) -> None:
    seen = Counter[tuple[str, ...]]()
    for number in range(ROUNDS):
        an_order(account, f"A-{number}")
        named, nameless = (
            callback(order_no=order_no, txn_no=f"pi_{number}") for order_no in (f"A-{number}", None)
        )

        answers = crew.race(
            partial(deliver, account, named), partial(deliver, account, nameless), spread=SPREAD
        )

        seen[tuple(answer for (answer,) in answers)] += 1
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
        assert_balance_after(number, 2)
    # Whichever comes first, the one that names the order is the one that pays it.
    assert set(seen) == {("APPLIED", "DUPLICATE"), ("APPLIED", "PARKED")}


def test_a_closing_and_a_payment_at_once_end_in_one_way(
    crew: Crew, account: ProviderAccount
) -> None:
    seen = Counter[tuple[str, str]]()
    for number in range(ROUNDS):
        an_order(account, f"A-{number}")

        (paid,), closed = crew.race(
            partial(deliver, account, callback(order_no=f"A-{number}")),
            partial(close, account.merchant, f"A-{number}"),
            spread=SPREAD,
        )

        seen[paid, closed] += 1
        assert status(f"A-{number}")[0] == closed
        assert_balance_after(number, 1)
    assert set(seen) == {("APPLIED", "PAID"), ("CONFLICT LATE_PAYMENT", "CLOSED")}
    assert seen.total() == ROUNDS


def test_an_expiry_and_a_payment_at_once_end_in_one_way(
    crew: Crew, account: ProviderAccount
) -> None:
    seen = Counter[tuple[str, int]]()
    for number in range(ROUNDS):
        an_order(account, f"A-{number}", expires_at=NOW)

        (paid,), expired = crew.race(
            partial(deliver, account, callback(order_no=f"A-{number}")), expire, spread=SPREAD
        )

        seen[paid, expired] += 1
        assert status(f"A-{number}")[0] == ("CLOSED" if expired else "PAID")
        assert_balance_after(number, 1)
    assert set(seen) == {("APPLIED", 0), ("CONFLICT LATE_PAYMENT", 1)}


def test_an_order_that_appears_while_its_payment_is_parked_is_paid_at_once(
    crew: Crew, account: ProviderAccount
) -> None:
    seen = Counter[tuple[str, str]]()
    for number in range(ROUNDS):
        (paid,), placed = crew.race(
            partial(deliver, account, callback(order_no=f"A-{number}", txn_no=f"pi_{number}")),
            partial(place, account.merchant, f"A-{number}"),
            spread=SPREAD,
        )

        seen[paid, placed] += 1
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
        assert not ProviderTransaction.objects.filter(disposition=Disposition.PARKED).exists()
        assert_balance_after(number, 1)
    # Parked and then found by the creation, or come to an order that is there already.
    assert set(seen) == {("PARKED", "PAID"), ("APPLIED", "WAIT_PAY")}


def test_what_slips_through_without_the_number_lock_is_swept_up(
    crew: Crew, account: ProviderAccount
) -> None:
    slipped = 0
    for number in range(ROUNDS):
        crew.race(
            partial(
                without_number_locks,
                partial(deliver, account, callback(order_no=f"A-{number}", txn_no=f"pi_{number}")),
            ),
            partial(without_number_locks, partial(place, account.merchant, f"A-{number}")),
            spread=SPREAD,
        )
        assert_books_balance(deliveries=number + 1)

        applied, _ = sweep_parked()

        slipped += applied
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
        assert_balance_after(number, 1)
    # The lock is there for a reason; test_interleavings.py forces what happens here by chance.
    assert slipped < ROUNDS


def test_one_transaction_told_for_two_orders_at_once_pays_one(
    crew: Crew, account: ProviderAccount
) -> None:
    winners = Counter[int]()
    for number in range(ROUNDS):
        orders = [f"A-{number}", f"B-{number}"]
        for order_no in orders:
            an_order(account, order_no)

        answers = crew.race(
            *[
                partial(deliver, account, callback(order_no=order_no, txn_no=f"pi_{number}"))
                for order_no in orders
            ],
            spread=SPREAD,
        )

        assert sorted(answers) == [["APPLIED"], ["CONFLICT TRANSACTION_ALTERED"]]
        winner = answers.index(["APPLIED"])
        winners[winner] += 1
        assert status(orders[winner]) == ("PAID", f"pi_{number}")
        assert status(orders[1 - winner]) == ("WAIT_PAY", "")
        assert_balance_after(number, 2)
    assert len(winners) == 2


def test_batches_that_name_orders_crosswise_do_not_lock_each_other_out(
    crew: Crew, account: ProviderAccount
) -> None:
    deadlocks = deadlocks_so_far()
    for number in range(ROUNDS):
        # One order is there, the other is not: an order's row and a number's lock are crossed too.
        an_order(account, f"A-{number}")
        there, absent = (
            callback(order_no=f"{letter}-{number}", txn_no=f"pi_{letter}_{number}")
            for letter in "AB"
        )

        answers = crew.race(
            partial(deliver, account, there, absent),
            partial(deliver, account, absent, there),
            partial(place, account.merchant, f"B-{number}"),
            spread=SPREAD,
        )

        assert sorted((answers[0][0], answers[1][1])) == ["APPLIED", "DUPLICATE"]
        for letter in "AB":
            assert status(f"{letter}-{number}") == ("PAID", f"pi_{letter}_{number}")
        assert_balance_after(number, 4)
    assert deadlocks_so_far() == deadlocks


@pytest.mark.parametrize("confirm", [False, True], ids=["parked", "held"])
def test_batches_that_name_no_orders_do_not_lock_each_other_out(
    crew: Crew, account: ProviderAccount, confirm: bool
) -> None:
    ProviderAccount.objects.update(confirm=confirm)
    deadlocks = deadlocks_so_far()
    for number in range(ROUNDS):
        told = [callback(order_no=None, txn_no=f"pi_{letter}_{number}") for letter in "ABCDEF"]

        crew.race(
            partial(deliver, account, *told),
            partial(deliver, account, *reversed(told)),
            spread=SPREAD,
        )

        assert_balance_after(number, 2 * len(told))
    assert deadlocks_so_far() == deadlocks


def deadlocks_so_far() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_batches_that_swap_transactions_are_freed_and_end_well(
    crew: Crew, account: ProviderAccount
) -> None:
    # These do wait for each other in a circle, and the database would take a second to see it.
    deadlocks = deadlocks_so_far()
    for number in range(SWAPPED_ROUNDS):
        orders = [f"A-{number}", f"B-{number}"]
        txns = [f"pi_A_{number}", f"pi_B_{number}"]
        for order_no in orders:
            an_order(account, order_no)

        answers = crew.race(
            *[
                partial(
                    with_deadlocks_seen_at_once,
                    partial(
                        deliver,
                        account,
                        *[
                            callback(order_no=order_no, txn_no=txn_no)
                            for order_no, txn_no in zip(orders, numbers, strict=True)
                        ],
                    ),
                )
                for numbers in (txns, txns[::-1])
            ]
        )

        assert sorted(answers) == [["APPLIED"] * 2, ["CONFLICT TRANSACTION_ALTERED"] * 2]
        assert_balance_after(number, 4)
    assert deadlocks_so_far() > deadlocks


def test_a_sweep_a_creation_and_a_repeat_at_once_apply_a_parked_payment_once(
    crew: Crew, account: ProviderAccount
) -> None:
    for number in range(ROUNDS):
        told = callback(order_no=f"A-{number}", txn_no=f"pi_{number}")
        deliver(account, told)

        (applied, asked), placed, repeated = crew.race(
            partial(sweep_parked, NOW + GRACE),
            partial(place, account.merchant, f"A-{number}"),
            partial(deliver, account, told),
            spread=SPREAD,
        )

        assert (applied, placed, repeated) == (0, "PAID", ["DUPLICATE"])
        assert status(f"A-{number}") == ("PAID", f"pi_{number}")
        # Where the sweep asked first, the creation has answered.
        conflicts = Conflict.objects.filter(transaction__txn_no=f"pi_{number}")
        assert [c.status for c in conflicts] == ["RESOLVED"] * asked
        assert_balance_after(number, 2)


def test_two_sweeps_at_once_share_the_work(crew: Crew, account: ProviderAccount) -> None:
    for number in range(ROUNDS):
        # Two that the creation missed, one order's second payment, and one without an order.
        for letter, order_no in zip("ABCD", "ABAX", strict=True):
            deliver(
                account, callback(order_no=f"{order_no}-{number}", txn_no=f"pi_{letter}_{number}")
            )
        for letter in "AB":
            an_order(account, f"{letter}-{number}")

        swept = crew.race(*[partial(sweep_parked, NOW + GRACE)] * 2, spread=SPREAD)
        # What one of them held while the other looked is left to the next tick.
        swept.append(sweep_parked(NOW + GRACE))

        assert sum(applied for applied, _ in swept) == 2
        assert {status(f"{letter}-{number}")[0] for letter in "AB"} == {"PAID"}
        reasons = Conflict.objects.filter(transaction__txn_no__endswith=f"_{number}")
        assert sorted(c.reason for c in reasons if c.status == "OPEN") == [
            "DUPLICATE_PAYMENT",
            "ORDER_NOT_FOUND",
        ]
        assert_balance_after(number, 4)
