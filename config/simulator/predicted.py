"""What the service's database must say, by the simulator's books alone."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from config.simulator.store import Row, Store
from orders.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A payment, refund or dispute; `is_told`: a callback has told its status and was taken."""

    number: str
    money: Money
    status: str
    is_told: bool
    refund_no: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment with all that has gone back of it."""

    itself: Thing
    order_no: str
    refunds: list[Thing] = field(default_factory=list)
    disputes: list[Thing] = field(default_factory=list)

    @property
    def refunded_minor(self) -> int:
        """What must count as refunded when all is told."""
        return sum(one.money.amount_minor for one in self.refunds if one.status == "succeeded")

    @property
    def charged_back_minor(self) -> int:
        """What must count as charged back when all is told."""
        return sum(
            one.money.amount_minor for one in self.disputes if one.status in {"opened", "lost"}
        )


_TOLD_SQL: Final = """
    SELECT DISTINCT subject, type FROM callbacks
     WHERE account = ? AND state = 'DONE' AND NOT forged
"""


def payments(store: Store, account: str) -> dict[str, Payment]:
    """All payments of an account by their number, as of one moment."""
    with store.writing():
        told: Mapping[str, set[str]] = defaultdict(set)
        for row in store.rows(_TOLD_SQL, account):
            told[row["subject"]].add(row["type"])
        found = {
            row["txn_no"]: Payment(
                itself=_thing(row, "payment", row["txn_no"], told), order_no=row["order_no"]
            )
            for row in store.rows("SELECT * FROM payments WHERE account = ?", account)
        }
        for row in store.rows("SELECT * FROM refunds WHERE account = ?", account):
            refund = _thing(row, "refund", row["number"], told, row["refund_no"] or "")
            found[row["txn_no"]].refunds.append(refund)
        for row in store.rows("SELECT * FROM disputes WHERE account = ?", account):
            dispute = _thing(row, "dispute", row["number"], told)
            found[row["txn_no"]].disputes.append(dispute)
    return found


def _thing(
    row: Row, kind: str, number: str, told: Mapping[str, set[str]], refund_no: str = ""
) -> Thing:
    return Thing(
        number=number,
        money=Money(row["amount_minor"], row["currency"]),
        status=row["status"],
        is_told=f"{kind}.{row['status']}" in told.get(number, ()),
        refund_no=refund_no,
    )
