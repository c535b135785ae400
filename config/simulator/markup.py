"""The HTML of the pages. All that was typed by somebody is escaped here."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from config.simulator import frame
from config.simulator.store import Row
from orders.money import Money

#: The switches of the payer's page that are numbers, and those that are on or off.
_NUMBERS: Final = (
    ("duplicates", "Extra callbacks"),
    ("delay", "Delay, seconds"),
    ("pending", "Pending first, seconds"),
    ("hidden", "Not found for, seconds"),
    ("wrong_amount", "Pay other minor units"),
)
_TICKS: Final = (
    ("reorder", "Older news last"),
    ("drop_callback", "No callback at all"),
    ("forged", "A forged one before"),
)


def checkout(
    account: str, order_no: str, owed: Money, *, attempt: str, given: Mapping[str, str]
) -> str:
    """The page a payer is sent to."""
    asked = {
        "account": account,
        "order_no": order_no,
        "amount_minor": str(owed.amount_minor),
        "currency": owed.currency,
        "attempt": attempt,
    }
    shown = {name for name, _ in (*_NUMBERS, *_TICKS)}
    asked |= {name: value for name, value in given.items() if name not in shown}
    numbers = "".join(
        f'<label>{label}<input type="number" min="0" step="any" name="{name}"'
        f' value="{escape(given.get(name, ""))}"></label>'
        for name, label in _NUMBERS
    )
    ticks = "".join(
        f'<label class="tick"><input type="checkbox" name="{name}" value="1"'
        f"{' checked' if given.get(name) == '1' else ''}>{label}</label>"
        for name, label in _TICKS
    )
    return frame.page(
        f"Pay {owed}",
        f"""<form class="sheet" method="post" action="/pay">
<h1>Pay for order {escape(order_no)}</h1>
<p class="amount">{owed}</p>
<dl><dt>Order</dt><dd>{escape(order_no)}</dd><dt>Account</dt><dd>{escape(account)}</dd></dl>
{frame.hidden(asked)}
<div class="row"><button class="go" name="button" value="pay">Pay {owed}</button>
<button class="stop" name="button" value="decline">Decline</button></div>
<details{" open" if given else ""}><summary>Make it go wrong</summary>
<div class="grid">{numbers}</div><div class="row">{ticks}</div></details>
</form>""",
    )


def payment(
    row: Row,
    *,
    left: int,
    refunds: Sequence[Row],
    disputes: Sequence[Row],
    callbacks: Sequence[Row],
) -> str:
    """What became of a payment, and what else can happen to it."""
    facts = {
        "Payment": row["txn_no"],
        "Order": row["order_no"],
        "Account": row["account"],
        "Made": row["created_at"],
    }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    after = f"""<form class="sheet" method="post"><h2>Behind the merchant's back</h2>
<div class="row"><label>Minor units<input type="number" name="amount_minor" min="1" max="{left}"
 value="{left}" required></label>
<button name="button" value="refund">Refund by hand</button>
<button name="button" value="dispute">Dispute all that is left</button></div></form>"""
    ends = "".join(
        f'<form class="sheet" method="post"><h2>Dispute {escape(each["number"])}</h2>'
        f"{frame.hidden({'dispute': each['number']})}"
        '<div class="row"><button name="button" value="won">The merchant wins</button>'
        '<button name="button" value="lost">The merchant loses</button></div></form>'
        for each in disputes
        if each["status"] == "opened"
    )
    back = [
        (each["number"], each["refund_no"] or "by hand", each["status"], _money(each))
        for each in refunds
    ]
    back += [(each["number"], "dispute", each["status"], _money(each)) for each in disputes]
    sent = [(each["type"], *_sent(each), str(each["attempts"])) for each in callbacks]
    return frame.page(
        f"Payment {row['status']}",
        f'<section class="sheet"><h1>Payment {row["status"]}</h1>'
        f'<p class="amount">{_money(row)}</p><dl>{listed}</dl>'
        '<p class="note">Reload to see what has come of it. <a href="/">All payments</a></p>'
        "</section>"
        + frame.table("Callbacks", ("Type", "State", "Answer", "Tries"), sent)
        + (frame.table("Gone back", ("Number", "Refund", "State", "Amount"), back) if back else "")
        + (after if left else "")
        + ends,
        wide=True,
    )


def front(rows: Sequence[Row], accounts: Sequence[str]) -> str:
    """The latest payments, and a form for another."""
    options = "".join(f"<option>{escape(name)}</option>" for name in accounts)
    listed = [
        (
            f'<a href="/payments/{escape(each["txn_no"])}">{escape(each["txn_no"])}</a>',
            escape(each["order_no"]),
            each["status"],
            _money(each),
        )
        for each in rows
    ]
    form = f"""<form class="sheet" action="/pay"><h1>Pay for an order</h1>
<p class="note">No money moves here. The page comes first, as a payer would see it.</p>
<div class="row"><label>Account<select name="account">{options}</select></label>
<label>Order<input name="order_no" required maxlength="64"></label>
<label>Minor units<input type="number" name="amount_minor" min="1" required></label>
<label>Currency<input name="currency" value="USD" required maxlength="3"></label>
<button class="go">Go on</button></div></form>"""
    if not accounts:
        form = """<section class="sheet"><h1>No account yet</h1><p>Open one of provider
<code>simulator</code> in test mode: <code>manage.py create_account</code>.</p></section>"""
    table = frame.table(
        "Latest payments", ("Number", "Order", "State", "Amount"), listed, escaped=True
    )
    return frame.page("Payments", form + table, wide=True)


def problem(message: str) -> str:
    """What is wrong."""
    return frame.page(
        "That does not work",
        f'<section class="sheet"><h1>That does not work</h1><p role="alert">{escape(message)}.</p>'
        '<p><a href="/">All payments</a></p></section>',
    )


def _sent(row: Row) -> tuple[str, str]:
    words = {"DUE": "waits", "DONE": "taken", "DROPPED": "dropped", "GIVEN_UP": "not taken"}
    return words[row["state"]] + (" (forged)" if row["forged"] else ""), row["answer"] or "-"


def _money(row: Row) -> str:
    return str(Money(row["amount_minor"], row["currency"]))
