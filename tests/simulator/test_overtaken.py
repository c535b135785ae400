"""News that overtake each other: who tells of a refund first matters not, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.simulator import check
from config.simulator.accounts import Account
from payments.models import Conflict, ProviderTransaction, Refund
from tests.simulator.running import running
from tests.simulator.world import World


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> Iterator[World]:
    accounts: list[Account] = []
    with running(tmp_path / "books.sqlite3", lambda: accounts, sends=False) as simulator:
        yield World(simulator, accounts)


def paid(world: World) -> str:
    world.place("O-1", 1000)
    number = world.pay("O-1", 1000)
    deliver_all(world)
    return number


def deliver_all(world: World) -> None:
    for callback in world.unsent():
        world.deliver(callback)


def test_a_callback_that_overtakes_the_answer_is_of_the_refund_that_was_asked_for(
    world: World,
) -> None:
    number = paid(world)
    assert world.ask_refund("R-1", number, 400)
    world.next_refund_goes(drop_reply=1)
    world.carry_out()
    assert Refund.objects.get().status == "PROCESSING"

    deliver_all(world)

    refund = Refund.objects.get()
    assert (refund.status, refund.transaction is not None) == ("SUCCEEDED", True)
    assert not Conflict.objects.exists(), "nobody is asked who wanted it"
    assert check.compare(world.simulator.store, final=True).differences == []


def test_a_refund_that_overtakes_its_payment_is_counted_when_that_arrives(world: World) -> None:
    world.place("O-1", 1000)
    number = world.pay("O-1", 1000)
    (payment,) = world.unsent()
    world.refund_by_hand(number, 400)
    (refund,) = [each for each in world.unsent() if each["id"] != payment["id"]]
    world.deliver(refund)
    assert ProviderTransaction.objects.get().disposition == "PARKED"

    world.deliver(payment)

    row = world.rows().get()
    assert (row.refund_reserved_minor, row.refunded_minor) == (400, 400)
    assert ProviderTransaction.objects.get(kind="REFUND").counted_minor == 400
    assert world.orders().get().refunded_minor == 400
    assert check.compare(world.simulator.store, final=True).differences == []
