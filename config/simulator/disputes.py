"""Disputes: the payer's bank takes money back, and sometimes gives it back."""

from datetime import datetime

from config.simulator import books, callbacks, documents, moves
from config.simulator.refused import Refused
from config.simulator.scenario import Scenario
from config.simulator.store import Row, Store


def open_dispute(
    store: Store,
    account: str,
    *,
    txn_no: str,
    amount_minor: int | None,
    wanted: Scenario,
    now: datetime,
) -> Row:
    """The payer's bank takes money back, all that is left unless said otherwise. Raises Refused."""
    with store.writing():
        payment = books.find_payment(store, account, txn_no)
        left = documents.left(store, payment) if payment["status"] == "succeeded" else 0
        amount_minor = left if amount_minor is None else amount_minor
        if not 0 < amount_minor <= left:
            raise Refused(422, "exceeds_payment", f"{left} minor units are left to dispute")
        number = documents.new_number("dsp")
        store.run(
            "INSERT INTO disputes VALUES (?, ?, ?, ?, ?, 'opened', ?, ?)",
            *(
                number,
                account,
                txn_no,
                amount_minor,
                payment["currency"],
                moves.stamp(now),
                moves.stamp(now),
            ),
        )
        row = moves.one(store, "SELECT * FROM disputes WHERE number = ?", number)
        callbacks.tell(store, "dispute", row, wanted, now=now)
        return row


def end(
    store: Store, account: str, number: str, status: str, wanted: Scenario, *, now: datetime
) -> Row:
    """It is won or lost; the same end again changes nothing. Raises Refused."""
    with store.writing():
        row = store.row("SELECT * FROM disputes WHERE account = ? AND number = ?", account, number)
        if row is None:
            raise Refused(404, "dispute_not_found", "There is no such dispute")
        if row["status"] == status:
            return row
        if row["status"] != "opened":
            raise Refused(409, "dispute_ended", f"It is {row['status']}")
        moves.settle(store, "dispute", number, status, wanted, now=now)
        return moves.one(store, "SELECT * FROM disputes WHERE number = ?", number)
