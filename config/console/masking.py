"""A callback's bytes for people: all that decides, and nothing of the payer that does not."""

import json
import re
import secrets
from typing import Any, Final
from urllib.parse import parse_qsl

from config.console import text
from orders.strict_json import unambiguous

#: Names of fields that hold a person's data, or that prove or open something.
_PERSONAL: Final = re.compile(
    r"mail|phone|mobile|name|address|street|city|postal|(^|_)zip|birth|passport|identity|openid"
    r"|buyer|payer|payee|customer|shopper|holder|card|iban|(^|_)(pan|bic|ip)(_|$)|cvc|cvv|bank"
    r"|last_?4|line_?[12]|tax_?id|account_?number|latitude|longitude|sign|secret|token|password"
    r"|ciphertext|nonce|auth(?!orized)|hmac|digest|(^|_)(sig|key)(_|$)",
    re.IGNORECASE,
)
#: What looks like an address or a card wherever it stands.
_EMAIL: Final = re.compile(r"[^\s@\"'<>]+@[^\s@\"'<>]+\.[a-z]{2,}", re.IGNORECASE)
_CARD: Final = re.compile(r"\b\d{12,19}\b")
_XML: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>|<([^<>]*)>|([^<]+)", re.DOTALL)
_TAG: Final = re.compile(r"[A-Za-z_][\w.:-]*")
_ATTRIBUTE: Final = re.compile(r"([\w.:-]+)(\s*=\s*)(\"[^\"]*\"|'[^']*')")
_DEPTH_MAX: Final = 40
#: Before a number, until it is written again; nobody else knows it, and no digit begins a word.
_MARK: Final = f"{secrets.token_hex(8)}n"
_MARKED: Final = re.compile(rf'"{_MARK}([^"]*)"')
HIDDEN: Final = "***"


def masked(raw: bytes) -> str:
    """The text with what is personal hidden; empty if it is no text that could be looked through.

    JSON keeps its shape, forms become a line a field, XML keeps its elements.
    """
    try:
        body = raw.decode()
    except UnicodeDecodeError:
        return ""
    for read in (_json, _xml, _form):
        shown = read(body)
        if shown:
            return text.visible(shown)
    return ""


def _json(body: str) -> str:
    try:
        value = _read(body)
        hidden = _hide("", value, 0)
    except (ValueError, RecursionError):
        return ""
    return _numbers(text.pretty_json(hidden)) if isinstance(value, (dict, list)) else ""


def _read(body: str) -> Any:
    """Its numbers as they are written: what was stated as 10.10 is not shown as 10.1."""
    return json.loads(
        body,
        parse_float=_marked,
        parse_int=_marked,
        parse_constant=_marked,
        object_pairs_hook=unambiguous,
    )


def _marked(number: str) -> str:
    return f"{_MARK}{number}"


def _numbers(written: str) -> str:
    return _MARKED.sub(r"\1", written)


def _xml(body: str) -> str:
    if not body.lstrip().startswith("<"):
        return ""
    inside: list[str] = []
    return "".join(_piece(found, inside) for found in _XML.finditer(body))


def _piece(found: re.Match[str], inside: list[str]) -> str:
    """An element's begin or end, or text; `inside` names the elements that it stands in."""
    given, tag, plain = found.groups()
    if tag is None:
        value = plain if given is None else given
        personal = next((name for name in inside if _PERSONAL.search(name)), "")
        return _inner(personal, value, 0) if value.strip() else value
    name = _TAG.match(tag.lstrip("/"))
    if tag.startswith("/"):
        del inside[-1:]
    elif name and not tag.endswith("/"):
        inside.append(name[0])
    if tag.startswith("!"):
        return f"<{_leaf('', tag)}>"
    return f"<{_ATTRIBUTE.sub(_attribute, tag)}>"


def _attribute(found: re.Match[str]) -> str:
    name, equals, quoted = found.groups()
    return f"{name}{equals}{quoted[0]}{_leaf(name, quoted[1:-1])}{quoted[0]}"


def _form(body: str) -> str:
    try:
        pairs = parse_qsl(body, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return ""
    return "\n".join(f"{name}={_inner(name, value, 0)}" for name, value in pairs)


def _inner(name: str, value: str, depth: int) -> str:
    """A text may hold JSON of its own."""
    if value[:1] not in ("{", "[") or _PERSONAL.search(name):
        return _leaf(name, value)
    try:
        hidden = _hide(name, _read(value), depth + 1)
        return _numbers(json.dumps(hidden, ensure_ascii=False))
    except (ValueError, RecursionError):
        return _leaf(name, value)


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
            return _inner(name, value, depth)
        case _:
            return value


def _leaf(name: str, value: str) -> str:
    if value and _PERSONAL.search(name):
        return HIDDEN
    return _CARD.sub(_card, _EMAIL.sub(HIDDEN, value))


def _card(found: re.Match[str]) -> str:
    """Numbers of cards end with a digit that checks the others (ISO/IEC 7812): few others do."""
    digits = [int(digit) for digit in reversed(found[0])]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return found[0] if (sum(digits[::2]) + sum(doubled)) % 10 else HIDDEN
