"""Refunds that race, are killed at any boundary, or outlive their lease: none is paid twice."""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from secrets import randbits
from typing import Any, Final

import pytest

from orders.models import Order
from payments.callback import Callback, Kind
from payments.models import ProviderAccount, ProviderTransaction, Refund
from payments.refunds import asking, lifecycle
from tests.concurrency.boundaries import count_boundaries
from tests.concurrency.crew import Call, Crew
from tests.concurrency.deeds import deliver, killed_at, place
from tests.concurrency.nursery import Nursery, answer
from tests.concurrency.onlooker import Onlooker
from tests.concurrency.refund_deeds import FiledProvider, ask, send, send_or_ask, until_done
from tests.concurrency.tally import tally
from tests.concurrency.test_kills import wait_until_gone
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import let_leases_end, make_due, paid_order, room_of
from tests.payments.refunds.test_told import refunded, total
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db(transaction=True)

SEED = int(os.environ.get("SEED", randbits(32)))
ROUNDS: Final = 100


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create()


@pytest.fixture
def provider(tmp_path: Path) -> FiledProvider:
    return FiledProvider(str(tmp_path))


def paid(account: ProviderAccount, order_no: str = "A", amount_minor: int = 10_000) -> Order:
    return paid_order(account, order_no, amount_minor)


def test_refunds_that_race_never_exceed_what_was_paid(account: ProviderAccount, crew: Crew) -> None:
    for number in range(ROUNDS):
        order_no = f"A-{number}"
        paid(account, order_no)
        wishes = [partial(ask, account, f"R-{number}-{wish}", 6_000, order_no) for wish in range(4)]

        answers = crew.race(*wishes, spread=0.002)

        assert sorted(answers) == ["EXCEEDS", "EXCEEDS", "EXCEEDS", "REQUESTED"]
        assert room_of(f"pi_{order_no}") == (6_000, 0, 0)
    tally["rounds of racing refunds"] += ROUNDS
    assert Refund.objects.count() == ROUNDS
    assert_books_balance()


def test_small_refunds_that_race_fill_the_payment_and_no_more(
    account: ProviderAccount, crew: Crew
) -> None:
    paid(account)
    wishes = [partial(ask, account, f"R-{number}", 700, "A") for number in range(20)]

    answers = crew.race(*wishes)

    assert (answers.count("REQUESTED"), answers.count("EXCEEDS")) == (14, 6)
    assert room_of("pi_A") == (9_800, 0, 0)
    assert_books_balance()


def test_one_refund_asked_for_many_times_at_once_is_one_refund(
    account: ProviderAccount, crew: Crew
) -> None:
    for number in range(20):
        paid(account, f"A-{number}")
        wish = partial(ask, account, f"R-{number}", None, f"A-{number}")
        assert set(crew.race(*[wish] * 8)) == {"REQUESTED"}
    assert Refund.objects.count() == 20
    assert_books_balance()


def test_many_senders_send_each_refund_once(
    account: ProviderAccount, crew: Crew, provider: FiledProvider
) -> None:
    for number in range(30):
        paid(account, f"A-{number}")
        ask(account, f"R-{number}", None, f"A-{number}")

    answers = crew.race(*[partial(send, provider)] * 8)

    assert sum(found.get("SUCCEEDED", 0) for found in answers) == 30
    assert set(provider.requests().values()) == {1}
    assert len(provider.executed()) == 30
    assert set(Refund.objects.values_list("status", flat=True)) == {"SUCCEEDED"}
    assert_books_balance()


def test_the_answer_its_callbacks_and_its_totals_race_and_count_once(
    account: ProviderAccount, crew: Crew, provider: FiledProvider
) -> None:
    for number in range(40):
        order_no = f"A-{number}"
        paid(account, order_no)
        ask(account, f"R-{number}", 3_000, order_no)
        about: dict[str, Any] = {"reverses": f"pi_{order_no}"}
        one = refunded(f"re_R-{number}", 3_000, refund_no=f"R-{number}", **about)
        nameless = refunded(f"re_R-{number}", 3_000, **about)
        sum_ = total(3_000, **about | {"txn_no": f"ch_{number}"})

        crew.race(
            partial(send, provider),
            *(partial(deliver, account, told) for told in (one, one, nameless, sum_)),
            spread=0.004,
        )
        let_leases_end()
        until_done(provider)

        assert room_of(f"pi_{order_no}") == (3_000, 3_000, 0)
        order = account.merchant.orders.get(order_no=order_no)
        assert (order.status, order.refunded_minor) == ("PAID", 3_000)
    assert set(provider.requests().values()) <= {1}
    assert_books_balance()


