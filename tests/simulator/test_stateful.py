"""Orders, callbacks, refunds and disputes at random: no minor unit is lost, or given twice.

A simple model knows who paid and what was given back by each rule; the simulator's books know the
same from their side, and the service's database must agree with both, at every step as a bound
and in the end exactly.

MODEL_COURSES=500 makes that many courses of events, and new ones, instead of a few known ones.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from config.simulator import check, predicted
from config.simulator.accounts import Account
from config.simulator.refunds import counters
from payments.models import Refund
from tests.invariants import broken_rules
from tests.simulator.running import Simulator, running
from tests.simulator.world import World

COURSES = os.environ.get("MODEL_COURSES", "")
STEPS = 30
ORDERS = st.sampled_from(["O-1", "O-2", "O-3"])
PRICE = 1000
AMOUNTS = st.sampled_from([1, 400, 600, PRICE])
#: How the next refund goes at the provider.
TROUBLES: list[dict[str, Any]] = [
    {},
    {"drop_reply": 1},
    {"status": 500},
    {"status": 429},
    {"not_found": 1},
    {"pending": 5},
    {"fail": 5},
    {"reverse": 5},
    {"hidden": 1},
]
TROUBLE = st.sampled_from(TROUBLES)
TROUBLES_BY_HAND: list[dict[str, Any]] = [{}, {}, {"pending": 5}, {"fail": 5}, {"reverse": 5}]


@pytest.fixture
def world_of(tmp_path: Path, transactional_db: None) -> Iterator[tuple[Simulator, list[Account]]]:
    accounts: list[Account] = []
    with running(tmp_path / "books.sqlite3", lambda: accounts, sends=False) as simulator:
        yield simulator, accounts


class Events(RuleBasedStateMachine):
    """One world from its beginning to its end; the simulator is the same for all of them."""

    simulator: ClassVar[Simulator]
    accounts: ClassVar[list[Account]]

    payments = Bundle("payments")

    @initialize(target=payments)
    def open(self) -> str:
        self.world = World(self.simulator, self.accounts)
        self.refunds = 0
        self.paid: dict[str, int] = {}
        self.world.place("O-1", PRICE)
        return self._pay("O-1", 0, told=True)

    # --- the merchant ---

    @rule(order_no=ORDERS)
    def place(self, order_no: str) -> None:
        self.world.place(order_no, PRICE)

    @rule(order_no=ORDERS)
    def close(self, order_no: str) -> None:
        self.world.close(order_no)

    @rule(payment=payments, amount_minor=st.one_of(st.none(), AMOUNTS))
    def ask_refund(self, payment: str, amount_minor: int | None) -> None:
        self._ask_refund(payment, amount_minor)

    def _ask_refund(self, payment: str, amount_minor: int | None) -> None:
        self.refunds += 1
        self.world.ask_refund(f"R-{self.refunds}", payment, amount_minor)

    @rule(payment=payments, amounts=st.lists(AMOUNTS, max_size=3), trouble=TROUBLE)
    def refund(self, payment: str, amounts: list[int], trouble: dict[str, Any]) -> None:
        for amount_minor in amounts:
            self._ask_refund(payment, amount_minor)
        self._carry_out(trouble)

    # --- payers, their banks, and the merchant at the provider's dashboard ---

    @rule(
        target=payments,
        order_no=ORDERS,
        other=st.sampled_from([0, 0, 0, 1, 999, 1001]),
        told=st.booleans(),
    )
    def pay(self, order_no: str, other: int, told: bool) -> str:
        return self._pay(order_no, other, told=told)

    def _pay(self, order_no: str, other: int, *, told: bool) -> str:
        switches = {"wrong_amount": other} if other else {}
        number = self.world.pay(order_no, PRICE, **switches)
        self.paid[number] = other or PRICE
        if told:
            self.world.deliver(self.world.unsent()[-1])
        return number

    @rule(
        payment=payments,
        amount_minor=AMOUNTS,
        trouble=st.sampled_from(TROUBLES_BY_HAND),
        overtakes=st.booleans(),
    )
    def refund_by_hand(
        self, payment: str, amount_minor: int, trouble: dict[str, Any], overtakes: bool
    ) -> None:
        self.world.refund_by_hand(payment, amount_minor, **trouble)
        if overtakes:
            for callback in self.world.unsent()[-1:]:
                self.world.deliver(callback)

    @rule(
        payment=payments,
        amount_minor=AMOUNTS,
        ends=st.sampled_from([[], ["won"], ["lost"]]),
    )
    def dispute(self, payment: str, amount_minor: int, ends: list[str]) -> None:
        path = f"/api/payments/{payment}/disputes"
        told = self.world.call("POST", path, {"amount_minor": amount_minor})
        for end in ends if "dispute" in told else []:
            self.world.call("POST", f"/api/disputes/{told['dispute']['id']}/{end}")

    # --- the road ---

    @rule(places=st.lists(st.integers(0, 99), min_size=1, max_size=4), again=st.booleans())
    def deliver_some(self, places: list[int], again: bool) -> None:
        for place in places:
            unsent = self.world.unsent()
            if unsent:
                self.world.deliver(unsent[place % len(unsent)], again=again)

    @rule()
    def settle(self) -> None:
        self.world.settle()

    # --- the service's clock ---

    @rule(trouble=TROUBLE)
    def carry_out(self, trouble: dict[str, Any]) -> None:
        self._carry_out(trouble)

    def _carry_out(self, trouble: dict[str, Any]) -> None:
        self.world.next_refund_goes(**trouble)
        self.world.carry_out()
        self.world.next_refund_goes()

    @rule(trouble=st.sampled_from([{}, {}, {"status": 500}, {"not_found": 1}]))
    def recover(self, trouble: dict[str, Any]) -> None:
        self.world.call("PUT", "/api/scenarios/query_refund", {"switches": trouble})
        self.world.recover()

    # --- what must be true at every moment ---

    @invariant()
    def nothing_is_given_back_that_was_not_taken(self) -> None:
        for row in self.world.rows():
            assert row.amount_minor == self.paid[row.txn_no]
            assert row.refund_reserved_minor + row.charged_back_minor <= row.amount_minor

    @invariant()
    def no_refund_is_carried_out_twice(self) -> None:
        counted = counters(self.simulator.store, self.world.account_no)
        assert all(count["executed"] <= 1 for count in counted.values())

    def teardown(self) -> None:
        world = self.world
        world.heal()
        findings = check.compare(self.simulator.store, final=True)
        assert findings.differences == []
        assert world.open_refunds() == 0
        assert broken_rules() == {}
        self.money_is_conserved(findings.asked)
        world.end()

    def money_is_conserved(self, asked: list[str]) -> None:
        """Taken is what is kept and what went back, on both sides, to the minor unit."""
        books = predicted.payments(self.simulator.store, world_no := self.world.account_no)
        taken = {
            number: one.itself.money.amount_minor
            for number, one in books.items()
            if one.itself.status == "succeeded"
        }
        assert taken == self.paid, world_no
        rows = {row.txn_no: row for row in self.world.rows()}
        assert {number: row.amount_minor for number, row in rows.items()} == taken
        for number, one in books.items():
            if number in rows and not any(number in sentence for sentence in asked):
                assert rows[number].refunded_minor == one.refunded_minor
                assert rows[number].refund_reserved_minor == one.refunded_minor
                assert rows[number].charged_back_minor == one.charged_back_minor
        ours = Refund.objects.filter(account=self.world.row, status="SUCCEEDED")
        given = {
            refund.refund_no: refund.money.amount_minor
            for one in books.values()
            for refund in one.refunds
            if refund.refund_no and refund.status == "succeeded"
        }
        booked = dict(ours.values_list("refund_no", "amount_minor"))
        assert booked.items() <= given.items()
        if not asked:
            assert booked == given


def test_money_is_conserved_whatever_happens(world_of: tuple[Simulator, list[Account]]) -> None:
    Events.simulator, Events.accounts = world_of
    run_state_machine_as_test(
        Events,
        settings=settings(
            max_examples=int(COURSES or 8),
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not COURSES,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
