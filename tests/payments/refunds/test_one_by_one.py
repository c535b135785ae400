"""A refund that breaks whatever touches it: the others go on, and a person is asked about it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from structlog.testing import capture_logs

from outbox.events import emit
from payments.clients.port import Answer, RefundAnswer, RefundOrder
from payments.models import Conflict, ProviderAccount, Refund
from payments.refunds import answers
from payments.refunds.carry_out import carry_out
from payments.refunds.recover import recover
from tests.concurrency.onlooker import query
from tests.factories import ProviderAccountFactory
from tests.payments.refunds.asking import ask, let_leases_end, paid_order, reasons, room_of
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db(transaction=True)

Poison = Callable[[ProviderDouble], None]


def taken_place(_: ProviderDouble) -> None:
    """Somebody has written an event by hand: the place of the one that would tell the end."""
    refund = Refund.objects.select_related("merchant").get(refund_no="R-poisoned")
    with transaction.atomic():
        emit(
            aggregate_type="refund",
            aggregate_id=f"{refund.merchant.code}/R-poisoned",
            seq=refund.version + 1,
            type="refund.succeeded",
            payload={},
            at=NOW,
        )


def number_of_another(provider: ProviderDouble) -> None:
    """The provider accepts it under a number that it has given to another refund before."""

    def same_number(order: RefundOrder) -> None:
        if order.refund_no == "R-poisoned":
            provider.refunds["R-poisoned"] = RefundAnswer(
                answer=Answer.PENDING, provider_refund_no="re_R-first", amount=order.amount
            )

    provider.before = same_number


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    for name in ("first", "poisoned", "behind", "last"):
        paid_order(account, name)
    return account


@pytest.mark.parametrize("poison", [taken_place, number_of_another])
def test_a_poisoned_refund_keeps_no_other_waiting_and_ends_with_a_person(
    account: ProviderAccount, poison: Poison
) -> None:
    provider = ProviderDouble()
    ask(account, "R-first", 3_000, order_no="first")
    carry_out(provider, now=NOW)
    for name in ("poisoned", "behind", "last"):
        ask(account, f"R-{name}", 3_000, order_no=name)
    poison(provider)

    with capture_logs() as logs:
        assert carry_out(provider, now=NOW) == {"BROKEN": 1, "SUCCEEDED": 2}

    assert [line["refund_no"] for line in logs if line["event"] == "refund broke"] == ["R-poisoned"]
    poisoned = Refund.objects.get(refund_no="R-poisoned")
    assert (poisoned.status, poisoned.asks) == ("PROCESSING", 1)
    assert poisoned.why.startswith("it could not be settled here: ")
    waits = [waited(poisoned)]
    for _ in range(answers.ASKS_BEFORE_DOUBT - 1):
        assert reasons() == []
        let_leases_end()
        assert recover(provider, now=NOW) == {"BROKEN": 1}
        poisoned.refresh_from_db()
        waits.append(waited(poisoned))
    assert waits == sorted(waits)
    assert waits[-1] > 100 * waits[0]
    assert reasons() == ["REFUND_IN_DOUBT"]
    assert Conflict.objects.get().received["refund_no"] == "R-poisoned"
    assert provider.requests["R-poisoned"] == 1, "never sent again"
    for name in ("first", "behind", "last"):
        assert room_of(f"pi_{name}") == (3_000, 3_000, 0)


def waited(refund: Refund) -> float:
    """For how many seconds it was put off just now."""
    return float(
        query(
            "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM payments_refund"
            " WHERE id = %s",
            refund.pk,
        )
    )


def test_what_goes_wrong_before_the_provider_is_reached_is_that_refunds_affair_too(
    account: ProviderAccount,
) -> None:
    provider = ProviderDouble()
    other = ProviderAccountFactory.create(merchant=account.merchant, name="other")
    for order_no, payee in (("one", other), ("two", account)):
        paid_order(payee, order_no)
        ask(payee, f"R-{order_no}", 3_000, order_no=order_no)

    def client_for(of: ProviderAccount) -> Any:
        if of.pk == other.pk:
            raise LookupError("a vault key was dropped")
        return provider(of)

    assert carry_out(client_for, now=NOW) == {"BROKEN": 1, "SUCCEEDED": 1}
    let_leases_end()
    assert recover(client_for, now=NOW) == {"BROKEN": 1}
    assert provider.executed == {"R-two": 1}