def test_refunds_and_a_dispute_that_race_never_take_more_than_was_paid(
    account: ProviderAccount, crew: Crew
) -> None:
    for number in range(40):
        order_no = f"A-{number}"
        paid(account, order_no)
        dispute = refunded(f"du_{number}", 7_000, kind=Kind.DISPUTED, reverses=f"pi_{order_no}")
        crew.race(
            partial(deliver, account, dispute),
            partial(ask, account, f"R-{number}", 3_500, order_no),
            spread=0.002,
        )
        reserved, _, charged_back = room_of(f"pi_{order_no}")
        assert (reserved, charged_back) in {(0, 7_000), (3_500, 6_500)}
    assert_books_balance()


def test_room_that_is_freed_while_others_take_it_is_given_once(
    account: ProviderAccount, crew: Crew
) -> None:
    later = NOW + timedelta(hours=1)
    for number in range(20):
        order_no = f"A-{number}"
        paid(account, order_no)
        about: dict[str, Any] = {"reverses": f"pi_{order_no}"}
        deliver(account, refunded(f"re_{number}", 6_000, **about))
        deliver(account, refunded(f"rw_{number}", 5_000, **about))
        frees = refunded(f"re_{number}", 6_000, kind=Kind.REFUND_FAILED, occurred_at=later, **about)
        dispute = refunded(f"du_{number}", 4_000, kind=Kind.DISPUTED, **about)

        crew.race(
            partial(deliver, account, frees),
            partial(deliver, account, refunded(f"rx_{number}", 3_000, **about)),
            partial(deliver, account, dispute),
            spread=0.004,
        )

        reserved, given, charged_back = room_of(f"pi_{order_no}")
        assert (reserved, given + charged_back) == (given, 10_000)
        waited = ProviderTransaction.objects.get(txn_no=f"rw_{number}")
        assert waited.counted_minor == 5_000
    assert_books_balance()


# --- Kills ---

Scene = Callable[[ProviderAccount, FiledProvider], Call]


def requesting(account: ProviderAccount, _: FiledProvider) -> Call:
    return partial(ask, account, "R-1", 3_000, "A")


def sending(account: ProviderAccount, provider: FiledProvider) -> Call:
    ask(account, "R-1", 3_000, "A")
    return partial(send, provider)


def recovering(account: ProviderAccount, provider: FiledProvider) -> Call:
    """The refund was executed, and its answer was lost."""
    ask(account, "R-1", 3_000, "A")
    lost = FiledProvider(provider.folder)
    claim_and_lose(lost)
    return partial(send_or_ask, provider)


def recovering_what_never_arrived(account: ProviderAccount, provider: FiledProvider) -> Call:
    ask(account, "R-1", 3_000, "A")
    claim_and_lose(None)
    return partial(send_or_ask, provider)


def being_told(account: ProviderAccount, _: FiledProvider) -> Call:
    ask(account, "R-1", 3_000, "A")
    return _told(account, refunded("re_R-1", 3_000, refund_no="R-1", reverses="pi_A"))


def being_told_of_another(account: ProviderAccount, _: FiledProvider) -> Call:
    return _told(account, refunded("re_9", 3_000, reverses="pi_A"))


def being_told_a_total(account: ProviderAccount, _: FiledProvider) -> Call:
    return _told(account, total(3_000, reverses="pi_A"))


def being_told_early(account: ProviderAccount, _: FiledProvider) -> Call:
    told = refunded("re_9", 3_000, reverses="pi_B")
    deliver(account, told)
    place(account.merchant, "B", 10_000)
    paid_late = refunded(
        "pi_B", 10_000, kind=Kind.PAID, reverses="", order_no="B", event_type="payment.paid"
    )
    return _told(account, paid_late)


def being_told_it_failed(account: ProviderAccount, provider: FiledProvider) -> Call:
    ask(account, "R-1", 3_000, "A")
    send(provider)
    return _told(account, refunded("re_R-1", 3_000, kind=Kind.REFUND_FAILED, reverses="pi_A"))


def being_told_of_a_dispute(account: ProviderAccount, _: FiledProvider) -> Call:
    return _told(account, refunded("du_1", 3_000, kind=Kind.DISPUTED, reverses="pi_A"))


def _told(account: ProviderAccount, told: Callback) -> Call:
    return partial(deliver, account, told)


def claim_and_lose(provider: FiledProvider | None) -> None:
    """As if a sender had died after its request was executed, or before it was made."""
    claim = lifecycle.claim_to_send(timedelta(minutes=1))
    assert claim is not None
    if provider is not None:
        asking.send(claim.refund_id, provider)
    let_leases_end()


#: How rooms of pi_A (or pi_B) end, and how many refunds the provider has executed.
ENDS: Final[dict[Scene, tuple[tuple[int, int, int], int]]] = {
    requesting: ((3_000, 3_000, 0), 1),
    sending: ((3_000, 3_000, 0), 1),
    recovering: ((3_000, 3_000, 0), 1),
    recovering_what_never_arrived: ((3_000, 3_000, 0), 1),
    being_told: ((3_000, 3_000, 0), 0),
    being_told_of_another: ((3_000, 3_000, 0), 0),
    being_told_a_total: ((3_000, 3_000, 0), 0),
    being_told_early: ((3_000, 3_000, 0), 0),
    being_told_it_failed: ((0, 0, 0), 1),
    being_told_of_a_dispute: ((0, 0, 3_000), 0),
}


