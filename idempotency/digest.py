"""What a request means, as 32 bytes: two that mean the same have the same digest.

SHA-256 over RFC 8785 canonical JSON, which settles the order of names, white space and escapes.
Four things differ from RFC 8785, which sees every number as a double:

- Numbers are compared exactly, however they are spelt: 100, 100.0 and 1e2 are one number, but
  9007199254740993 is not 9007199254740992, and 0.1 is not 0.1000000000000000055. What is no
  whole number within 2^53 is written beside the document, by where it stands.
- A null of an optional member is left out, as if it were absent.
- Members that carry no meaning are left out.
- Text is compared by its code points, as RFC 8785 has it; half a character, which it forbids, is
  refused here too.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import rfc8785

#: Beyond it doubles have gaps, and RFC 8785 has no exact form.
_WHOLE_MAX: Final = 2**53 - 1
_WHOLE_DIGITS_MAX: Final = 16

Path = tuple[str, ...]


class NoCanonicalForm(ValueError):
    """The body contains half a character: no text that UTF-8 can carry."""


def meaning_of(
    *,
    method: str,
    path: str,
    arguments: Mapping[str, str] | None = None,
    body: Any,
    optional: Collection[Path] = (),
    irrelevant: Collection[Path] = (),
) -> bytes:
    """The digest of a request.

    `path` is the template ("/v1/orders/{order_no}/close") and `arguments` its values. `body` is
    read JSON whose numbers are int or Decimal. `optional` and `irrelevant` are paths of members;
    items of a list have the path of the list.

    Raises NoCanonicalForm.
    """
    numbers: dict[str, str] = {}
    shown = _Reading(frozenset(optional), frozenset(irrelevant), numbers).shown(body, (), "")
    document = {
        "method": method,
        "path": path,
        "arguments": dict(arguments or {}),
        "body": shown,
        "numbers": numbers,
    }
    try:
        return hashlib.sha256(rfc8785.dumps(document)).digest()
    except (rfc8785.CanonicalizationError, UnicodeError) as error:
        raise NoCanonicalForm("half a character") from error


class _Reading:
    """One walk through a body; `numbers` collects what RFC 8785 cannot write exactly."""

    def __init__(
        self, optional: frozenset[Path], irrelevant: frozenset[Path], numbers: dict[str, str]
    ) -> None:
        self._optional = optional
        self._irrelevant = irrelevant
        self._numbers = numbers

    def shown(self, value: Any, path: Path, pointer: str) -> Any:
        """The value as it enters the canonical form."""
        match value:
            case bool() | None | str():
                return value
            case int() | Decimal():
                return self._number(value, pointer)
            case Mapping():
                return {
                    name: self.shown(inner, (*path, name), f"{pointer}/{_escaped(name)}")
                    for name, inner in value.items()
                    if not self._is_left_out((*path, name), inner)
                }
            case Sequence():
                return [
                    self.shown(inner, path, f"{pointer}/{number}")
                    for number, inner in enumerate(value)
                ]
            case _:
                raise TypeError(f"{type(value).__name__} is not read JSON")

    def _is_left_out(self, path: Path, value: Any) -> bool:
        return path in self._irrelevant or (value is None and path in self._optional)

    def _number(self, value: int | Decimal, pointer: str) -> int | None:
        sign, digits, exponent = Decimal(value).as_tuple()
        assert isinstance(exponent, int)  # noqa: S101 - JSON has neither NaN nor Infinity
        significant = "".join(map(str, digits)).lstrip("0")
        bare = significant.rstrip("0")
        exponent += len(significant) - len(bare)
        if not bare:
            return 0
        if exponent >= 0 and len(bare) + exponent <= _WHOLE_DIGITS_MAX:
            whole = int(bare + exponent * "0")
            if whole <= _WHOLE_MAX:
                return -whole if sign else whole
        # No member of the document itself can look like this: the place holds null.
        self._numbers[pointer] = f"{'-' if sign else ''}{bare}e{exponent}"
        return None


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
