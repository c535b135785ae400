"""A front whose stale replica is promoted: what it lost or still believes changes no answer.

Two real servers, one of which replicates the other until it is cut off; then the address moves.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from secrets import randbits
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from idempotency import retention
from idempotency.claims import Mismatch, Running
from idempotency.front import FINAL_TTL, RUN_TTL, Front
from idempotency.leased import Outcome
from orders.models import Merchant
from tests.concurrency.racing import race
from tests.idempotency.intents import an_intent
from tests.idempotency.moving_address import MovingAddress
from tests.idempotency.test_front import (
    EXECUTED,
    REPLAYED,
    nobody_asks,
    race_in_a_storm,
    run,
)
from tests.server_control import private_valkey_server

pytestmark = pytest.mark.django_db(transaction=True)

SEED = randbits(32)


class Pair:
    """A primary, its replica, and the address that clients know."""

    def __init__(self, primary: str, replica: str) -> None:
        self._password = urlsplit(primary).password
        self._servers = [self._client(primary), self._client(replica)]
        self._servers[1].config_set("requirepass", self._password)
        self._servers[1] = self._client(replica)
        for server in self._servers:
            server.config_set("masterauth", self._password)
            server.config_set("repl-diskless-sync-delay", 0)
        self._ports = [urlsplit(url).port or 0 for url in (primary, replica)]
        self.address = MovingAddress(self._ports[0])
        self.url = primary.replace(f":{self._ports[0]}", f":{self.address.port}")

    def begin_anew(self) -> None:
        """The second server follows the first, which knows nothing."""
        self._servers[0].flushall()
        self.replicate()

    def _client(self, url: str) -> Any:
        at = urlsplit(url)
        password = self._password
        with redis.Redis(port=at.port or 0, password=password) as tried:
            try:
                tried.ping()
            except redis.AuthenticationError:
                password = at.password
        return redis.Redis(port=at.port or 0, password=password)

    def replicate(self) -> None:
        """The second server follows the first, and has all that it has by now."""
        primary, replica = self._servers
        replica.replicaof("127.0.0.1", self._ports[0])
        deadline = time.monotonic() + 30
        while replica.info("replication")["master_link_status"] != "up":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        # A barrier: all that was written before it has arrived with it.
        primary.set("tests:barrier", time.monotonic())
        assert primary.wait(1, 10_000) == 1

    def cut_off(self) -> None:
        """The second server hears nothing from now on: it grows stale."""
        self._servers[1].replicaof("NO", "ONE")

    def promote(self) -> None:
        """The address leads to the second server, and the first becomes the second."""
        self._servers.reverse()
        self._ports.reverse()
        self._servers[0].replicaof("NO", "ONE")
        self.address.move(self._ports[0])

    def knows(self, what: str) -> int:
        """How many keys of this kind the server has that the address leads to."""
        return len(list(self._servers[0].scan_iter(f"paidonce:idempotency:*:{what}")))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    primaries = private_valkey_server(folder / "primary")
    replicas = private_valkey_server(folder / "replica")
    pair = Pair(next(primaries).url, next(replicas).url)
    yield pair
    pair.address.close()
    for servers in (primaries, replicas):
        next(servers, None)


@pytest.fixture
def pair(both: Pair) -> Pair:
    """The two, of which one follows the other and neither knows anything."""
    both.begin_anew()
    return both


def front_at(pair: Pair, **times: timedelta) -> Front:
    """A front that does not rest when a connection has ended: it asks the next server at once."""
    return Front(pair.url, rests=timedelta(0), **times)


def test_an_answer_that_the_replica_never_heard_of_comes_from_the_database(pair: Pair) -> None:
    front = front_at(pair)
    pair.cut_off()
    assert run(front, an_intent("k")) == EXECUTED
    assert front.answer(an_intent("k"), nobody_asks) == REPLAYED

    pair.promote()
    assert (pair.knows("final"), pair.knows("run")) == (0, 0)

    assert run(front, an_intent("k")) == REPLAYED
    assert run(front, an_intent("k", b"B")) == Mismatch()
    assert pair.knows("final") == 1
    assert Merchant.objects.count() == 1


def test_a_mark_that_is_lost_while_its_request_runs_lets_nobody_run_it_again(pair: Pair) -> None:
    pair.cut_off()

    race_in_a_storm(front_at(pair), "k", pair.promote)

    assert Merchant.objects.count() == 1


def test_a_mark_that_comes_back_holds_the_key_up_for_its_time_and_changes_nothing(
    pair: Pair,
) -> None:
    front = front_at(pair, run_ttl=timedelta(milliseconds=300))

    def executed() -> None:
        """The replica hears that the request is running, and not how it ended."""
        pair.replicate()
        pair.cut_off()

    first = an_intent("k")
    assert front.enter(first)
    executed()
    front.leave(first)
    assert run(Front(""), an_intent("k")) == EXECUTED
    pair.promote()
    assert pair.knows("run") == 1

    answers: list[Outcome] = []
    deadline = time.monotonic() + 10
    while not answers or answers[-1] == Running():
        assert time.monotonic() < deadline
        assert run(front, an_intent("k", b"B")) == Mismatch(), "the database refuses it"
        answers.append(run(front, an_intent("k")))

    assert answers[-1] == REPLAYED
    assert Merchant.objects.count() == 1


def test_an_answer_that_the_new_primary_remembers_from_before_is_the_answer(pair: Pair) -> None:
    front = front_at(pair)
    run(front, an_intent("k"))
    pair.replicate()
    pair.cut_off()
    # What the old primary forgot meanwhile, the new one still has.
    redis.Redis.from_url(pair.url).flushall()
    assert run(front, an_intent("k")) == REPLAYED

    pair.promote()

    assert front.answer(an_intent("k"), nobody_asks) == REPLAYED
    assert front.answer(an_intent("k", b"B"), nobody_asks) == Mismatch()


def test_no_server_remembers_an_answer_for_as_long_as_its_record_is_kept() -> None:
    # A key whose record is gone counts as new: an old server must not answer it then.
    assert RUN_TTL < FINAL_TTL < retention.HORIZON_MIN / 100


def test_whatever_happens_to_the_pair_each_key_is_executed_once_and_has_one_answer(
    pair: Pair,
) -> None:
    random = Random(SEED)  # noqa: S311 - no secret
    front = front_at(pair, run_ttl=timedelta(milliseconds=100))
    numbers = count()

    def happen() -> None:
        """As somebody else would do it, beside the transaction."""
        for what in random.choices([pair.cut_off, pair.promote, pair.replicate], k=2):
            race(partial(what))

    for number in range(10):
        happen()
        race_in_a_storm(front, f"k{next(numbers)}", happen)
        for old in range(number + 1):
            outcome = run(front, an_intent(f"k{old}"))
            assert outcome in (REPLAYED, Running()), SEED
    assert Merchant.objects.count() == 10, SEED
