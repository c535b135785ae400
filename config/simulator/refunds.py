"""Refunds by their merchant's number: one number, one refund, however often it is asked for."""

from datetime import datetime

from config.simulator import books
from config.simulator.refused import Refused
from config.simulator.scenario import Scenario
from config.simulator.store import Row, Store
from config.simulator.wire import Fields


def refund(store: Store, account: str, fields: Fields, wanted: Scenario, *, now: datetime) -> Row:
    """Carry it out, or find it. Without a `refund_no` it is made by hand. Raises Refused."""
    refund_no = fields.number("refund_no", optional=True)
    txn_no, money = fields.number("payment") or "", fields.money()
    _count(store, account, refund_no, "asked")
    with store.writing():
        known = refund_no and store.row(
            "SELECT * FROM refunds WHERE account = ? AND refund_no = ?", account, refund_no
        )
        if known:
            same = (known["txn_no"], known["amount_minor"], known["currency"])
            if same != (txn_no, money.amount_minor, money.currency):
                raise Refused(409, "refund_no_reused", "This number is another refund's")
            return known
        row = books.refund(
            store, account, refund_no=refund_no, txn_no=txn_no, money=money, wanted=wanted, now=now
        )
        _count(store, account, refund_no, "executed")
        return row


def find(store: Store, account: str, number: str) -> Row | None:
    """By the merchant's number, else by ours."""
    return store.row(
        "SELECT * FROM refunds WHERE account = ?1 AND (refund_no = ?2 OR number = ?2)"
        " ORDER BY refund_no = ?2 DESC LIMIT 1",
        *(account, number),
    )


def counters(store: Store, account: str) -> dict[str, dict[str, int]]:
    """How often each number was asked for, and how often it was carried out."""
    rows = store.rows(
        "SELECT refund_no, asked, executed FROM refund_calls WHERE account = ? ORDER BY refund_no",
        account,
    )
    return {row["refund_no"]: {"asked": row["asked"], "executed": row["executed"]} for row in rows}


def _count(store: Store, account: str, refund_no: str | None, what: str) -> None:
    if refund_no is not None:
        store.run(
            f"INSERT INTO refund_calls (account, refund_no, {what}) VALUES (?, ?, 1)"  # noqa: S608 - our names
            f" ON CONFLICT (account, refund_no) DO UPDATE SET {what} = {what} + 1",
            *(account, refund_no),
        )