@pytest.mark.parametrize("scene", ENDS, ids=lambda scene: scene.__name__)
def test_a_kill_at_any_boundary_loses_no_refund_and_doubles_none(
    nursery: Nursery, onlooker: Onlooker, tmp_path: Path, scene: Scene
) -> None:
    for number in range(1, _boundaries(scene, tmp_path) + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        provider = FiledProvider(str(folder))
        account = ProviderAccountFactory.create()
        paid(account)
        work = scene(account, provider)
        with nursery.hire() as line:
            line.send(killed_at(number, work))
            line.send(0.0)
            with contextlib.suppress(EOFError, ConnectionResetError):
                answer(line)
        onlooker.do(wait_until_gone)
        assert_books_balance()

        work()
        let_leases_end()
        make_due()
        until_done(provider)

        end, executed = ENDS[scene]
        txn_no = "pi_B" if scene is being_told_early else "pi_A"
        row = ProviderTransaction.objects.get(account=account, txn_no=txn_no)
        room = (row.refund_reserved_minor, row.refunded_minor, row.charged_back_minor)
        assert (room, len(provider.executed())) == (end, executed)
        tally["kills of refunds at each boundary"] += 1
    assert_books_balance()


def _boundaries(scene: Scene, folder: Path) -> int:
    """How many boundaries the work has where nothing interrupts it; nothing is left due."""
    provider, account = FiledProvider(str(folder)), ProviderAccountFactory.create()
    paid(account)
    found = count_boundaries(scene(account, provider))
    let_leases_end()
    until_done(provider)
    return len(found)


# --- Paused past the lease ---


@pytest.mark.parametrize("stop", ["before", "after"])
def test_a_sender_paused_past_its_lease_changes_nothing_when_it_wakes(
    account: ProviderAccount, nursery: Nursery, provider: FiledProvider, stop: str
) -> None:
    paid(account)
    ask(account, "R-1", 3_000, "A")
    stopping = FiledProvider(
        provider.folder, stops_before=stop == "before", stops_after=stop == "after"
    )
    lease = timedelta(milliseconds=50)
    with nursery.hire() as line:
        line.send(os.getpid)
        line.send(0.0)
        pid = answer(line)
        line.send(partial(send, stopping, lease))
        line.send(0.0)
        _wait_until_stopped(pid)
        time.sleep(0.1)  # The lease is the database's time.
        until_done(provider)
        settled = Refund.objects.get()
        assert settled.status == "SUCCEEDED"
        os.kill(pid, signal.SIGCONT)

        assert answer(line) == {"LOST": 1}

    refund = Refund.objects.get()
    assert (refund.fence, refund.version) == (settled.fence, settled.version)
    assert provider.executed() == {"R-1": 3_000}
    assert room_of("pi_A") == (3_000, 3_000, 0)
    assert_books_balance()


def _wait_until_stopped(pid: int) -> None:
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < deadline
        time.sleep(0.005)


# --- All of it at random ---


@pytest.mark.parametrize("day", range(3))
def test_days_of_refunds_killed_at_random_end_as_the_provider_says(
    account: ProviderAccount, nursery: Nursery, provider: FiledProvider, day: int
) -> None:
    random = Random(SEED + day)  # noqa: S311 - no secret
    tally[f"random kills of refunds, SEED={SEED}"] += 0
    orders = [f"A-{number}" for number in range(12)]
    for order_no in orders:
        paid(account, order_no)
    works: list[Call] = []
    for number, order_no in enumerate(orders * 2):
        works.append(partial(ask, account, f"R-{number}", random.randint(1, 7_000), order_no))
        works += [partial(send_or_ask, provider)] * 2
    random.shuffle(works)
    for work in works:
        with nursery.hire() as line:
            line.send(killed_at(random.randint(1, 60), work))
            line.send(0.0)
            with contextlib.suppress(EOFError, ConnectionResetError):
                answer(line)
                continue
        tally[f"random kills of refunds, SEED={SEED}"] += 1
        let_leases_end()
        make_due()
    wait_until_gone()
    assert_books_balance()

    for work in works:
        work()
        let_leases_end()
        make_due()
    until_done(provider)

    done = Refund.objects.filter(status="SUCCEEDED").values_list("refund_no", "amount_minor")
    assert dict(done) == provider.executed()
    assert not Refund.objects.exclude(status="SUCCEEDED").exists()
    given_back = sum(
        ProviderTransaction.objects.filter(kind="PAYMENT").values_list("refunded_minor", flat=True)
    )
    assert given_back == sum(provider.executed().values())
    assert_books_balance()
