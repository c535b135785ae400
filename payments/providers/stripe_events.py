"""What Stripe's events mean.

One payment is told by up to three events: of its PaymentIntent, its Charge and its Checkout
Session. The transaction is the PaymentIntent where the event names it, so that the three are
one; every other id that the event mentions is linked.

Ignored on purpose, besides unknown types:
- `invoice.paid`: an invoice is also paid by credit or outside Stripe, and newer versions no
  longer name its payment. The money is told by `payment_intent.succeeded`.
- `charge.dispute.updated`, `.funds_withdrawn`, `.funds_reinstated`: the dispute's opening and
  closing say it all.
- a Checkout Session for which no payment was required: there is no money.

`charge.refunded` states the newest refund where the event still carries the list of refunds
(older API versions). Without the list it states the charge's total so far: the transaction is
then the charge itself. `refund.*` events state each refund by its own number.

Shapes: https://docs.stripe.com/api/events/types
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from orders.strict_json import at, boolean, identifier, text
from payments.callback import Kind

#: Currencies whose minor unit at Stripe is not ISO 4217's. Stripe sends ISK and UGX with two
#: decimals though they have none, and the ariary without its fifths.
#: https://docs.stripe.com/currencies
EXPONENTS: Final[Mapping[str, int]] = {"ISK": 2, "MGA": 0, "UGX": 2}


class Meaning(NamedTuple):
    """What an event's object says: its kind, where its amount stands, and of which object."""

    kind: Kind
    amounts: tuple[str, ...] = ()
    #: The object that the event is about, where it is not the event's own.
    part: tuple[str, ...] = ()
    #: The amount is all that was refunded so far.
    cumulative: bool = False


_IGNORED: Final = Meaning(Kind.IGNORED)


def meaning_of(event_type: str, thing: object) -> Meaning:
    """What the event says of its object (`data.object`). Raises StrictJsonError."""
    rule = _MEANINGS.get(event_type, _IGNORED)
    return rule if isinstance(rule, Meaning) else rule(thing)


def transaction_of(kind: Kind, thing: object) -> str | None:
    """The number of the transaction: the PaymentIntent of what is paid, else the object's own."""
    payment_intent = _reference(thing, "payment_intent") if kind is Kind.PAID else None
    return payment_intent or identifier(thing, "id")


def reversed_by(kind: Kind, thing: object, charge: object) -> str:
    """The payment that a refund or a dispute takes back; empty for any other event."""
    if kind not in _REVERSALS:
        return ""
    return (
        _reference(thing, "payment_intent")
        or _reference(charge, "payment_intent")
        or _reference(thing, "charge")
        or (identifier(charge, "id") if text(charge, "object") == "charge" else None)
        or ""
    )


def refund_no_of(kind: Kind, refund: object, *, cumulative: bool) -> str:
    """The number that the merchant gave a refund, from its metadata."""
    is_refund = kind in (Kind.REFUNDED, Kind.REFUND_FAILED) and not cumulative
    return (identifier(refund, "metadata", "refund_no") if is_refund else None) or ""


def linked_to(thing: object) -> list[str]:
    """The ids of the object and of everything that belongs to the same payment."""
    names = ("payment_intent", "charge", "latest_charge")
    found = [identifier(thing, "id"), *(_reference(thing, name) for name in names)]
    return [number for number in found if number]


def order_of(thing: object, order_key: str) -> str | None:
    """The merchant's order number, from the metadata or Checkout's client reference."""
    keys = (order_key,) if order_key else ("order_id", "order_no")
    stated = (identifier(thing, "metadata", key) for key in keys)
    return next(filter(None, stated), None) or identifier(thing, "client_reference_id")


def _reference(thing: object, name: str) -> str | None:
    """An id, or the id of the object that was expanded in its place."""
    value = at(thing, name)
    return identifier(thing, name, "id") if isinstance(value, dict) else identifier(thing, name)


def _charge_succeeded(charge: object) -> Meaning:
    if boolean(charge, "paid") and boolean(charge, "captured"):
        return Meaning(Kind.PAID, ("amount_captured", "amount"))
    return Meaning(Kind.AUTHORIZED, ("amount",))


