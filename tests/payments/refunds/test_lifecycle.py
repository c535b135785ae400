"""Every move of a refund obeys the table, whoever makes it."""

from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from payments.models import Refund, RefundStatus
from payments.refunds import lifecycle
from payments.refunds.lifecycle import ENTERED_FROM, Claim, NotThatStatus
from tests.factories import ProviderTransactionFactory, RefundFactory
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db

LEASE = timedelta(minutes=1)
STAMPS: dict[RefundStatus, dict[str, Any]] = {
    RefundStatus.REQUESTED: {},
    RefundStatus.PROCESSING: {"due_at": None, "lease_until": NOW, "sent_at": NOW},
    RefundStatus.SUCCEEDED: {"due_at": None, "finished_at": NOW},
    RefundStatus.FAILED: {"due_at": None, "finished_at": NOW},
}


def refund_in(status: RefundStatus) -> Refund:
    values = dict(STAMPS[status])
    if status is RefundStatus.PROCESSING:
        values["owner_token"] = uuid4()
    if status is RefundStatus.SUCCEEDED:
        values["transaction"] = ProviderTransactionFactory.create()
    return RefundFactory.create(status=status, **values)


@pytest.mark.parametrize(
    ("present", "target"),
    list(product(RefundStatus, (RefundStatus.SUCCEEDED, RefundStatus.FAILED))),
)
def test_a_refund_ends_as_the_table_allows(present: RefundStatus, target: RefundStatus) -> None:
    refund = refund_in(present)
    row = ProviderTransactionFactory.create()
    allowed = present in ENTERED_FROM[target]

    try:
        lifecycle.end(refund, target, transaction_id=row.pk, now=NOW)
    except NotThatStatus:
        assert not allowed
        return

    assert allowed
    stored = Refund.objects.get()
    assert (stored.status, stored.version, refund.version) == (target, 2, 2)


@pytest.mark.parametrize("present", RefundStatus)
def test_only_what_is_due_is_claimed(present: RefundStatus) -> None:
    refund_in(present)

    to_send, to_ask = lifecycle.claim_to_send(LEASE), lifecycle.claim_to_ask(LEASE)

    assert (to_send is not None) == (present is RefundStatus.REQUESTED)
    assert (to_ask is not None) == (present is RefundStatus.PROCESSING)


def test_the_table_knows_every_status() -> None:
    assert set(ENTERED_FROM) == set(RefundStatus)


def test_an_owner_holds_it_until_somebody_else_does() -> None:
    RefundFactory.create()
    first = lifecycle.claim_to_send(timedelta(0))
    second = lifecycle.claim_to_ask(LEASE)
    assert first is not None
    assert second is not None
    assert (first.fence, second.fence) == (1, 2)

    stranger = Claim(row_id=second.row_id, owner=uuid4(), fence=2, asks=0)
    for lost in (first, stranger):
        assert lifecycle.lock_ours(lost) is None
        assert not lifecycle.ask_later(lost, LEASE, why="late")
        assert not lifecycle.not_sent(lost, LEASE, why="late")
        again = lifecycle.send_again(lost, window=timedelta(0), repeatable_for=LEASE, why="late")
        assert not again
    assert lifecycle.lock_ours(second) is not None
    assert Refund.objects.get().why == ""


def test_a_statement_reads_the_clock_once() -> None:
    RefundFactory.create()
    claim = lifecycle.claim_to_send(LEASE)
    assert claim is not None

    refund = Refund.objects.get()
    assert refund.first_sent_at == refund.sent_at
    assert refund.lease_until is not None
    assert refund.lease_until - LEASE == refund.sent_at

    assert lifecycle.not_sent(claim, timedelta(0), why="no client")
    assert Refund.objects.get().first_sent_at is None
    again = lifecycle.claim_to_send(LEASE)
    assert again is not None
    assert lifecycle.send_again(again, window=timedelta(0), repeatable_for=LEASE, why="lost")
    first = Refund.objects.get().first_sent_at
    third = lifecycle.claim_to_send(LEASE)
    assert third is not None
    assert lifecycle.not_sent(third, timedelta(0), why="no client")
    assert Refund.objects.get().first_sent_at == first, "one sending may have arrived"


def test_for_ever_is_a_long_time() -> None:
    RefundFactory.create()
    claim = lifecycle.claim_to_send(LEASE)
    assert claim is not None

    assert lifecycle.send_again(
        claim, window=timedelta(0), repeatable_for=timedelta.max, why="not there"
    )
