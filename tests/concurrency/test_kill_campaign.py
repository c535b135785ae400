"""A shop's busy days, on which every process may be killed at any boundary, several at a time.

Whoever was killed asks again, as providers and merchants do, until somebody answers.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from random import Random
from secrets import randbits

import pytest

from orders.models import Order, OrderStatus
from payments.callback import Callback
from payments.models import Delivery, ProviderAccount, ProviderTransaction
from tests.concurrency.crew import Call
from tests.concurrency.deeds import close, deliver, killed_at, place, sweep_parked
from tests.concurrency.nursery import Line, Nursery, Raised, answer
from tests.concurrency.tally import tally
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.telling import callback

#: How many processes are killed in all, and what the chances of all days follow from.
KILLS = int(os.environ.get("KILLS", "250"))
SEED = int(os.environ.get("SEED", randbits(32)))
DAYS = max(1, KILLS // 250)
AT_ONCE = 4
#: The calls of so many orders are mixed, so that calls for one order meet.
ORDERS_AT_ONCE = 3
#: Most works have about as many boundaries; who is to die beyond his last one lives.
BOUNDARIES = 16
SURVIVORS = 0.1


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What somebody wants of the service, and the callbacks if that is what it is."""

    call: Call
    told: tuple[Callback, ...] = ()


def wishes_of(account: ProviderAccount, order_no: str, random: Random) -> Iterator[Wish]:
    """An order, two events of its payment, and some of what may come beside."""
    paid = partial(callback, order_no=order_no, txn_no=f"pi_{order_no}")
    second = partial(callback, order_no=order_no, txn_no=f"second_{order_no}")
    absent = partial(callback, order_no=f"{order_no}-x", txn_no=f"absent_{order_no}")
    deliveries = [
        ([paid()], 1),
        ([paid(order_no=None)], 1),
        ([second()], 0.3),
        ([second(amount_minor=1)], 0.3),
        ([absent(), paid()], 0.3),
    ]
    for readings, chance in deliveries:
        if random.random() < chance:
            yield Wish(call=partial(deliver, account, *readings), told=tuple(readings))
    yield Wish(call=partial(place, account.merchant, order_no))
    if random.random() < 0.2:
        yield Wish(call=partial(_placed_and_closed, account, order_no))
    if random.random() < 0.1:
        yield Wish(call=sweep_parked)


def _placed_and_closed(account: ProviderAccount, order_no: str) -> str:
    place(account.merchant, order_no)
    return close(account.merchant, order_no)


def wishes(account: ProviderAccount, random: Random) -> Iterator[Wish]:
    """Wishes without end, those of a few orders mixed."""
    number = 0
    while True:
        mixed: list[Wish] = []
        for _ in range(ORDERS_AT_ONCE):
            number += 1
            mixed += wishes_of(account, f"A-{number}", random)
        random.shuffle(mixed)
        yield from mixed


class Day:
    """Runs wishes in processes that are killed, and keeps account of who was answered."""

    def __init__(self, nursery: Nursery, account: ProviderAccount, random: Random) -> None:
        self.kills = 0
        self.told: list[Callback] = []
        self.answers = Counter[str]()
        self._nursery = nursery
        self._random = random
        self._new = wishes(account, random)
        self._unanswered: list[Wish] = []
        self._running: dict[Line, Wish] = {}

    def run(self, kills: int) -> None:
        """Until so many were killed; then all who have no answer ask in peace."""
        while self.kills < kills or self._running:
            while self.kills < kills and len(self._running) < AT_ONCE:
                self._begin(self._next())
            for line in wait(list(self._running)):
                assert isinstance(line, Line)
                with line:
                    self._end(line, self._running.pop(line))
        for wish in self._unanswered:
            wish.call()
            self._answered(wish)

    def _next(self) -> Wish:
        if self._unanswered and self._random.random() < 0.5:
            return self._unanswered.pop(self._random.randrange(len(self._unanswered)))
        wish = next(self._new)
        self.told.extend(wish.told)
        return wish

    def _begin(self, wish: Wish) -> None:
        survives = self._random.random() < SURVIVORS
        boundary = self._random.randint(1, BOUNDARIES)
        line = self._nursery.hire()
        line.send(wish.call if survives else killed_at(boundary, wish.call))
        line.send(0.0)
        self._running[line] = wish

    def _end(self, line: Line, wish: Wish) -> None:
        try:
            answer(line)
        except (EOFError, ConnectionResetError):
            self.kills += 1
            self._unanswered.append(wish)
            if self.kills % 10 == 0:  # Nothing mends the books: what is wrong once stays so.
                assert_books_balance()
        except Raised as failure:
            # On a busy machine somebody may wait for a lock in vain; he was told so.
            if failure.name != "OperationalError":
                raise
            self._unanswered.append(wish)
        else:
            self._answered(wish)

    def _answered(self, wish: Wish) -> None:
        self.answers.update(reading.event_id for reading in wish.told)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("day_no", range(DAYS))
def test_whoever_is_killed_and_asks_again_gets_one_effect_and_one_only(
    nursery: Nursery, day_no: int
) -> None:
    tally[f"kills at random, days of SEED={SEED}"] += 0  # Said whatever becomes of the day.
    account = ProviderAccountFactory.create()
    day = Day(nursery, account, Random(SEED + day_no))  # noqa: S311 - no secret

    day.run(KILLS // DAYS)
    tally[f"kills at random, days of SEED={SEED}"] += day.kills
    assert_books_balance()
    sweep_parked()

    assert_books_balance()
    stored = Counter(Delivery.objects.values_list("event_id", flat=True))
    assert day.answers == Counter(reading.event_id for reading in day.told)
    assert day.answers <= stored
    assert stored.total() <= day.answers.total() + 2 * day.kills
    paid = {one.order_no for one in day.told if one.txn_no.startswith("pi_") and one.order_no}
    waiting = Order.objects.filter(status=OrderStatus.WAIT_PAY, order_no__in=paid)
    assert not waiting.exists()
    parked = ProviderTransaction.objects.filter(disposition="PARKED").values_list("order_no")
    assert not Order.objects.filter(order_no__in=parked).exists()
    assert Order.objects.filter(status=OrderStatus.PAID).count() > KILLS // DAYS // 20
