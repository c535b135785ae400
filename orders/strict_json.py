"""JSON read as strictly as money deserves: bytes in, values out, every surprise an error.

Python's own reader guesses UTF-16, keeps the last of two equal names, takes NaN for a number,
turns 19.99 into a float and overflows the stack on deep nesting. None of that happens here.
The caller bounds the size.

Two readings. `loads_strict` refuses a repeated name anywhere: what our own API takes. `parse`
remembers which names were repeated, and reading one of them is the error: a provider's
callback may repeat names in parts that nobody reads.

The getters (`text`, `identifier`, ..) take a value and the path to what is wanted; absent and
null are both None. Their errors name the path and never quote the content.
"""

import json
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn, TypeVar

DEPTH_MAX: Final = 64
#: Each costs microseconds, and some bodies are read before anybody knows who sent them: a
#: mebibyte of nothing but ``{}`` would take a processor for seconds.
NESTED_MAX: Final = 30_000
#: No id, amount or time is longer; more digits than this are an attack on int() or Decimal().
NUMBER_LENGTH_MAX: Final = 100

# A whole string, so that brackets inside it are passed over, or one bracket. The closing quote
# is optional and nothing is given back: an unterminated string costs one pass, not thousands.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,5}", re.ASCII)
# PostgreSQL's text refuses NUL, and UTF-8 has no lone surrogates.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

T = TypeVar("T")


class StrictJsonError(ValueError):
    """The bytes are not acceptable JSON, or a value in them is not what it must be."""


class JsonObject(dict[str, Any]):
    """A JSON object that knows which of its names occurred more than once."""

    __slots__ = ("ambiguous",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.ambiguous: frozenset[str] = frozenset()
        if len(self) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.ambiguous = frozenset(name for name, count in counts.items() if count > 1)


def parse(body: bytes) -> Any:
    """The document; its objects are JsonObjects. Raises StrictJsonError."""
    return _decode(body, _TOLERANT)


def loads_strict(body: bytes) -> Any:
    """The document, in which no object repeats a name. Raises StrictJsonError."""
    return _decode(body, _STRICT)


def at(node: object, *path: str) -> Any:
    """The value at the end of the path, or None where a part of the path is absent or null.

    Raises StrictJsonError when the path passes a repeated name, or goes into a value that is
    neither an object nor a list.
    """
    for depth, name in enumerate(path):
        if node is None:
            return None
        if isinstance(node, JsonObject):
            if name in node.ambiguous:
                raise StrictJsonError(f"{_dotted(path[: depth + 1])} occurs more than once")
            node = node.get(name)
        elif isinstance(node, list) and _INDEX.fullmatch(name):
            node = node[int(name)] if int(name) < len(node) else None
        else:
            raise StrictJsonError(f"{_dotted(path[:depth])} is not an object")
    return node


def text(node: object, *path: str) -> str | None:
    """A string, free of what no database can store."""
    value = at(node, *path)
    if value is None:
        return None
    if not isinstance(value, str):
        raise StrictJsonError(f"{_dotted(path)} is not text")
    if _UNSTORABLE.search(value):
        raise StrictJsonError(f"{_dotted(path)} contains NUL or half a character")
    return value


def identifier(node: object, *path: str) -> str | None:
    """An id as text. A JSON integer is the same id as its digits in quotes; empty is absent."""
    value = at(node, *path)
    if type(value) is int:
        return str(value)
    if value is not None and not isinstance(value, str):
        raise StrictJsonError(f"{_dotted(path)} is not an id")
    return text(node, *path) or None


def boolean(node: object, *path: str) -> bool | None:
    """True or false; 1, 0 and "true" are neither."""
    value = at(node, *path)
    if value is None or isinstance(value, bool):
        return value
    raise StrictJsonError(f"{_dotted(path)} is neither true nor false")


def mapping(node: object, *path: str) -> JsonObject | None:
    """An object."""
    value = at(node, *path)
    if value is None or isinstance(value, JsonObject):
        return value
    raise StrictJsonError(f"{_dotted(path)} is not an object")


def required(value: T | None, *path: str) -> T:
    """The value, or StrictJsonError if there is none."""
    if value is None:
        raise StrictJsonError(f"{_dotted(path)} is missing")
    return value


def _decode(body: bytes, decoder: json.JSONDecoder) -> Any:
    try:
        document = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not UTF-8 at byte {error.start}") from None
    if document.startswith("\ufeff"):
        raise StrictJsonError("begins with a byte order mark")
    _refuse_much_nesting(document)
    try:
        return decoder.decode(document)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not JSON: {error.msg} at character {error.pos}") from None


def _refuse_much_nesting(document: str) -> None:
    brackets = document.count("[") + document.count("{")
    if brackets <= DEPTH_MAX:
        return
    if brackets > NESTED_MAX:
        raise StrictJsonError(f"more than {NESTED_MAX} objects and lists")
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(document):
        bracket = match[0]
        if bracket in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise StrictJsonError(f"nested deeper than {DEPTH_MAX} levels")
        elif bracket in "]}":
            depth -= 1


def unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. Raises StrictJsonError where a name occurs more than once."""
    document = JsonObject(pairs)
    if document.ambiguous:
        raise StrictJsonError(
            f"the name {ascii(min(document.ambiguous))[:40]} occurs more than once"
        )
    return document


def _number(written: str) -> Decimal:
    if len(written) > NUMBER_LENGTH_MAX:
        raise StrictJsonError("a number is too long")
    try:
        return Decimal(written)
    except InvalidOperation:
        raise StrictJsonError("a number's exponent is out of range") from None


def _integer(written: str) -> int:
    if len(written) > NUMBER_LENGTH_MAX:
        raise StrictJsonError("a number is too long")
    return int(written)


def _constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not JSON")


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(path)[:100] or "the document"


_TOLERANT: Final = json.JSONDecoder(
    object_pairs_hook=JsonObject,
    parse_float=_number,
    parse_int=_integer,
    parse_constant=_constant,
)
_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=unambiguous,
    parse_float=_number,
    parse_int=_integer,
    parse_constant=_constant,
)
