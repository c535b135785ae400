"""Requests and replies, free of any server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from config.simulator.refused import Refused
from orders.money import Money, NotMoney
from orders.strict_json import StrictJsonError, loads_strict
from payments.callback import ORDER_NO


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked; names of headers in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered. `dropped`: the connection is closed without a word."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False


def document(content: Any, status: int = 200, **headers: str) -> Reply:
    """The content as JSON."""
    return Reply(status=status, body=json.dumps(content).encode(), headers=headers)


def error(refused: Refused, **headers: str) -> Reply:
    """An error in the simulator's form."""
    content = {"error": {"code": refused.code, "message": refused.message}}
    return document(content, refused.status, **headers)


class Fields:
    """The fields of a JSON object, each checked; every problem is a 400 that names the field."""

    def __init__(self, body: bytes) -> None:
        try:
            self._given = loads_strict(body) if body else {}
        except StrictJsonError as problem:
            raise Refused(400, "bad_request", f"The body is not JSON: {problem}") from None
        if not isinstance(self._given, dict):
            raise Refused(400, "bad_request", "The body is not a JSON object")

    def number(self, name: str, *, optional: bool = False) -> str | None:
        """A number such as an order's: 1 to 64 of A-Z a-z 0-9 _ . : - characters."""
        value = self._given.get(name)
        if value is None and optional:
            return None
        if not isinstance(value, str) or not ORDER_NO.fullmatch(value):
            raise Refused(400, "bad_request", f"{name} must be 1 to 64 of A-Z a-z 0-9 _ . : -")
        return value

    def whole(self, name: str, default: int | None = None) -> int | None:
        """A whole number."""
        value = self._given.get(name, default)
        if value is not None and type(value) is not int:
            raise Refused(400, "bad_request", f"{name} must be a whole number")
        return value

    def money(self) -> Money:
        """`amount_minor` and `currency`."""
        amount, currency = self._given.get("amount_minor"), self._given.get("currency")
        return money(amount, currency)

    def texts(self, name: str) -> dict[str, str]:
        """An object of switches; numbers may be given as numbers."""
        value = self._given.get(name, {})
        if not isinstance(value, dict):
            raise Refused(400, "bad_request", f"{name} must be an object")
        return {key: str(each) for key, each in value.items()}


def money(amount: object, currency: object) -> Money:
    """The money, which must be more than nothing. Raises Refused."""
    if type(amount) is not int or amount <= 0 or not isinstance(currency, str):
        wanted = "amount_minor must be a whole number above 0, and currency a text"
        raise Refused(400, "bad_request", wanted)
    try:
        return Money(amount, currency)
    except NotMoney as problem:
        raise Refused(400, "bad_request", f"Not an amount: {problem}") from None
