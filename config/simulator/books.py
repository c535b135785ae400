"""What happens at the simulator: payments, refunds, disputes. Each tells its callbacks."""

from datetime import datetime, timedelta

from config.simulator import callbacks, documents, moves
from config.simulator.refused import Refused
from config.simulator.scenario import Scenario
from config.simulator.store import Row, Store
from orders.money import Money


def pay(
    store: Store,
    account: str,
    *,
    attempt: str,
    order_no: str,
    money: Money,
    wanted: Scenario,
    now: datetime,
) -> Row:
    """A payer pays, or is declined. The same attempt again is the same payment."""
    with store.writing():
        known = store.row(
            "SELECT * FROM payments WHERE account = ? AND attempt = ?", account, attempt
        )
        if known is not None:
            return known
        txn_no = documents.new_number("pay")
        store.run(
            "INSERT INTO payments VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)",
            *(txn_no, account, attempt, order_no, wanted.wrong_amount or money.amount_minor),
            *(money.currency, moves.stamp(now), moves.stamp(now), hidden_until(wanted, now)),
        )
        end = "failed" if wanted.decline else "succeeded"
        if wanted.pending is None:
            moves.settle(store, "payment", txn_no, end, wanted, now=now)
        else:
            callbacks.tell(store, "payment", find_payment(store, account, txn_no), wanted, now=now)
            moves.plan(
                store, "payment", txn_no, end, seconds=wanted.pending, wanted=wanted, now=now
            )
        return find_payment(store, account, txn_no)


def refund(
    store: Store,
    account: str,
    *,
    refund_no: str | None,
    txn_no: str,
    money: Money,
    wanted: Scenario,
    now: datetime,
) -> Row:
    """Give money back; the same `refund_no` again is the same refund. Raises Refused."""
    with store.writing():
        payment = find_payment(store, account, txn_no)
        if payment["status"] != "succeeded" or money.currency != payment["currency"]:
            raise Refused(422, "not_refundable", "The payment is not paid, or not in this currency")
        if money.amount_minor > (left := documents.left(store, payment)):
            raise Refused(422, "exceeds_payment", f"Only {left} minor units are left")
        number = documents.new_number("ref")
        store.run(
            "INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)",
            *(number, account, refund_no, txn_no, money.amount_minor, money.currency),
            *(moves.stamp(now), moves.stamp(now), hidden_until(wanted, now)),
        )
        if wanted.fail is not None or wanted.pending is not None:
            row = moves.one(store, "SELECT * FROM refunds WHERE number = ?", number)
            callbacks.tell(store, "refund", row, wanted, now=now)
        if wanted.fail is not None:
            moves.plan(
                store, "refund", number, "failed", seconds=wanted.fail, wanted=wanted, now=now
            )
        elif wanted.pending is not None:
            moves.plan(
                store, "refund", number, "succeeded", seconds=wanted.pending, wanted=wanted, now=now
            )
        else:
            moves.settle(store, "refund", number, "succeeded", wanted, now=now)
        if wanted.reverse is not None:
            after = (wanted.pending or 0) + wanted.reverse
            moves.plan(store, "refund", number, "failed", seconds=after, wanted=wanted, now=now)
        return moves.one(store, "SELECT * FROM refunds WHERE number = ?", number)


def find_payment(store: Store, account: str, txn_no: str) -> Row:
    """The payment. Raises Refused."""
    row = store.row("SELECT * FROM payments WHERE account = ? AND txn_no = ?", account, txn_no)
    if row is None:
        raise Refused(404, "payment_not_found", "There is no such payment")
    return row


def hidden_until(wanted: Scenario, now: datetime) -> float:
    """Until when questions about the new thing are answered with "not found"."""
    return (now + timedelta(seconds=wanted.hidden)).timestamp()
