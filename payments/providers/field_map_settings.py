"""A field map from an account's settings.

    {
      "type": "/event",                     where things are: JSON pointers (RFC 6901), or a
      "event_id": "/id",                    list of pointers of which the first value counts
      "transaction": ["/data/id", "/data/reference"],
      "order": "/data/reference",
      "amount": {"at": "/data/amount", "unit": "minor", "exponents": {"ISK": 2}},
      "currency": "/data/currency",         or one currency for all: "EUR"
      "account": "/data/merchant",
      "live": {"at": "/data/domain", "live": "live", "test": "test"},
      "occurred_at": "/data/paid_at",
      "linked": ["/data/charge"],
      "reverses": "/data/payment",          the payment that a refund or dispute takes back
      "refund_no": "/data/merchant_ref",    the number that the merchant gave a refund
      "status": "/data/status",
      "kinds": {"charge.success": "PAID",   what each type means; by status where it depends
                "charge.updated": {"success": "PAID", "failed": "FAILED"}}
    }

Each refusal names the setting and says what it must be.
"""

import re
from collections.abc import Mapping
from typing import Final

from orders.money import NotMoney, exponent_of
from payments.callback import LINKED_NOS_MAX, Kind
from payments.providers.field_map import FieldMap, ModeRule, Paths
from payments.providers.options import Options
from payments.providers.stated_money import UNITS, AmountRule

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
_EXPONENT_MAX: Final = 4


def field_map(options: Options) -> FieldMap:
    """The map, from settings of the form above. Raises Misconfigured."""
    amount, amount_rule = _amount(options.section("amount"))
    currency, constant = _currency_source(options)
    status = paths(options, "status")
    fields = FieldMap(
        type=paths(options, "type", optional=False),
        event_id=paths(options, "event_id"),
        transaction=paths(options, "transaction", optional=False),
        order=paths(options, "order"),
        amount=amount,
        amount_rule=amount_rule,
        currency=currency,
        currency_constant=constant,
        account=paths(options, "account"),
        mode=_mode(options.section("live")) if "live" in options else None,
        occurred_at=paths(options, "occurred_at"),
        linked=paths(options, "linked"),
        reverses=paths(options, "reverses"),
        refund_no=paths(options, "refund_no"),
        status=status,
        kinds=_kinds(options, status),
    )
    options.finish()
    return fields


def paths(options: Options, name: str, *, optional: bool = True) -> Paths:
    """The paths under that name: a JSON pointer, or a list of them. Raises Misconfigured."""
    given = options.value(name, []) if optional else options.value(name)
    return _parsed(options, name, given, optional=optional)


def _parsed(options: Options, name: str, given: object, *, optional: bool = False) -> Paths:
    pointers = [given] if isinstance(given, str) else given
    if not isinstance(pointers, list) or not (pointers or optional):
        raise options.error(name, "must be a JSON pointer or a list of them")
    if len(pointers) > LINKED_NOS_MAX:
        raise options.error(name, f"has more than {LINKED_NOS_MAX} pointers")
    for pointer in pointers:
        if not isinstance(pointer, str) or not _POINTER.fullmatch(pointer):
            raise options.error(name, "must be a JSON pointer such as /data/id")
    return tuple(
        tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))
        for pointer in pointers
    )


def _amount(amount: Options) -> tuple[Paths, AmountRule]:
    at = paths(amount, "at", optional=False)
    unit = amount.text("unit", choices=UNITS)
    given = amount.value("exponents", {})
    if not isinstance(given, Mapping) or (given and unit == "major"):
        raise amount.error("exponents", "must be an object, and belongs to unit minor")
    exponents = Options(given, f"{amount.where}.exponents")
    table = {
        _currency(exponents, name): exponents.integer(name, low=0, high=_EXPONENT_MAX)
        for name in list(given)
    }
    amount.finish()
    return at, AmountRule(unit, table)


def _currency(options: Options, code: str) -> str:
    try:
        exponent_of(code)
    except NotMoney as error:
        raise options.error(code, f"is not usable: {error}") from None
    return code


def _currency_source(options: Options) -> tuple[Paths, str]:
    """Where the currency stands, or the one currency of all callbacks."""
    given = options.value("currency")
    if isinstance(given, str) and not given.startswith("/"):
        try:
            exponent_of(given)
        except NotMoney as error:
            raise options.error(
                "currency", f"must be a JSON pointer or a currency: {error}"
            ) from None
        return (), given
    return _parsed(options, "currency", given), ""


def _mode(options: Options) -> ModeRule:
    rule = ModeRule(
        paths=paths(options, "at", optional=False),
        live=options.value("live", default=True),
        test=options.value("test", default=False),
    )
    for name, value in (("live", rule.live), ("test", rule.test)):
        if not isinstance(value, str | int):
            raise options.error(name, "must be text, a whole number, true or false")
    if type(rule.live) is type(rule.test) and rule.live == rule.test:
        raise options.error("test", "must differ from live")
    options.finish()
    return rule


def _kinds(options: Options, status: Paths) -> dict[str, Kind | Mapping[str, Kind]]:
    given = options.value("kinds")
    if not isinstance(given, Mapping) or not given:
        raise options.error("kinds", "must be an object from event types to kinds")
    kinds: dict[str, Kind | Mapping[str, Kind]] = {}
    for event_type, meaning in given.items():
        if isinstance(meaning, Mapping):
            if not status:
                raise options.error("status", "is missing, and kinds asks for it")
            kinds[event_type] = {
                stated: _one_kind(options, kind) for stated, kind in meaning.items()
            }
        else:
            kinds[event_type] = _one_kind(options, meaning)
    return kinds


def _one_kind(options: Options, name: object) -> Kind:
    try:
        return Kind(str(name))
    except ValueError:
        raise options.error("kinds", f"must say one of: {', '.join(Kind)}") from None
