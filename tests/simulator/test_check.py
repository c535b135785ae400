"""The comparison finds every planted difference, and none where there is none."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from config.simulator import check
from config.simulator.findings import Findings
from orders.models import Order
from payments.models import ProviderAccount, ProviderTransaction, Refund
from tests.factories import ConflictFactory, OrderFactory, RefundFactory
from tests.simulator.running import Simulator, until

Ours = tuple[Simulator, ProviderAccount]


def compare(simulator: Simulator, *, final: bool = False) -> Findings:
    return check.compare(simulator.store, final=final)


def paid(ours: Ours, order_no: str = "O-1", **switches: Any) -> str:
    """A payment for an order that the service knows, told and taken."""
    simulator, account = ours
    OrderFactory.create(merchant=account.merchant, order_no=order_no)
    number = simulator.pay(order_no, **switches)
    simulator.wait_until_sent(number)
    return number


def test_what_agrees_has_no_differences(ours: Ours) -> None:
    simulator, account = ours
    first = paid(ours, "O-1", duplicates=2)
    simulator.refund(first, None, 99)
    second = paid(ours, "O-2")
    _, dispute = simulator.call("POST", f"/api/payments/{second}/disputes")
    paid(ours, "O-3", wrong_amount=500)
    again = simulator.pay("O-1")
    unknown = simulator.pay("NO-SUCH-ORDER")
    declined = paid(ours, "O-4", decline=1)
    OrderFactory.create(merchant=account.merchant, order_no="O-5", amount_minor=99)
    third = simulator.pay("O-5")
    simulator.wait_until_sent(first, second, again, unknown, declined, third)
    simulator.call("POST", f"/api/disputes/{dispute['dispute']['id']}/won")
    simulator.wait_until_sent(second)

    findings = compare(simulator, final=True)

    assert (findings.differences, findings.waiting, findings.asked) == ([], [], [])
    assert findings.compared == 7
    assert list(findings.lines()) == [
        "7 payments compared: 0 differences, 0 waiting, 0 asked of a person"
    ]


def test_what_is_on_its_way_waits_and_is_missing_in_the_end(ours: Ours) -> None:
    simulator, account = ours
    OrderFactory.create(merchant=account.merchant, order_no="O-1")
    dropped = simulator.pay("O-1", drop_callback=1)
    number = paid(ours, "O-2")
    simulator.refund(number, None, 99, delay=3600)

    findings = compare(simulator)
    assert findings.differences == []
    assert findings.waiting == [
        f"payment {dropped} of order O-1 is not in the database",
        f"payment {number} of order O-2 has 99 refunded and 0 charged back, and there 0 and 0",
    ]
    assert compare(simulator, final=True).differences == findings.waiting


def _lose(number: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE payments_delivery SET transaction_id = NULL")
    ProviderTransaction.objects.filter(txn_no=number).delete()


def _invent(number: str) -> None:
    row = ProviderTransaction.objects.get(txn_no=number)
    row.pk, row.txn_no, row.order_id, row.disposition = None, "pay_invented", None, "HELD"
    row.save(force_insert=True)


def _reopen(_: str) -> None:
    Order.objects.filter(order_no="O-1").update(status="WAIT_PAY", paid_txn_no="", paid_at=None)


def _hold(number: str) -> None:
    ProviderTransaction.objects.filter(txn_no=number).update(disposition="HELD", order=None)


def _alter(number: str) -> None:
    ProviderTransaction.objects.filter(txn_no=number).update(amount_minor=1100)


def _count_twice(number: str) -> None:
    rows = ProviderTransaction.objects.filter(txn_no=number)
    rows.update(refund_reserved_minor=198, refunded_minor=198)


def _refund_the_order(_: str) -> None:
    Order.objects.filter(order_no="O-1").update(refunded_minor=99)


def _pay_by_another(_: str) -> None:
    Order.objects.filter(order_no="O-1").update(paid_txn_no="pay_never")


@pytest.mark.parametrize(
    ("plant", "sentences"),
    [
        (_lose, ["payment {0} of order O-1 is not in the database"]),
        (_invent, ["the database has a PAYMENT pay_invented that never was"]),
        (_reopen, ["payment {0} of order O-1 is APPLIED there, and the order is WAIT_PAY"]),
        (
            _hold,
            [
                "payment {0} of order O-1 is HELD there, and the order is PAID",
                "payment {0} of order O-1 is HELD, and nobody was asked",
            ],
        ),
        (_alter, ["payment {0} of order O-1 is 1100 USD for O-1 there"]),
        (
            _count_twice,
            [
                "payment {0} of order O-1 has 0 refunded and 0 charged back, and there 198 and 0",
                "order O-1 has 0 refunded, and its payment 198",
            ],
        ),
        (_refund_the_order, ["order O-1 has 99 refunded, and its payment 0"]),
        (
            _pay_by_another,
            [
                "payment {0} of order O-1 is APPLIED there, and the order is PAID",
                "order O-1 is PAID by pay_never, which was never paid",
            ],
        ),
    ],
)
def test_a_planted_difference_is_found(
    ours: Ours, plant: Callable[[str], None], sentences: list[str]
) -> None:
    number = paid(ours)
    assert compare(ours[0]).differences == []

    plant(number)

    assert compare(ours[0]).differences == [sentence.format(number) for sentence in sentences]


def test_an_open_question_explains_its_own_refund_and_nothing_else(ours: Ours) -> None:
    simulator, _ = ours
    number = paid(ours)
    first, second = (
        simulator.refund(number, None, amount)[1]["refund"]["id"] for amount in (99, 500)
    )
    simulator.wait_until_sent(number)
    questioned = ProviderTransaction.objects.get(txn_no=first)
    ConflictFactory.create(
        reason="REVERSAL_EXCEEDS_PAYMENT", transaction=questioned, subject="transaction:planted"
    )
    rows = ProviderTransaction.objects.filter(txn_no=number)

    def counted(refunded_minor: int) -> Findings:
        rows.update(refund_reserved_minor=refunded_minor, refunded_minor=refunded_minor)
        Order.objects.filter(order_no="O-1").update(refunded_minor=refunded_minor)
        return compare(simulator, final=True)

    assert (counted(599).differences, counted(599).asked) == ([], [])
    without_it = counted(500)
    assert (without_it.differences, len(without_it.asked)) == ([], 1)
    for wrong in (0, 99, 598):
        assert len(counted(wrong).differences) == 1, wrong
    assert second != first


def test_a_doubt_about_one_refund_does_not_explain_another(ours: Ours) -> None:
    simulator, _ = ours
    number = paid(ours)
    ProviderTransaction.objects.filter(txn_no=number).update(refund_reserved_minor=198)
    row = ProviderTransaction.objects.get(txn_no=number)
    refunds = [
        RefundFactory.create(payment=row, refund_no=refund_no, amount_minor=99)
        for refund_no in ("R-1", "R-2")
    ]
    for refund_no in ("R-1", "R-2"):
        simulator.refund(number, refund_no, 99)
    simulator.wait_until_sent(number)
    assert compare(simulator, final=True).differences == []
    Refund.objects.update(
        status="FAILED", due_at=None, finished_at=simulator.clock(), transaction=None
    )
    ConflictFactory.create(
        reason="REFUND_IN_DOUBT", transaction=row, subject=f"refund:{refunds[0].pk}"
    )

    found = compare(simulator, final=True)

    assert found.differences == ["refund R-2 succeeded, and there it is FAILED"]
    assert found.asked == ["refund R-1 succeeded, and there it is FAILED"]


def test_a_refund_that_is_not_in_the_books_was_never_made(ours: Ours) -> None:
    simulator, _ = ours
    number = paid(ours)
    refund = simulator.refund(number, None, 99)[1]["refund"]["id"]
    simulator.wait_until_sent(number)
    assert compare(simulator).differences == []

    ProviderTransaction.objects.filter(txn_no=refund).update(txn_no="ref_invented")

    assert compare(simulator).differences == [
        "the database has a REFUND ref_invented that never was"
    ]


def test_a_declined_payment_that_counts_is_a_difference(ours: Ours) -> None:
    simulator, _ = ours
    number, declined = paid(ours), paid(ours, "O-2", decline=1)
    until(lambda: simulator.sent(declined)[0]["state"] == "DONE")
    row = ProviderTransaction.objects.get(txn_no=number)
    row.pk, row.txn_no, row.order_id, row.disposition = None, declined, None, "HELD"
    row.save(force_insert=True)

    assert compare(simulator).differences == [
        f"payment {declined} of order O-2 is failed, and the database counts it"
    ]
