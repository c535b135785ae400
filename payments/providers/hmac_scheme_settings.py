"""A signature scheme from an account's settings; every unsafe combination is refused.

    {
      "algorithm": "sha256",                     or sha512; sha1 only with "allow_legacy_sha1": true
      "secret_encoding": "utf8",                 or hex, base64: how the keys are written
      "secret_prefix": "",                       taken off before decoding
      "message": "{timestamp}.{body}",           {body} last; also {id}, and {url}, the public URL
      "signature": {"header": "X-Signature", "format": "kv", "key": "v1", "encoding": "hex"},
      "timestamp": {"source": "signature:t", "unit": "s",
                    "tolerance_past": 300, "tolerance_future": 300},
      "id": {"header": "X-Message-Id"}
    }

The remaining names are those of `SignatureRule` and `TimestampRule`. Keys are not settings:
they are stored with the account, encrypted.
"""

import re
from typing import Final

from payments.providers.hmac_scheme import (
    DECODERS,
    DEFAULT_PATTERN,
    HmacScheme,
    SignatureRule,
    TimestampRule,
)
from payments.providers.options import Options
from payments.providers.port import Misconfigured

_TOLERANCE_SECONDS_MAX: Final = 86_400
_PLACEHOLDERS: Final = frozenset({"body", "timestamp", "id", "url"})
_HEADER_NAME: Final = re.compile(r"[a-z0-9-]{1,100}", re.ASCII)


def hmac_scheme(options: Options) -> HmacScheme:
    """The scheme, from settings of the same names. Raises Misconfigured."""
    if options.text("scheme", "hmac", choices=("hmac", "static_token")) == "static_token":
        raise Misconfigured(
            f"{options.where}.scheme: a static token does not authenticate what the body says;"
            " it is not accepted. Use a provider or an endpoint that signs its callbacks."
        )
    legacy = options.flag("allow_legacy_sha1", default=False)
    scheme = HmacScheme(
        algorithm=options.text(
            "algorithm", choices=("sha256", "sha512", *(("sha1",) if legacy else ()))
        ),
        key_encoding=options.text("secret_encoding", "utf8", choices=DECODERS),
        key_prefix=options.text("secret_prefix", "", empty=True),
        message=_message(options),
        signature=_signature(options.section("signature")),
        timestamp=_timestamp(options.section("timestamp")) if "timestamp" in options else None,
        id_header=_id_header(options.section("id")) if "id" in options else "",
    )
    options.text("url", "configured", choices=("configured",))
    options.text("missing_signature", "reject", choices=("reject",))
    options.finish()
    _refuse_unsigned_parts(scheme, options.where)
    return scheme


def _signature(options: Options) -> SignatureRule:
    form = options.text("format", "raw", choices=("raw", "kv", "versioned"))
    rule = SignatureRule(
        header=_header_name(options, "header"),
        format=form,
        item_separator=options.text("item_separator", ",", choices=(",", " ")),
        key=options.text("key") if form == "kv" else "",
        version=options.text("version") if form == "versioned" else "",
        version_separator=options.text("version_separator", ","),
        prefix=options.text("prefix", "", empty=True),
        prefix_required=options.flag("prefix_required", default=True),
        encoding=options.text("encoding", choices=("hex", "base64", "base64url")),
        max_candidates=options.integer("max_candidates", 10, low=1, high=50),
        max_items=options.integer("max_items", 20, low=1, high=100),
        max_header_bytes=options.integer("max_header_bytes", 4096, low=64, high=16384),
    )
    options.finish()
    if form == "versioned" and rule.item_separator == rule.version_separator:
        raise options.error("version_separator", "must differ from item_separator")
    return rule


def _timestamp(options: Options) -> TimestampRule:
    place, _, name = options.text("source").partition(":")
    if place not in {"signature", "header"} or not name:
        raise options.error("source", "must be signature:<item> or header:<name>")
    if place == "header" and not _HEADER_NAME.fullmatch(name.lower()):
        raise options.error("source", "does not name a header")
    try:
        pattern = re.compile(options.text("pattern", DEFAULT_PATTERN), re.ASCII)
    except re.error as error:
        raise options.error("pattern", f"is not a regular expression: {error}") from None
    rule = TimestampRule(
        item=name if place == "signature" else "",
        header=name.lower() if place == "header" else "",
        unit=options.text("unit", "s", choices=("s", "ms")),
        pattern=pattern,
        tolerance_past_seconds=options.integer(
            "tolerance_past", 300, low=1, high=_TOLERANCE_SECONDS_MAX
        ),
        tolerance_future_seconds=options.integer(
            "tolerance_future", 300, low=0, high=_TOLERANCE_SECONDS_MAX
        ),
    )
    options.finish()
    return rule


def _id_header(options: Options) -> str:
    name = _header_name(options, "header")
    options.finish()
    return name


def _header_name(options: Options, name: str) -> str:
    header = options.text(name).lower()
    if not _HEADER_NAME.fullmatch(header):
        raise options.error(name, "is not the name of a header")
    return header


def _message(options: Options) -> tuple[bytes | str, ...]:
    template = options.text("message", "{body}")
    parts: list[bytes | str] = []
    for piece in re.split(r"(\{[^{}]*\})", template):
        if piece[:1] == "{" and piece[1:-1] in _PLACEHOLDERS:
            parts.append(piece[1:-1])
        elif "{" in piece or "}" in piece:
            raise options.error("message", f"has an unknown placeholder {piece[:20]!r}")
        elif piece:
            parts.append(piece.encode())
    placeholders = [part for part in parts if isinstance(part, str)]
    if placeholders[-1:] != ["body"] or parts[-1] != "body":
        raise options.error("message", "must end with {body}")
    if len(set(placeholders)) != len(placeholders):
        raise options.error("message", "repeats a placeholder")
    if "id" in parts and isinstance(parts[parts.index("id") + 1], str):
        raise options.error("message", "needs a separator after {id}, or two messages look alike")
    return tuple(parts)


def _refuse_unsigned_parts(scheme: HmacScheme, where: str) -> None:
    """What is configured must be signed, and what is signed must be configured."""
    for name, configured in (("timestamp", scheme.timestamp), ("id", scheme.id_header)):
        if bool(configured) != (name in scheme.message):
            raise Misconfigured(
                f"{where}: {{{name}}} in the message and the section {name!r} need each other;"
                f" an unsigned {name} proves nothing"
            )
    if scheme.timestamp and scheme.timestamp.item and scheme.signature.format != "kv":
        raise Misconfigured(f"{where}: timestamp.source signature:<item> needs signature.format kv")
