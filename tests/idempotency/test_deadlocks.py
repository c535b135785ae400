import threading
from functools import partial

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, transaction

from idempotency.deadlocks import ATTEMPTS_MAX, retry_deadlocks
from orders.models import Order
from tests.concurrency.racing import race
from tests.factories import OrderFactory


class Failing:
    """Fails with each of the errors in turn, then succeeds."""

    def __init__(self, *causes: psycopg.Error) -> None:
        self.causes = list(causes)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.causes:
            raise OperationalError from self.causes.pop(0)
        return "done"


@pytest.mark.parametrize(
    "cause", [psycopg.errors.DeadlockDetected(), psycopg.errors.SerializationFailure()]
)
def test_what_left_no_trace_runs_again(cause: psycopg.Error) -> None:
    run = Failing(*[cause] * (ATTEMPTS_MAX - 1))

    assert retry_deadlocks(run) == "done"
    assert run.calls == ATTEMPTS_MAX


def test_it_does_not_run_for_ever() -> None:
    run = Failing(*[psycopg.errors.DeadlockDetected()] * 100)

    with pytest.raises(OperationalError):
        retry_deadlocks(run)

    assert run.calls == ATTEMPTS_MAX


@pytest.mark.parametrize(
    "cause", [psycopg.errors.LockNotAvailable(), psycopg.errors.QueryCanceled(), psycopg.Error()]
)
def test_other_trouble_is_raised_at_once(cause: psycopg.Error) -> None:
    run = Failing(cause)

    with pytest.raises(OperationalError):
        retry_deadlocks(run)

    assert run.calls == 1


def test_an_error_that_is_not_the_connections_is_raised_at_once() -> None:
    calls: list[int] = []

    def run() -> None:
        calls.append(1)
        raise IntegrityError

    with pytest.raises(IntegrityError):
        retry_deadlocks(run)

    assert calls == [1]


@pytest.mark.django_db(transaction=True)
def test_two_that_lock_each_other_out_both_end_well() -> None:
    one, other = OrderFactory.create_batch(2)
    both_hold_one = threading.Barrier(2, timeout=30)
    runs: list[int] = []

    def touch(first: Order, second: Order) -> int:
        @transaction.atomic(durable=True)
        def run() -> int:
            runs.append(first.pk)
            touched = Order.objects.filter(pk=first.pk).update(payable_through="stripe/main")
            if len(runs) <= 2:
                both_hold_one.wait()
            return touched + Order.objects.filter(pk=second.pk).update(payable_through="")

        return retry_deadlocks(run)

    assert race(partial(touch, one, other), partial(touch, other, one)) == [2, 2]
    assert len(runs) > 2
