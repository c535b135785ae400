"""News of refunds and disputes at random, in any order: the books are what the facts say together.

A model remembers every fact and adds them up by the rules of docs/refunds.md, without rooms, rows
or steps. MODEL_COURSES=500 makes that many courses of events, and new ones.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from orders.money import Money
from payments.callback import Kind
from payments.models import ProviderTransaction, Refund
from payments.refunds.carry_out import carry_out
from payments.refunds.recover import recover
from payments.refunds.request import NotRefundable, RefundExceeds, request
from tests.concurrency.deeds import place
from tests.factories import ProviderAccountFactory
from tests.invariants import broken_rules
from tests.payments.refunds.asking import asked, let_leases_end, make_due
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

COURSES = os.environ.get("MODEL_COURSES", "")
PAID = 1_000
AMOUNTS = {"e1": 300, "e2": 700, "e3": 900, "d1": 400, "d2": 1_000}
TIMES = st.sampled_from([None, NOW, NOW + timedelta(hours=1), NOW + timedelta(hours=2)])
SINGLES = st.sampled_from(["e1", "e2", "e3"])


@dataclass
class Told:
    """A refund of some number: the last words of its provider, and when it was asked for here."""

    amount: int
    succeeded: bool = False
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    failure_told: datetime | None = None
    asked: datetime | None = None
    is_settled: bool = True
    #: Whether any news of it has stated its amount.
    is_known: bool = False

    @property
    def stands(self) -> bool:
        if not self.succeeded or self.failure_told is None:
            return self.succeeded
        times = self.succeeded_at, self.failed_at
        return None not in times and times[1] < times[0]  # type: ignore[operator]

    def hear_failure(self, at: datetime | None, now: datetime) -> None:
        # One without a time may be later than any.
        if self.failure_told is not None:
            at = max(at, self.failed_at) if at and self.failed_at else None
        self.failed_at = at
        self.failure_told = self.failure_told or now


@dataclass
class Sum:
    """A total that was told: when it was true, and when we were told."""

    amount: int
    at: datetime | None
    told: datetime

    def had(self, one: Told) -> bool:
        """Whether the refund, which has failed since, may have been in it."""
        if self.at and one.failed_at and self.at != one.failed_at:
            return self.at < one.failed_at
        return one.failure_told is not None and self.told <= one.failure_told


@dataclass
class Facts:
    """All that was told, in the order of its first news."""

    singles: dict[str, Told] = field(default_factory=dict)
    totals: dict[int, Sum] = field(default_factory=dict)
    disputes: dict[str, set[Kind]] = field(default_factory=dict)

    def refunded(self) -> int:
        standing = [one for one in self.singles.values() if one.stands]
        return sum(one.amount for one in standing) + max(
            [0, *(self._unexplained(total, standing) for total in self.totals.values())]
        )

    def _unexplained(self, total: Sum, standing: list[Told]) -> int:
        def may_have(one: Told) -> bool:
            return one.asked is None or total.told >= one.asked

        left = total.amount - sum(one.amount for one in standing if may_have(one))
        for one in self.singles.values():
            gone = one.failure_told is not None and not one.stands and one.is_known
            if gone and may_have(one) and total.had(one) and one.amount <= left:
                left -= one.amount
        return left

    def charged_back(self) -> int:
        return sum(
            AMOUNTS[number]
            for number, told in self.disputes.items()
            if Kind.DISPUTE_LOST in told or told == {Kind.DISPUTED}
        )


class Courses(RuleBasedStateMachine):
    """One payment of 1,000, whose callback may come at any time."""

    @initialize(is_known=st.booleans())
    def open(self, is_known: bool) -> None:
        self.account = ProviderAccountFactory.create()
        self.now = NOW + timedelta(days=1)
        self.facts = Facts()
        self.ours: dict[str, Told] = {}
        place(self.account.merchant, "1001", PAID)
        if is_known:
            self.pay()

    @rule()
    def pay(self) -> None:
        self._tell(Kind.PAID, "pi_1001", PAID, reverses="", order_no="1001", occurred_at=NOW)

    # --- what others do ---

    @rule(number=SINGLES, at=TIMES)
    def a_refund(self, number: str, at: datetime | None) -> None:
        self._tell(Kind.REFUNDED, number, AMOUNTS[number], occurred_at=at)
        one = self.facts.singles.setdefault(number, Told(AMOUNTS[number]))
        one.succeeded = one.is_known = True
        one.succeeded_at = max(filter(None, (one.succeeded_at, at)), default=None)

    @rule(number=SINGLES, at=TIMES, states_money=st.booleans())
    def a_refund_failed(
        self, number: str, at: datetime | None, *, states_money: bool = True
    ) -> None:
        amount = AMOUNTS[number] if states_money else None
        self._tell(Kind.REFUND_FAILED, number, amount, occurred_at=at)
        one = self.facts.singles.setdefault(number, Told(AMOUNTS[number]))
        one.is_known |= states_money
        one.hear_failure(at if states_money else None, self.now)

    @rule(amount=st.sampled_from([300, 700, 1_000, 1_300]), at=TIMES)
    def a_total(self, amount: int, at: datetime | None) -> None:
        self._tell(Kind.REFUNDED, "ch_1", amount, cumulative=True, occurred_at=at)
        total = self.facts.totals.setdefault(amount, Sum(amount, at, self.now))
        total.at = max(filter(None, (total.at, at)), default=None)

    @rule(
        number=st.sampled_from(["d1", "d2"]),
        kind=st.sampled_from([Kind.DISPUTED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST]),
    )
    def a_dispute(self, number: str, kind: Kind) -> None:
        self._tell(kind, number, AMOUNTS[number])
        self.facts.disputes.setdefault(number, set()).add(kind)

    # --- what we do ---

    @rule(amount=st.sampled_from([200, 500, 1_000, None]))
    def ask(self, amount: int | None) -> None:
        number = f"R-{self.account.pk}-{len(self.ours)}"
        self.now += timedelta(seconds=1)
        try:
            done = request(
                merchant=self.account.merchant, asked=asked(number, amount), now=self.now
            )
        except (NotRefundable, RefundExceeds):
            return
        self.ours[number] = Told(done.refund.amount_minor, asked=self.now, is_settled=False)

    @rule(answer=st.sampled_from([{}, {"refuses": True}, {"loses_reply": True}]))
    def carry_out(self, answer: dict[str, Any]) -> None:
        self.now += timedelta(seconds=1)
        provider = ProviderDouble(**answer)
        carry_out(provider, now=self.now)
        if "loses_reply" in answer:
            let_leases_end()
            recover(provider, now=self.now)
        for number, one in self.ours.items():
            if not one.is_settled and "refuses" in answer:
                one.is_settled = True
            elif not one.is_settled:
                self._ours_succeeded(number, one)

    @rule(place=st.integers(0, 2))
    def ours_succeeded(self, place: int) -> None:
        for number in list(self.ours)[place : place + 1]:
            one, about = self.ours[number], {"refund_no": number, "occurred_at": None}
            self._tell(Kind.REFUNDED, f"re_{number}", one.amount, **about)
            if not one.succeeded:
                self._ours_succeeded(number, one)

    def _ours_succeeded(self, number: str, one: Told) -> None:
        one.is_settled = one.succeeded = one.is_known = True
        self.facts.singles[f"re_{number}"] = one

    @rule(place=st.integers(0, 2))
    def ours_failed(self, place: int) -> None:
        for number in list(self.ours)[place : place + 1]:
            one, about = self.ours[number], {"refund_no": number, "occurred_at": None}
            self._tell(Kind.REFUND_FAILED, f"re_{number}", one.amount, **about)
            if one.succeeded:
                one.hear_failure(None, self.now)
            one.is_settled = True

    def _tell(self, kind: Kind, number: str, amount: int | None, **values: Any) -> None:
        self.now += timedelta(seconds=1)
        usual: dict[str, Any] = {"reverses": "pi_1001", "order_no": None, "occurred_at": NOW}
        money = None if amount is None else Money(amount, "USD")
        told = callback(kind, txn_no=number, money=money, **usual | values)
        tell_one(self.account, told, now=self.now)

    # --- what must be true ---

    @invariant()
    def the_books_are_what_the_facts_say(self) -> None:
        row = ProviderTransaction.objects.filter(account=self.account, kind="PAYMENT").first()
        if row is None:
            return
        under_way = sum(one.amount for one in self.ours.values() if not one.is_settled)
        owed = self.facts.refunded() + self.facts.charged_back()
        taken = row.refunded_minor + row.charged_back_minor
        assert row.refunded_minor <= self.facts.refunded()
        assert row.charged_back_minor <= self.facts.charged_back()
        if not under_way:
            assert row.refund_reserved_minor == row.refunded_minor
            assert taken == min(PAID, owed)
        free = PAID - row.refund_reserved_minor - row.charged_back_minor
        assert free >= 0
        assert taken == owed or free == 0
        assert row.refund_reserved_minor - row.refunded_minor <= under_way

    def teardown(self) -> None:
        make_due()
        carry_out(ProviderDouble(), now=self.now)
        assert not Refund.objects.filter(status__in=["REQUESTED", "PROCESSING"]).exists()
        assert broken_rules() == {}


@pytest.mark.django_db(transaction=True)
def test_a_failure_told_without_a_time_counts_whatever_is_told_with_one() -> None:
    def told(hours: int) -> datetime:
        return NOW + timedelta(hours=hours)

    course = Courses()
    course.open(is_known=True)
    steps: list[tuple[Callable[..., None], *tuple[Any, ...]]] = [
        (course.a_refund, "e3", told(2)),
        (course.a_refund_failed, "e1", told(1)),
        (course.a_refund_failed, "e2", told(2)),
        (course.a_refund, "e1", told(0)),
        (course.a_refund, "e1", told(1)),
        (course.a_refund_failed, "e3", None),
        (course.a_dispute, "d1", Kind.DISPUTE_LOST),
        (course.a_dispute, "d1", Kind.DISPUTE_WON),
        (course.a_refund_failed, "e3", told(1)),
    ]
    for step, *values in steps:
        step(*values)
        course.the_books_are_what_the_facts_say()
    course.teardown()


@pytest.mark.django_db(transaction=True)
def test_the_books_are_what_was_told_in_whatever_order() -> None:
    run_state_machine_as_test(
        Courses,
        settings=settings(
            max_examples=int(COURSES or 20),
            stateful_step_count=14,
            deadline=None,
            derandomize=not COURSES,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
