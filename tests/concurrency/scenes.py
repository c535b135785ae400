"""Pieces of work to interrupt: each with the rows that it starts from, and what is done after."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from payments.callback import Unreadable
from payments.models import ProviderAccount
from tests.concurrency.boundaries import at_each_boundary
from tests.concurrency.crew import Call
from tests.concurrency.deeds import GRACE, close, deliver, expire, place, sweep_parked
from tests.concurrency.onlooker import Facts, Onlooker
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.payments.telling import NOW, callback

#: Makes the rows that the work starts from; returns the work, which is also what is done again.
Scene = Callable[[ProviderAccount], Call]


def _order(account: ProviderAccount, order_no: str = "A", **others: Any) -> None:
    OrderFactory.create(merchant=account.merchant, order_no=order_no, **others)


def _paid(account: ProviderAccount, **others: Any) -> Call:
    return partial(deliver, account, callback(**{"order_no": "A", "txn_no": "pi_1"} | others))


def first_delivery(account: ProviderAccount) -> Call:
    _order(account)
    return _paid(account)


def repeat(account: ProviderAccount) -> Call:
    _order(account)
    _paid(account)()
    return _paid(account)


def wrong_amount(account: ProviderAccount) -> Call:
    _order(account)
    return _paid(account, amount_minor=1)


def altered(account: ProviderAccount) -> Call:
    _order(account)
    _paid(account)()
    return _paid(account, amount_minor=1)


def second_payment(account: ProviderAccount) -> Call:
    _order(account)
    _paid(account)()
    return _paid(account, txn_no="pi_2")


def late(account: ProviderAccount) -> Call:
    _order(account)
    close(account.merchant, "A")
    return _paid(account)


def parked(account: ProviderAccount) -> Call:
    return _paid(account)


def named_later(account: ProviderAccount) -> Call:
    _order(account)
    _paid(account, order_no=None)()
    return _paid(account)


def batch(account: ProviderAccount) -> Call:
    _order(account)
    _order(account, "B")
    readings = [
        callback(order_no=order_no, txn_no=f"pi_{order_no}", amount_minor=amount_minor)
        for order_no, amount_minor in (("C", 1099), ("B", 1), ("A", 1099))
    ]
    return partial(deliver, account, *readings, Unreadable("not an object"))


def placing(account: ProviderAccount) -> Call:
    _paid(account)()
    _paid(account, txn_no="pi_2")()
    return partial(place, account.merchant, "A")


def closing(account: ProviderAccount) -> Call:
    _order(account)
    return partial(close, account.merchant, "A")


def expiring(account: ProviderAccount) -> Call:
    for order_no in "AB":
        _order(account, order_no, expires_at=NOW)
    return expire


def sweeping(account: ProviderAccount) -> Call:
    for order_no in "ABC":
        _paid(account, order_no=order_no, txn_no=f"pi_{order_no}")()
    for order_no in "AB":
        _order(account, order_no)
    return partial(sweep_parked, NOW + GRACE)


DELIVERIES: Final[tuple[Scene, ...]] = (
    *(first_delivery, repeat, wrong_amount, altered, second_payment, late, parked, named_later),
    batch,
)
#: Each scene, and how its orders and conflicts stand when the work has been done, twice.
ENDS: Final[Mapping[Scene, tuple[list[str], list[str]]]] = {
    first_delivery: (["PAID"], []),
    repeat: (["PAID"], []),
    wrong_amount: (["WAIT_PAY"], ["AMOUNT_MISMATCH"]),
    altered: (["PAID"], ["TRANSACTION_ALTERED"]),
    second_payment: (["PAID"], ["DUPLICATE_PAYMENT"]),
    late: (["CLOSED"], ["LATE_PAYMENT"]),
    parked: ([], []),
    named_later: (["PAID"], []),
    batch: (["PAID", "WAIT_PAY"], ["AMOUNT_MISMATCH"]),
    placing: (["PAID"], ["DUPLICATE_PAYMENT"]),
    closing: (["CLOSED"], []),
    expiring: (["CLOSED", "CLOSED"], []),
    sweeping: (["PAID", "PAID"], ["ORDER_NOT_FOUND"]),
}


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A scene that nothing interrupts: what is committed at each boundary, and how it ends."""

    boundaries: list[str]
    committed: list[Facts]
    answer: Any
    answer_again: Any
    end: Facts

    def committed_with(self, number: int) -> list[Facts]:
        """What may be found after an end at this boundary: a COMMIT on its way may arrive."""
        place = number - 1
        reached = 2 if "on its way" in self.boundaries[place] else 1
        return self.committed[place : place + reached]

    def answer_after(self, left: Facts) -> Any:
        """What the work answers when it is done again after an end that left this."""
        return self.answer if left == self.committed[0] else self.answer_again


def rehearse(scene: Scene, onlooker: Onlooker) -> Rehearsal:
    """Play the scene to its end."""
    account = ProviderAccountFactory.create()
    work = scene(account)
    boundaries: list[str] = []
    committed: list[Facts] = []

    def look(_number: int, name: str) -> None:
        boundaries.append(name)
        committed.append(onlooker.facts(account.merchant))

    with at_each_boundary(look):
        answer = work()
    answer_again = work()
    end = onlooker.facts(account.merchant)
    statuses, reasons = ENDS[scene]
    assert [status for _, status, _, _ in end["orders"]] == statuses
    assert [reason for reason, _, _ in end["conflicts"]] == reasons
    return Rehearsal(
        boundaries=boundaries,
        committed=committed,
        answer=answer,
        answer_again=answer_again,
        end=end,
    )


def assert_ends_as_rehearsed(end: Facts, left: Facts, rehearsal: Rehearsal) -> None:
    """The same end as if nothing had happened, apart from the deliveries that did not arrive."""
    assert _without_deliveries(end) == _without_deliveries(rehearsal.end)
    once = len(rehearsal.end["deliveries"]) - len(rehearsal.committed[-1]["deliveries"])
    assert end["deliveries"][: len(left["deliveries"])] == left["deliveries"]
    assert len(end["deliveries"]) == len(left["deliveries"]) + once


def _without_deliveries(facts: Facts) -> Facts:
    return {name: rows for name, rows in facts.items() if name != "deliveries"}
