"""A callback's bytes for people: all that decides, and nothing of the payer that does not."""

import json
import re
from typing import Any, Final
from urllib.parse import parse_qsl

from config.console import text

#: Names of fields that hold a person's data, or that prove or open something.
_PERSONAL: Final = re.compile(
    r"e.?mail|phone|mobile|name|address|street|city|postal|(^|_)zip|birth|passport|identity|openid"
    r"|buyer|payer|payee|customer|shopper|holder|card|iban|(^|_)(pan|bic|ip)(_|$)|cvc|cvv|bank"
    r"|account_?number|latitude|longitude|sign|secret|token|password|ciphertext|nonce"
    r"|auth(?!orized)",
    re.IGNORECASE,
)
#: What looks like an address or a card wherever it stands.
_EMAIL: Final = re.compile(r"[^\s@\"'<>]+@[^\s@\"'<>]+\.[a-z]{2,}", re.IGNORECASE)
_CARD: Final = re.compile(r"\b\d{12,19}\b")
_XML: Final = re.compile(r"<([A-Za-z][\w.:-]*)>(<!\[CDATA\[)?([^<]*?)(\]\]>)?</\1>")
_DEPTH_MAX: Final = 40
HIDDEN: Final = "***"


def masked(raw: bytes) -> str:
    """The text with what is personal hidden; empty if it is no text that could be looked through.

    JSON keeps its shape, forms become a line a field, XML keeps its elements.
    """
    try:
        body = raw[: text.TEXT_BYTES_MAX].decode()
    except UnicodeDecodeError:
        return ""
    if len(raw) > text.TEXT_BYTES_MAX:
        return ""
    for read in (_json, _xml, _form):
        shown = read(body)
        if shown:
            return text.visible(shown)
    return ""


def _json(body: str) -> str:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return text.pretty_json(_hide("", value, 0)) if isinstance(value, (dict, list)) else ""


def _xml(body: str) -> str:
    if not body.lstrip().startswith("<"):
        return ""
    return _XML.sub(lambda found: f"<{found[1]}>{_leaf(found[1], found[3])}</{found[1]}>", body)


def _form(body: str) -> str:
    try:
        pairs = parse_qsl(body, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return ""
    return "\n".join(f"{name}={_inner(name, value)}" for name, value in pairs)


def _inner(name: str, value: str) -> str:
    """A field of a form may hold JSON of its own."""
    return _json(value) if value[:1] in ("{", "[") and _json(value) else _leaf(name, value)


def _hide(name: str, value: Any, depth: int) -> Any:
    """The value without what is personal; what is below a personal name is personal too."""
    if depth > _DEPTH_MAX:
        return HIDDEN
    match value:
        case dict():
            below = f"{name}." if _PERSONAL.search(name) else ""
            return {key: _hide(f"{below}{key}", part, depth + 1) for key, part in value.items()}
        case list():
            return [_hide(name, part, depth + 1) for part in value]
        case str():
            return _leaf(name, value)
        case int() | float() if not isinstance(value, bool) and _PERSONAL.search(name):
            return HIDDEN
        case _:
            return value


def _leaf(name: str, value: str) -> str:
    if value and _PERSONAL.search(name):
        return HIDDEN
    return _CARD.sub(HIDDEN, _EMAIL.sub(HIDDEN, value))
