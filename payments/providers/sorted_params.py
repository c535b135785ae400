"""Sorted parameters: how Alipay, UnionPay and WeChat Pay v2 make one text of a message's fields.

Drop the fields that carry the signature, sort the rest by the bytes of their names, join them
as ``name=value`` with ``&``, and append a suffix where there is one. Everything is bytes: the
message's charset, UTF-8 or GBK, then does not matter to its signature.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

#: No provider sends half as many.
FIELDS_MAX: Final = 128

_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")


class NotParams(ValueError):
    """The body is not a list of distinct fields; the message never quotes it."""


def parse_form(body: bytes) -> dict[bytes, bytes]:
    """The fields of a form, decoded once: ``+`` is a space, ``%xx`` a byte, ``;`` itself.

    Raises NotParams for a repeated name, because two readers could take different values of it,
    and for what only a lenient reader understands.
    """
    pieces = body.split(b"&", FIELDS_MAX)
    if len(pieces) > FIELDS_MAX:
        raise NotParams(f"more than {FIELDS_MAX} fields")
    params: dict[bytes, bytes] = {}
    for piece in pieces:
        name, equals, value = piece.partition(b"=")
        if not name or not equals:
            raise NotParams("a field without a name or without a value")
        name = _decoded(name)
        if name in params:
            raise NotParams("a field occurs more than once")
        params[name] = _decoded(value)
    return params


def to_sign(
    params: Mapping[bytes, bytes],
    *,
    without: Collection[bytes],
    drop_empty: bool = False,
    suffix: bytes = b"",
) -> bytes:
    """The bytes that are signed."""
    kept = (
        name + b"=" + value
        for name, value in sorted(params.items())
        if name not in without and (value or not drop_empty)
    )
    return b"&".join(kept) + suffix


def ascii_text(params: Mapping[bytes, bytes], name: str) -> str | None:
    """A field that is never anything but ASCII; absent and empty are both None.

    Raises NotParams for other characters.
    """
    value = params.get(name.encode())
    if not value:
        return None
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        raise NotParams(f"{name} is not ASCII") from None


def ascii_required(params: Mapping[bytes, bytes], name: str) -> str:
    """The same, and NotParams if there is none."""
    value = ascii_text(params, name)
    if value is None:
        raise NotParams(f"{name} is missing")
    return value


def _decoded(text: bytes) -> bytes:
    if _BAD_ESCAPE.search(text):
        raise NotParams("a percent sign that begins no escape")
    return _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), text.replace(b"+", b" "))
