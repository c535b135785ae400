"""The simulator's pages: the payer's, and what became of it. Plain HTML, nothing from elsewhere."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from config.simulator import books, disputes, documents, markup
from config.simulator.accounts import Account
from config.simulator.refused import Refused
from config.simulator.scenario import BadScenario, Scenario, scenario, switches
from config.simulator.store import Row, Store
from config.simulator.wire import Reply, Request, money
from orders.money import Money
from payments.callback import ORDER_NO

_LISTED_MAX: Final = 50
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def answer(request: Request, store: Store, known: Sequence[Account], *, now: datetime) -> Reply:
    """Show a page, or do what a button says. Every problem is a page, too."""
    try:
        if request.method in {"GET", "HEAD"}:
            return _page(_shown(request, store, known))
        _refuse_strange(request)
        return _pressed(request.path, _form(request.body), store, known, now=now)
    except BadScenario as problem:
        return _page(markup.problem(str(problem)), 400)
    except Refused as refused:
        return _page(markup.problem(refused.message), refused.status)


def _shown(request: Request, store: Store, known: Sequence[Account]) -> str:
    if request.path == "/":
        rows = store.rows("SELECT * FROM payments ORDER BY rowid DESC LIMIT ?", _LISTED_MAX)
        return markup.front(rows, [account.name for account in known])
    if request.path == "/pay":
        account, order_no, owed = _asked(request.query, known)
        given = switches(request.query)
        scenario(given)
        attempt = documents.new_number("try")
        return markup.checkout(account.name, order_no, owed, attempt=attempt, given=given)
    row = _payment(store, request.path)
    of_payment = "WHERE txn_no = ? ORDER BY rowid"
    return markup.payment(
        row,
        left=documents.left(store, row) if row["status"] == "succeeded" else 0,
        refunds=store.rows(f"SELECT * FROM refunds {of_payment}", row["txn_no"]),  # noqa: S608
        disputes=store.rows(f"SELECT * FROM disputes {of_payment}", row["txn_no"]),  # noqa: S608
        callbacks=store.rows(f"SELECT * FROM callbacks {of_payment}", row["txn_no"]),  # noqa: S608
    )


def _pressed(
    path: str,
    form: Mapping[str, str],
    store: Store,
    known: Sequence[Account],
    *,
    now: datetime,
) -> Reply:
    if path == "/pay":
        account, order_no, owed = _asked(form, known)
        chosen = switches(form) | ({"decline": "1"} if form.get("button") == "decline" else {})
        row = books.pay(
            store,
            account.account_no,
            attempt=form.get("attempt") or documents.new_number("try"),
            order_no=order_no,
            money=owed,
            wanted=scenario(chosen),
            now=now,
        )
    else:
        row = _payment(store, path)
        _after_payment(form, store, row, now=now)
    # The answer to a GET: who reloads it does not press the button again.
    return Reply(status=303, headers={**_HEADERS, "Location": f"/payments/{row['txn_no']}"})


def _after_payment(form: Mapping[str, str], store: Store, row: Row, *, now: datetime) -> None:
    account, txn_no, wanted = row["account"], row["txn_no"], Scenario()
    match form.get("button"):
        case "refund":
            amount = _whole(form.get("amount_minor", ""))
            back = money(amount, row["currency"])
            books.refund(
                store, account, refund_no=None, txn_no=txn_no, money=back, wanted=wanted, now=now
            )
        case "dispute":
            disputes.open_dispute(
                store, account, txn_no=txn_no, amount_minor=None, wanted=wanted, now=now
            )
        case "won" | "lost" as end:
            number = form.get("dispute", "")
            disputes.end(store, account, number, end, wanted, now=now)
        case _:
            raise Refused(400, "bad_request", "There is no such button")


def _asked(given: Mapping[str, str], known: Sequence[Account]) -> tuple[Account, str, Money]:
    """The account, the order's number and its amount."""
    name, order_no = given.get("account", ""), given.get("order_no", "")
    account = next((each for each in known if each.name == name), None)
    if account is None:
        raise Refused(404, "no_such_account", "There is no active test account of this name")
    if not ORDER_NO.fullmatch(order_no):
        raise Refused(400, "bad_request", "order_no must be 1 to 64 of A-Z a-z 0-9 _ . : -")
    return account, order_no, money(_whole(given.get("amount_minor", "")), given.get("currency"))


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None  # noqa: PLR2004


def _payment(store: Store, path: str) -> Row:
    number = path.removeprefix("/payments/")
    row = store.row("SELECT * FROM payments WHERE txn_no = ?", number)
    if row is None or number == path:
        raise Refused(404, "no_such_address", "There is nothing at this address")
    return row


def _refuse_strange(request: Request) -> None:
    """Other methods; and a page of somebody else's may not press our buttons."""
    if request.method != "POST":
        raise Refused(405, "method_not_allowed", "Use GET or POST")
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is not None and urlsplit(origin).netloc != host:
        raise Refused(403, "other_site", "This form was sent from another site")


def _form(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("utf-8", "replace")))


def _page(content: str, status: int = 200) -> Reply:
    return Reply(
        status=status,
        body=content.encode(),
        content_type="text/html; charset=utf-8",
        headers=_HEADERS,
    )
