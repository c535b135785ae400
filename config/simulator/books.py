"""What happens at the simulator: payments, refunds, disputes. Each tells its callbacks."""

import json
from datetime import datetime, timedelta

from config.simulator import callbacks, documents
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
            *(money.currency, stamp(now), stamp(now), hidden_until(wanted, now)),
        )
        end = "failed" if wanted.decline else "succeeded"
        if wanted.pending is None:
            settle(store, "payment", txn_no, end, wanted, now=now)
        else:
            callbacks.tell(store, "payment", find_payment(store, account, txn_no), wanted, now=now)
            _later(store, "payment", txn_no, end, seconds=wanted.pending, wanted=wanted, now=now)
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
            *(stamp(now), stamp(now), hidden_until(wanted, now)),
        )
        if wanted.fail is not None or wanted.pending is not None:
            row = one(store, "SELECT * FROM refunds WHERE number = ?", number)
            callbacks.tell(store, "refund", row, wanted, now=now)
        if wanted.fail is not None:
            _later(store, "refund", number, "failed", seconds=wanted.fail, wanted=wanted, now=now)
        elif wanted.pending is not None:
            _later(
                store, "refund", number, "succeeded", seconds=wanted.pending, wanted=wanted, now=now
            )
        else:
            settle(store, "refund", number, "succeeded", wanted, now=now)
        if wanted.reverse is not None:
            after = (wanted.pending or 0) + wanted.reverse
            _later(store, "refund", number, "failed", seconds=after, wanted=wanted, now=now)
        return one(store, "SELECT * FROM refunds WHERE number = ?", number)


def settle(
    store: Store, kind: str, number: str, status: str, wanted: Scenario, *, now: datetime
) -> None:
    """Move one thing to its new status and tell it."""
    key = "txn_no" if kind == "payment" else "number"
    store.run(
        f"UPDATE {kind}s SET status = ?, settled_at = ? WHERE {key} = ?",  # noqa: S608 - our names
        *(status, stamp(now), number),
    )
    row = one(store, f"SELECT * FROM {kind}s WHERE {key} = ?", number)  # noqa: S608
    callbacks.tell(store, kind, row, wanted, now=now)


def find_payment(store: Store, account: str, txn_no: str) -> Row:
    """The payment. Raises Refused."""
    row = store.row("SELECT * FROM payments WHERE account = ? AND txn_no = ?", account, txn_no)
    if row is None:
        raise Refused(404, "payment_not_found", "There is no such payment")
    return row


def stamp(now: datetime) -> str:
    """A time as it is written everywhere here."""
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def hidden_until(wanted: Scenario, now: datetime) -> float:
    """Until when questions about the new thing are answered with "not found"."""
    return (now + timedelta(seconds=wanted.hidden)).timestamp()


def _later(
    store: Store,
    kind: str,
    number: str,
    status: str,
    *,
    seconds: float,
    wanted: Scenario,
    now: datetime,
) -> None:
    store.run(
        "INSERT INTO moves (at, kind, number, status, given) VALUES (?, ?, ?, ?, ?)",
        *(now.timestamp() + seconds, kind, number, status, json.dumps(dict(wanted.given))),
    )


def one(store: Store, sql: str, *values: str) -> Row:
    """A row that must be there."""
    row = store.row(sql, *values)
    assert row is not None  # noqa: S101 - written just now, in the same transaction
    return row
