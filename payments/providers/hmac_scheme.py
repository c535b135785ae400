"""How a provider signs with a shared secret, as data.

Most providers sign the raw body with an HMAC and differ only in the small choices that are the
fields here. `hmac_scheme_settings` reads them from an account's settings, `hmac_verify` uses
them.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from payments.providers.port import Key, Misconfigured

SECRET_BYTES_MIN: Final = 16
_SECRET_SYMBOLS_MIN: Final = 5
DEFAULT_PATTERN: Final = r"^\d{1,13}$"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRule:
    """Where the signature stands and how it is written.

    `raw`: each instance of the header is one signature. `kv`: one header with items ``k=v``,
    of which the values of `key` are signatures. `versioned`: one header with items
    ``<version><version_separator><signature>``. Other items are ignored.
    """

    header: str
    format: str = "raw"
    item_separator: str = ","
    key: str = ""
    version: str = ""
    version_separator: str = ","
    prefix: str = ""
    prefix_required: bool = True
    encoding: str = "hex"
    max_candidates: int = 10
    max_items: int = 20
    max_header_bytes: int = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampRule:
    """Where the signed time stands: `item` of the signature header, or a `header` of its own."""

    item: str = ""
    header: str = ""
    unit: str = "s"
    pattern: re.Pattern[str] = re.compile(DEFAULT_PATTERN, re.ASCII)
    tolerance_past_seconds: int = 300
    tolerance_future_seconds: int = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class HmacScheme:
    """One way to sign. `message` alternates literal bytes with placeholders (`str`)."""

    signature: SignatureRule
    message: tuple[bytes | str, ...] = ("body",)
    algorithm: str = "sha256"
    key_encoding: str = "utf8"
    key_prefix: str = ""
    timestamp: TimestampRule | None = None
    id_header: str = ""

    @property
    def id_separator(self) -> bytes:
        """What ends the id in the message; an id with it inside could be read as a shorter one."""
        following = self.message[self.message.index("id") + 1]
        return following if isinstance(following, bytes) else b""

    def signed_text(
        self, body: bytes, *, timestamp: str = "", message_id: str = "", url: str = ""
    ) -> bytes:
        """What is signed, made of the parts that the scheme asks for."""
        filled = {
            "body": body,
            "timestamp": timestamp.encode(),
            "id": message_id.encode(),
            "url": url.encode(),
        }
        return b"".join(part if isinstance(part, bytes) else filled[part] for part in self.message)

    def signature_of(self, secret: bytes, signed_text: bytes) -> bytes:
        """The signature as it is written, without a prefix."""
        mac = hmac.digest(secret, signed_text, self.algorithm)
        return ENCODERS[self.signature.encoding](mac)

    def secret(self, key: Key) -> bytes:
        """The secret's bytes. Raises Misconfigured if it is empty or not written as configured."""
        written = key.material
        if self.key_prefix:
            written = written.removeprefix(self.key_prefix.encode())
        try:
            secret = DECODERS[self.key_encoding](written)
        except ValueError:
            raise Misconfigured(f"key {key.key_id!r} is not {self.key_encoding}") from None
        if not secret:
            raise Misconfigured(f"key {key.key_id!r} is empty")
        return secret

    def check_key(self, key: Key) -> None:
        """Refuse a key that is unusable or could be guessed. Raises Misconfigured."""
        if key.material != key.material.strip():
            raise Misconfigured(f"key {key.key_id!r} begins or ends with a space or a line break")
        secret = self.secret(key)
        if len(secret) < SECRET_BYTES_MIN:
            raise Misconfigured(
                f"key {key.key_id!r} is shorter than {SECRET_BYTES_MIN} bytes; use the whole secret"
                " that the provider shows, or let it make a longer one"
            )
        if len(set(secret)) < _SECRET_SYMBOLS_MIN:
            raise Misconfigured(f"key {key.key_id!r} repeats too few characters to be a secret")


def _utf8(written: bytes) -> bytes:
    written.decode("utf-8")
    return written


def _hex(written: bytes) -> bytes:
    return binascii.unhexlify(written)


def _base64(written: bytes) -> bytes:
    # Padding may be missing; what is not in the alphabet may not be there.
    bare = written.rstrip(b"=")
    return base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True)


#: How a secret may be written. Each raises ValueError for what is not written so.
DECODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "utf8": _utf8,
    "hex": _hex,
    "base64": _base64,
}
#: How a signature may be written.
ENCODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "hex": lambda mac: mac.hex().encode(),
    "base64": base64.b64encode,
    "base64url": base64.urlsafe_b64encode,
}
