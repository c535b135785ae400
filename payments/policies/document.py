"""Read a policy's document: everything that rules may say, and nothing else.

    {"late": {"do": "refund", "limits": {"USD": 5000}},
     "over": {"do": "accept", "tolerance_minor": 5, "limits": {"USD": 10000}},
     "four_eyes_above": {"USD": 10000}}

Amounts are minor units of the currency that names them. A rule acts only in the currencies of its
`limits` and up to them. A tolerance bounds the difference between what came and what is owed; of
`tolerance_minor` and `tolerance_per_mille` each that is given must hold.
"""

from collections.abc import Mapping
from typing import Any, Final

from orders.money import AMOUNT_MINOR_MAX, NotMoney, exponent_of
from payments.policies.rules import Do, Kind, Rule, Rules

#: No tolerance is more than a tenth: that is no rounding and no bank's fee.
PER_MILLE_MAX: Final = 100
CURRENCIES_MAX: Final = 200

ALLOWED: Final[Mapping[Kind, frozenset[Do]]] = {
    Kind.LATE: frozenset(Do),
    Kind.OVER: frozenset(Do),
    Kind.UNDER: frozenset(Do),
    # The order was paid; nobody has an order: there is nothing that could be accepted.
    Kind.DUPLICATE: frozenset({Do.ASK, Do.REFUND}),
    Kind.PARKED: frozenset({Do.ASK, Do.REFUND}),
}
TOLERATING: Final = frozenset({Kind.OVER, Kind.UNDER})


class BadPolicy(ValueError):
    """The document is no policy; the message says where and why."""


def read(document: Any) -> Rules:
    """The rules of a document. Raises BadPolicy."""
    parts = _object(document, "the policy", {*Kind, "four_eyes_above"})
    return Rules(
        by_kind={kind: _rule(kind, parts[kind]) for kind in Kind if kind in parts},
        four_eyes_above=_amounts(parts.get("four_eyes_above", {}), "four_eyes_above"),
    )


def _rule(kind: Kind, document: Any) -> Rule:
    names = {"do", "limits"}
    if kind in TOLERATING:
        names |= {"tolerance_minor", "tolerance_per_mille"}
    parts = _object(document, kind, names)
    try:
        do = Do(parts.get("do", Do.ASK))
    except ValueError as error:
        raise BadPolicy(f"{kind}.do must be one of: {', '.join(Do)}") from error
    if do not in ALLOWED[kind]:
        raise BadPolicy(f"{kind}.do cannot be {do}")
    rule = Rule(
        do=do,
        limits=_amounts(parts.get("limits", {}), f"{kind}.limits"),
        tolerance_minor=_whole(parts, kind, "tolerance_minor", AMOUNT_MINOR_MAX),
        tolerance_per_mille=_whole(parts, kind, "tolerance_per_mille", PER_MILLE_MAX),
    )
    if do is not Do.ASK and not rule.limits:
        raise BadPolicy(f"{kind} needs limits: how much at most, for each currency")
    untold = rule.tolerance_minor is None and rule.tolerance_per_mille is None
    if do is Do.ACCEPT and kind in TOLERATING and untold:
        raise BadPolicy(f"{kind} needs tolerance_minor or tolerance_per_mille to accept within")
    return rule


def _object(document: Any, name: str, names: set[str]) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise BadPolicy(f"{name} must be a JSON object")
    unknown = sorted(set(document) - {str(known) for known in names})
    if unknown:
        raise BadPolicy(f"{name} has no {unknown[0]!r}; it may have: {', '.join(sorted(names))}")
    return document


def _amounts(document: Any, name: str) -> Mapping[str, int]:
    if not isinstance(document, dict) or len(document) > CURRENCIES_MAX:
        raise BadPolicy(f"{name} must name amounts by their currency: {{'USD': 5000}}")
    for currency, amount in document.items():
        try:
            exponent_of(currency)
        except NotMoney as error:
            raise BadPolicy(f"{name}: {error}") from error
        if type(amount) is not int or not 0 <= amount <= AMOUNT_MINOR_MAX:
            raise BadPolicy(f"{name}.{currency} must be a whole number of minor units")
    return document


def _whole(parts: Mapping[str, Any], kind: Kind, name: str, most: int) -> int | None:
    value = parts.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= most:
        raise BadPolicy(f"{kind}.{name} must be a whole number from 0 to {most}")
    return value