def _charge_refunded(charge: object) -> Meaning:
    newest = ("refunds", "data", "0")
    if at(charge, *newest) is not None:
        return _refund(charge, newest)
    return Meaning(Kind.REFUNDED, ("amount_refunded",), cumulative=True)


def _refund(thing: object, part: tuple[str, ...] = ()) -> Meaning:
    status = text(thing, *part, "status") or ""
    return Meaning(_REFUND_STATUSES.get(status, Kind.PENDING), ("amount",), part)


def _session_completed(session: object) -> Meaning:
    status = text(session, "payment_status") or ""
    return Meaning(_SESSION_STATUSES.get(status, Kind.PENDING), ("amount_total",))


def _dispute(dispute: object) -> Meaning:
    status = text(dispute, "status") or ""
    # An inquiry ("warning_..") moves no money; it may become a dispute later.
    if status.startswith("warning_"):
        return Meaning(Kind.CLOSED if status == "warning_closed" else Kind.PENDING, ("amount",))
    return Meaning(_DISPUTE_STATUSES.get(status, Kind.DISPUTED), ("amount",))


_REVERSALS: Final = frozenset(
    {
        *(Kind.REFUNDED, Kind.REFUND_FAILED),
        *(Kind.DISPUTED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST),
    }
)
_REFUND_STATUSES: Final = {
    "succeeded": Kind.REFUNDED,
    "failed": Kind.REFUND_FAILED,
    "canceled": Kind.REFUND_FAILED,
}
_SESSION_STATUSES: Final = {"paid": Kind.PAID, "no_payment_required": Kind.IGNORED}
_DISPUTE_STATUSES: Final = {"won": Kind.DISPUTE_WON, "lost": Kind.DISPUTE_LOST}

_MEANINGS: Final[Mapping[str, Meaning | Callable[[object], Meaning]]] = {
    "payment_intent.succeeded": Meaning(Kind.PAID, ("amount_received", "amount")),
    "payment_intent.processing": Meaning(Kind.PENDING, ("amount",)),
    "payment_intent.amount_capturable_updated": Meaning(
        Kind.AUTHORIZED, ("amount_capturable", "amount")
    ),
    "payment_intent.payment_failed": Meaning(Kind.FAILED, ("amount",)),
    "payment_intent.canceled": Meaning(Kind.CLOSED, ("amount",)),
    "charge.succeeded": _charge_succeeded,
    "charge.captured": _charge_succeeded,
    "charge.pending": Meaning(Kind.PENDING, ("amount",)),
    "charge.failed": Meaning(Kind.FAILED, ("amount",)),
    "charge.expired": Meaning(Kind.CLOSED, ("amount",)),
    "charge.refunded": _charge_refunded,
    "charge.refund.updated": _refund,
    "refund.created": _refund,
    "refund.updated": _refund,
    "refund.failed": Meaning(Kind.REFUND_FAILED, ("amount",)),
    "charge.dispute.created": _dispute,
    "charge.dispute.closed": _dispute,
    "checkout.session.completed": _session_completed,
    "checkout.session.async_payment_succeeded": Meaning(Kind.PAID, ("amount_total",)),
    "checkout.session.async_payment_failed": Meaning(Kind.FAILED, ("amount_total",)),
    "checkout.session.expired": Meaning(Kind.CLOSED, ("amount_total",)),
}
_BY_STATUS: Final[Mapping[object, Mapping[str, Kind]]] = {
    _charge_succeeded: {"captured": Kind.PAID, "not captured": Kind.AUTHORIZED},
    _charge_refunded: {"": Kind.REFUNDED},
    _refund: {**_REFUND_STATUSES, "others": Kind.PENDING},
    _session_completed: {**_SESSION_STATUSES, "others": Kind.PENDING},
    _dispute: {
        **_DISPUTE_STATUSES,
        "warning_closed": Kind.CLOSED,
        "warning_..": Kind.PENDING,
        "others": Kind.DISPUTED,
    },
}
#: The same for people, by ``type``, then by the object's status.
MEANINGS: Final[Mapping[str, Kind | Mapping[str, Kind]]] = {
    event_type: rule.kind if isinstance(rule, Meaning) else _BY_STATUS[rule]
    for event_type, rule in _MEANINGS.items()
}
