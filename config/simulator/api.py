"""The simulator's API: what each address does. docs/simulator.md describes it for callers."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from config.simulator import books, disputes, documents, refunds, statements, switched
from config.simulator.accounts import Account
from config.simulator.refused import Refused
from config.simulator.scenario import Scenario
from config.simulator.store import Row, Store
from config.simulator.wire import Fields, Reply, Request, document

#: What scenarios can be set for.
OPERATIONS: Final = frozenset(
    {"pay", "refund", "dispute", "query_payment", "query_refund", "statement"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authorised call: whose, what, and what shall go wrong with it."""

    account: Account
    request: Request
    parts: tuple[str, ...]
    wanted: Scenario
    store: Store
    now: datetime


def pay(call: Call) -> Reply:
    """Pay at once, as if the payer had pressed the button."""
    fields = Fields(call.request.body)
    row = books.pay(
        call.store,
        call.account.account_no,
        attempt=fields.number("attempt", optional=True) or documents.new_number("try"),
        order_no=fields.number("order_no") or "",
        money=fields.money(),
        wanted=call.wanted,
        now=call.now,
    )
    return document(documents.payment_state(call.store, row), 201)


def payment(call: Call) -> Reply:
    """One payment by its number."""
    row = books.find_payment(call.store, call.account.account_no, call.parts[0])
    if _hidden(row, call):
        raise Refused(404, "payment_not_found", "There is no such payment")
    return document(documents.payment_state(call.store, row))


def payments(call: Call) -> Reply:
    """All payments of an order, the oldest first."""
    found = call.store.rows(
        "SELECT * FROM payments WHERE account = ? AND order_no = ? ORDER BY created_at, rowid",
        *(call.account.account_no, call.request.query.get("order_no", "")),
    )
    told = [documents.payment_state(call.store, row) for row in found if not _hidden(row, call)]
    return document({"payments": told})


def refund(call: Call) -> Reply:
    """Refund; the same refund_no again is the same refund."""
    row = refunds.refund(
        call.store, call.account.account_no, Fields(call.request.body), call.wanted, now=call.now
    )
    return document({"refund": documents.refund(row)})


def refund_state(call: Call) -> Reply:
    """One refund by the merchant's number or by ours, with how often it was asked for."""
    row = refunds.find(call.store, call.account.account_no, call.parts[0])
    if row is None or _hidden(row, call):
        raise Refused(404, "refund_not_found", "There is no such refund")
    return document({"refund": documents.refund(row)})


def counters(call: Call) -> Reply:
    """How often each refund was asked for, and how often it was carried out."""
    return document({"refunds": refunds.counters(call.store, call.account.account_no)})


def dispute(call: Call) -> Reply:
    """Open a dispute, as the payer's bank would."""
    row = disputes.open_dispute(
        call.store,
        call.account.account_no,
        txn_no=call.parts[0],
        amount_minor=Fields(call.request.body).whole("amount_minor"),
        wanted=call.wanted,
        now=call.now,
    )
    return document({"dispute": documents.dispute(row)}, 201)


def end_dispute(call: Call) -> Reply:
    """Win or lose it."""
    number, end = call.parts
    account_no = call.account.account_no
    row = disputes.end(call.store, account_no, number, end, call.wanted, now=call.now)
    return document({"dispute": documents.dispute(row)})


def statement(call: Call) -> Reply:
    """All that moved on a day, as CSV."""
    try:
        day = date.fromisoformat(call.parts[0])
    except ValueError:
        raise Refused(400, "bad_request", "A day is written as 2026-01-31") from None
    if day >= call.now.date() and call.request.query.get("so_far") != "1":
        raise Refused(404, "statement_not_ready", "That day, in UTC, is not over")
    text = statements.statement(call.store, call.account.account_no, day)
    return Reply(body=text.encode(), content_type="text/csv; charset=utf-8")


def sent(call: Call) -> Reply:
    """The callbacks of one payment and what they were answered."""
    found = call.store.rows(
        "SELECT type, subject, state, attempts, answer, forged FROM callbacks"
        " WHERE account = ? AND txn_no = ? ORDER BY id",
        *(call.account.account_no, call.parts[0]),
    )
    return document({"callbacks": [dict(row) for row in found]})


def put_scenario(call: Call) -> Reply:
    """Set what shall go wrong with the next calls of one operation."""
    fields = Fields(call.request.body)
    times = fields.whole("times", 1)
    account_no, operation = call.account.account_no, call.parts[0]
    if operation not in OPERATIONS:
        raise Refused(404, "no_such_operation", f"There are: {', '.join(sorted(OPERATIONS))}")
    switched.put(call.store, account_no, operation, fields.texts("switches"), times=times or 0)
    return document({"scenarios": switched.all_of(call.store, account_no)})


def get_scenarios(call: Call) -> Reply:
    """What is set."""
    return document({"scenarios": switched.all_of(call.store, call.account.account_no)})


def _hidden(row: Row, call: Call) -> bool:
    return bool(row["hidden_until"] > call.now.timestamp())
