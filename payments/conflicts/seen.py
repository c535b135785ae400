"""What a reviewer saw of a conflict, its order and its money, and what has moved since."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext_noop as _

from orders.models import Order
from payments.conflicts import facts
from payments.conflicts.facts import Facts
from payments.models import Conflict, ProviderTransaction, TransactionKind
from payments.refunds import room
from payments.saying import Sentence, says

Value = str | int | None
#: The columns that decide, by the name under which people are shown them.
_CONFLICT: Final = ("status", "version")
_ORDER: Final = (
    *("order_no", "status", "amount_minor", "currency", "refunded_minor", "paid_txn_no"),
    *("payable_through", "version"),
)
_MONEY: Final = (
    *("txn_no", "order_no", "disposition", "amount_minor", "currency"),
    *("refund_reserved_minor", "refunded_minor", "charged_back_minor"),
)


class NoSuchConflict(LookupError):
    """There is no conflict of this number."""


class NotSeen(ValueError):
    """This is nothing that a page of ours has shown."""


class Change(NamedTuple):
    """One thing that moved: its name, what it was when it was seen, and what it is now."""

    name: str
    then: Value
    now: Value

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> Sentence:
        """What moved, for people."""
        return says(
            _("%(name)s was %(then)s and is %(now)s"), name=self.name, then=self.then, now=self.now
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a decision rests on, as it was at one moment."""

    values: Mapping[str, Value]

    @property
    def digest(self) -> str:
        """A short name for exactly this."""
        return hashlib.sha256(self.token().encode()).hexdigest()

    def token(self) -> str:
        """As text that a form can carry to and fro; it is no secret and proves nothing."""
        return json.dumps(dict(self.values), sort_keys=True, separators=(",", ":"))

    def changes(self, now: "Seen") -> list[Change]:
        """What differs, field by field."""
        names = sorted(self.values.keys() | now.values.keys())
        pairs = [(name, self.values.get(name), now.values.get(name)) for name in names]
        return [Change(*pair) for pair in pairs if pair[1] != pair[2]]


def read(token: str) -> Seen:
    """What `Seen.token` wrote. Raises NotSeen for anything else."""
    try:
        values = json.loads(token)
    except ValueError as error:
        raise NotSeen(NotSeen.__doc__) from error
    if not isinstance(values, dict) or not all(
        value is None or isinstance(value, (str, int)) for value in values.values()
    ):
        raise NotSeen(NotSeen.__doc__)
    return Seen(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A conflict with the rows that it is about, all read at one moment; locked if so asked."""

    conflict: Conflict
    money: ProviderTransaction | None
    order: Order | None
    target_no: str
    target: Order | None

    @property
    def facts(self) -> Facts:
        """What decides which resolutions fit."""
        return facts.of(
            self.conflict, self.money, self.order, target_no=self.target_no, target=self.target
        )

    @property
    def seen(self) -> Seen:
        """What a decision rests on."""
        values = _values("conflict", self.conflict, _CONFLICT)
        values |= _values("transaction", self.money, _MONEY)
        values |= _values("order", self.order, _ORDER)
        if self.target_no:
            values |= _values("target", self.target, _ORDER)
        return Seen(values)


def look(conflict_id: int, *, target_no: str = "") -> Held:
    """The conflict as committed now; `target_no` names another order to match it to.

    Raises NoSuchConflict.
    """
    return _read(conflict_id, target_no, locked=False)


def lock(conflict_id: int, *, target_no: str = "") -> Held:
    """As `look`; nothing of it can move until the caller's transaction ends.

    Rows are locked in the order that everybody takes: the payment, what reverses it, orders by
    their numbers, the conflict.
    """
    return _read(conflict_id, target_no, locked=True)


def _read(conflict_id: int, target_no: str, *, locked: bool) -> Held:
    conflicts = Conflict.objects.select_related("merchant")
    conflict = conflicts.filter(pk=conflict_id).first()
    if conflict is None:
        raise NoSuchConflict(f"there is no conflict {conflict_id}")
    money = _money(conflict.transaction_id, locked=locked)
    orders = _orders(conflict, target_no, locked=locked)
    if locked:
        conflict = conflicts.select_for_update(no_key=True, of=("self",)).get(pk=conflict_id)
    return Held(
        conflict=conflict,
        money=money,
        order=next((order for order in orders if order.pk == conflict.order_id), None),
        target_no=target_no,
        target=next((order for order in orders if order.order_no == target_no), None),
    )


def _money(row_id: int | None, *, locked: bool) -> ProviderTransaction | None:
    if row_id is None:
        return None
    rows = ProviderTransaction.objects.select_related("account", "merchant")
    row = rows.get(pk=row_id)
    if not locked:
        return row
    if row.kind != TransactionKind.PAYMENT and row.reverses_id is not None:
        room.lock(row.reverses_id)
    return room.lock(row_id)


def _orders(conflict: Conflict, target_no: str, *, locked: bool) -> list[Order]:
    orders = Order.objects.filter(pk__in=[conflict.order_id] if conflict.order_id else [])
    if target_no:
        orders |= Order.objects.filter(merchant_id=conflict.merchant_id, order_no=target_no)
    orders = orders.order_by("order_no")
    return list(orders.select_for_update(no_key=True) if locked else orders)


def _values(name: str, row: Any, columns: tuple[str, ...]) -> dict[str, Value]:
    if row is None:
        return {name: None}
    return {f"{name}.{column}": _plain(getattr(row, column)) for column in columns}


def _plain(value: Any) -> Value:
    return value if value is None or isinstance(value, int) else str(value)
