"""Two pieces of work in every order of one switch: the first stops at each of its boundaries with
the database in turn, the second runs until it ends or waits for a lock, then the first goes on.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections

from orders.models import Order
from payments.models import ProviderAccount
from tests.concurrency.boundaries import at_each_boundary
from tests.concurrency.crew import Call
from tests.concurrency.deeds import (
    GRACE,
    close,
    deliver,
    expire,
    place,
    sweep_parked,
    without_number_locks,
)
from tests.concurrency.tally import tally
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.telling import NOW, callback

pytestmark = pytest.mark.django_db(transaction=True)

_WAIT_SECONDS = 30

#: Makes the rows of one round, and returns the two pieces of work.
Duel = Callable[[ProviderAccount, str], tuple[Call, Call]]


class Switch:
    """Stops the work that runs under it at one boundary, until it is told to go on."""

    def __init__(self, stop_at: int) -> None:
        self._stop_at = stop_at
        self._reached = threading.Event()
        self._go_on = threading.Event()
        self.stopped = False

    def run(self, work: Call) -> Any:
        try:
            with at_each_boundary(self._act):
                return work()
        finally:
            self._reached.set()

    def _act(self, number: int, _name: str) -> None:
        if number == self._stop_at:
            self.stopped = True
            self._reached.set()
            assert self._go_on.wait(_WAIT_SECONDS)

    def wait_until_stopped(self) -> None:
        assert self._reached.wait(_WAIT_SECONDS)

    def go_on(self) -> None:
        self._go_on.set()


class Arena:
    """Two threads that stay, each with its connection."""

    def __init__(self) -> None:
        self._one, self._two = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._backend_of_two = self._two.submit(_backend).result()

    def interleave(self, first: Call, second: Call, stop_at: int) -> tuple[Any, Any, bool]:
        """The answers of both, and whether the first has such a boundary."""
        switch = Switch(stop_at)
        try:
            leading = self._one.submit(switch.run, first)
            switch.wait_until_stopped()
            following = self._two.submit(second)
            _wait_until_done_or_blocked(following, self._backend_of_two)
        finally:
            switch.go_on()
        return leading.result(_WAIT_SECONDS), following.result(_WAIT_SECONDS), switch.stopped

    def close(self) -> None:
        for thread in (self._one, self._two):
            thread.submit(connections.close_all)
            thread.shutdown()


@pytest.fixture
def arena(transactional_db: None) -> Iterator[Arena]:
    arena = Arena()
    yield arena
    arena.close()


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _wait_until_done_or_blocked(work: Future[Any], backend: int) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not work.done():
        assert time.monotonic() < deadline
        with connection.cursor() as cursor:
            cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [backend])
            if cursor.fetchone()[0]:
                return
        time.sleep(0.001)


def order_status(order_no: str) -> str:
    return Order.objects.values_list("status", flat=True).get(order_no=order_no)


def pay(account: ProviderAccount, order_no: str, txn: str = "pi") -> Call:
    return partial(deliver, account, callback(order_no=order_no, txn_no=f"{txn}_{order_no}"))


def there(account: ProviderAccount, order_no: str, **others: Any) -> None:
    OrderFactory.create(merchant=account.merchant, order_no=order_no, **others)


def repeats(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    return pay(account, order_no), pay(account, order_no)


def two_transactions(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    return pay(account, order_no), pay(account, order_no, "other")


def named_and_nameless(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    nameless = callback(order_no=None, txn_no=f"pi_{order_no}")
    return pay(account, order_no), partial(deliver, account, nameless)


def payment_and_close(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    return pay(account, order_no), partial(close, account.merchant, order_no)


def payment_and_expiry(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no, expires_at=NOW)
    return pay(account, order_no), expire


def payment_and_creation(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    return pay(account, order_no), partial(place, account.merchant, order_no)


def sweep_and_creation(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    pay(account, order_no)()
    return partial(sweep_parked, NOW + GRACE), partial(place, account.merchant, order_no)


def sweep_and_repeat_that_names(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    deliver(account, callback(order_no=None, txn_no=f"pi_{order_no}"))
    return partial(sweep_parked, NOW + GRACE), pay(account, order_no)


def sweep_and_sweep(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    pay(account, order_no)()
    there(account, order_no)
    return sweep_parked, sweep_parked


def naming_and_creation(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    deliver(account, callback(order_no=None, txn_no=f"pi_{order_no}"))
    return pay(account, order_no), partial(place, account.merchant, order_no)


def two_creations(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    pay(account, order_no)()
    creation = partial(place, account.merchant, order_no)
    return creation, creation


def no_money_twice(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    nothing = partial(deliver, account, callback(order_no=order_no, amount_minor=0))
    return nothing, nothing


def one_transaction_for_two_orders(account: ProviderAccount, order_no: str) -> tuple[Call, Call]:
    there(account, order_no)
    there(account, f"{order_no}-2")
    elsewhere = callback(order_no=f"{order_no}-2", txn_no=f"pi_{order_no}")
    return pay(account, order_no), partial(deliver, account, elsewhere)


APPLIED, DUPLICATE, PARKED = ["APPLIED"], ["DUPLICATE"], ["PARKED"]
LATE, TWICE = ["CONFLICT LATE_PAYMENT"], ["CONFLICT DUPLICATE_PAYMENT"]
ALTERED, WRONG = ["CONFLICT TRANSACTION_ALTERED"], ["CONFLICT AMOUNT_MISMATCH"]

#: Each duel, and every pair of answers that it may have, with the order's status that goes with it.
DUELS: dict[Duel, list[tuple[Any, Any, str]]] = {
    repeats: [(APPLIED, DUPLICATE, "PAID"), (DUPLICATE, APPLIED, "PAID")],
    two_transactions: [(APPLIED, TWICE, "PAID"), (TWICE, APPLIED, "PAID")],
    named_and_nameless: [(APPLIED, DUPLICATE, "PAID"), (APPLIED, PARKED, "PAID")],
    payment_and_close: [(APPLIED, "PAID", "PAID"), (LATE, "CLOSED", "CLOSED")],
    payment_and_expiry: [(APPLIED, 0, "PAID"), (LATE, 1, "CLOSED")],
    payment_and_creation: [(PARKED, "PAID", "PAID"), (APPLIED, "WAIT_PAY", "PAID")],
    naming_and_creation: [(DUPLICATE, "PAID", "PAID"), (APPLIED, "WAIT_PAY", "PAID")],
    two_creations: [("PAID", "PAID", "PAID")],
    no_money_twice: [(WRONG, WRONG, "WAIT_PAY")],
    sweep_and_creation: [((0, 0), "PAID", "PAID"), ((0, 1), "PAID", "PAID")],
    sweep_and_repeat_that_names: [
        ((0, 0), APPLIED, "PAID"),
        ((0, 1), APPLIED, "PAID"),
    ],
    sweep_and_sweep: [((1, 0), (0, 0), "PAID"), ((0, 0), (1, 0), "PAID")],
    one_transaction_for_two_orders: [(APPLIED, ALTERED, "PAID"), (ALTERED, APPLIED, "WAIT_PAY")],
}


@pytest.mark.parametrize("leader", [0, 1], ids=["first leads", "second leads"])
@pytest.mark.parametrize("duel", DUELS, ids=lambda duel: duel.__name__)
def test_in_every_order_two_pieces_of_work_end_in_one_of_the_ways_allowed(
    arena: Arena, duel: Duel, leader: int
) -> None:
    account = ProviderAccountFactory.create()
    seen = Counter[str]()
    stopped, round_no = True, 0
    while stopped:
        round_no += 1
        order_no = f"A-{round_no}"
        works = duel(account, order_no)
        led, followed, stopped = arena.interleave(works[leader], works[1 - leader], round_no)

        answers = (followed, led) if leader else (led, followed)
        ends = (*answers, order_status(order_no))
        assert ends in DUELS[duel], f"stopped at boundary {round_no}"
        seen[str(ends)] += 1
        assert_books_balance()
    assert len(seen) == len(DUELS[duel])
    tally["forced interleavings"] += round_no


def test_without_the_number_lock_a_payment_slips_through_and_the_sweep_finds_it(
    arena: Arena,
) -> None:
    account = ProviderAccountFactory.create()
    stopped, round_no, slipped = True, 0, 0
    while stopped:
        round_no += 1
        order_no = f"A-{round_no}"
        payment, creation = (
            partial(without_number_locks, call) for call in payment_and_creation(account, order_no)
        )

        _, _, stopped = arena.interleave(payment, creation, round_no)
        assert_books_balance()
        if order_status(order_no) == "WAIT_PAY":
            slipped += 1
            assert sweep_parked() == (1, 0)

        assert order_status(order_no) == "PAID"
        assert_books_balance()
    # That it happens at all is what the lock is for.
    assert slipped >= 1
    tally["forced interleavings"] += round_no
