"""Read a callback by a map of its fields: a provider as configuration instead of code.

A type or status that is not in `kinds` is IGNORED. An event without an id is known by the
signed id of its message, else by the digest of its body: never by anything unsigned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from orders.money import NotMoney
from orders.strict_json import StrictJsonError, at, identifier, parse, required, text
from payments.callback import PROVIDER_ID, Callback, Invalid, Kind, Reading, Unreadable
from payments.providers.stated_money import AmountRule, Stated, json_amount
from payments.providers.times import instant

Path = tuple[str, ...]
Paths = tuple[Path, ...]
#: What a type of event says: always the same, by its status, or by more of the event.
Meaning = Kind | Mapping[str, Kind] | Callable[[Any], Kind]


def paths(*pointers: str) -> Paths:
    """Paths from JSON pointers without escapes, of which the first value found counts."""
    return tuple(tuple(pointer[1:].split("/")) for pointer in pointers)


@dataclass(frozen=True, slots=True)
class ModeRule:
    """Where the mode stands, and the JSON values that mean live and test."""

    paths: Paths
    live: Any
    test: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """A map of fields; empty paths are fields that this provider does not state.

    `amount_required`: a payment must state its amount. Without, the provider's API tells it.
    """

    type: Paths
    event_id: Paths = ()
    transaction: Paths = ()
    order: Paths = ()
    amount: Paths = ()
    amount_rule: AmountRule
    amount_required: bool = True
    currency: Paths = ()
    currency_constant: str = ""
    account: Paths = ()
    mode: ModeRule | None = None
    occurred_at: Paths = ()
    linked: Paths = ()
    reverses: Paths = ()
    refund_no: Paths = ()
    status: Paths = ()
    kinds: Mapping[str, Meaning]

    def read(self, body: bytes, *, signed_id: str = "") -> Reading:
        """The callback in a body that is authentic, or why there is none. Never raises."""
        fallback_id = signed_id or sha256(body).hexdigest()
        try:
            document = parse(body)
        except StrictJsonError as error:
            return Unreadable(str(error), fallback_id)
        return self.read_event(document, fallback_id)

    def type_of(self, document: object) -> str | None:
        """The event's type. Raises StrictJsonError."""
        return _first_text(document, self.type)

    def read_event(self, document: object, fallback_id: str) -> Reading:
        """The callback in an event, or why there is none. Never raises."""
        event_id = None
        try:
            event_id = _first_id(document, self.event_id)
            return self._callback(document, event_id or fallback_id)
        except (StrictJsonError, NotMoney, Invalid) as error:
            if event_id is None or not PROVIDER_ID.fullmatch(event_id):
                event_id = fallback_id
            return Unreadable(str(error), event_id)

    def _callback(self, document: object, event_id: str) -> Callback:
        event_type = required(self.type_of(document), "the type")
        kind = self._kind(document, event_type)
        if kind is Kind.IGNORED:
            return Callback(event_id=event_id, event_type=event_type, kind=kind)
        money, words = self._money(document, kind)
        linked = [identifier(document, *path) for path in self.linked]
        return Callback(
            event_id=event_id,
            event_type=event_type,
            kind=kind,
            txn_no=required(_first_id(document, self.transaction), "the transaction number"),
            order_no=_first_id(document, self.order),
            money=money,
            stated_amount=words,
            account_no=_first_id(document, self.account),
            live=self._live(document),
            occurred_at=instant(_first(document, self.occurred_at)),
            linked_nos=tuple(dict.fromkeys(number for number in linked if number)),
            reverses=_first_id(document, self.reverses) or "",
            refund_no=_first_id(document, self.refund_no) or "",
        )

    def _kind(self, document: object, event_type: str) -> Kind:
        meaning = self.kinds.get(event_type, Kind.IGNORED)
        if isinstance(meaning, Kind):
            return meaning
        if isinstance(meaning, Mapping):
            return meaning.get(_first_text(document, self.status) or "", Kind.IGNORED)
        return meaning(document)

    def _money(self, document: object, kind: Kind) -> Stated:
        amount = next(
            (found for path in self.amount if (found := json_amount(document, *path)) is not None),
            None,
        )
        currency = self.currency_constant or _first_text(document, self.currency)
        if amount is not None and currency and currency.isascii():
            # A code means the same in either case, and providers write both.
            return self.amount_rule.money(amount, currency.upper())
        if kind is Kind.PAID and self.amount_required:
            raise NotMoney("a payment without an amount or without a currency")
        return Stated()

    def _live(self, document: object) -> bool | None:
        if self.mode is None or (stated := _first(document, self.mode.paths)) is None:
            return None
        for meaning, value in ((True, self.mode.live), (False, self.mode.test)):
            if type(stated) is type(value) and stated == value:
                return meaning
        raise StrictJsonError("the mode is neither live nor test")


def _first(document: object, paths: Paths) -> Any:
    return next((found for path in paths if (found := at(document, *path)) is not None), None)


def _first_text(document: object, paths: Paths) -> str | None:
    return next((found for path in paths if (found := text(document, *path)) is not None), None)


def _first_id(document: object, paths: Paths) -> str | None:
    return next((found for path in paths if (found := identifier(document, *path))), None)
