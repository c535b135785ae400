"""The port between the service and a provider's protocol: three questions, no defaults.

An adapter is pure: bytes and configuration in, values out. It fits one callback per request
or a batch, HMAC and RSA signatures, plain and encrypted bodies: `authenticate` sees the whole
request and every configured key, `read` may decrypt with those keys and returns one reading
per callback.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol

from payments.callback import Reading
from payments.providers.facts import Facts


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A callback as it came over the wire.

    `headers` keeps order and repeats, names in lower case. `url` is the public URL that is
    configured for the account, never rebuilt from the request. `source` is the sender's
    network address, for the security log; it authenticates nothing.
    """

    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str = ""
    source: str = ""

    def header(self, name: str) -> str | None:
        """The value of a header that occurs exactly once, else None."""
        values = [value for given, value in self.headers if given == name.lower()]
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Key:
    """One configured key of an account; the repr never shows its material."""

    key_id: str
    purpose: str
    material: bytes = field(repr=False)
    not_before: datetime | None = None
    not_after: datetime | None = None

    def valid_at(self, now: datetime) -> bool:
        """Whether the key may be used at that time; both ends are inclusive."""
        return (self.not_before is None or self.not_before <= now) and (
            self.not_after is None or now <= self.not_after
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What an adapter may know of the merchant's account at its provider."""

    account_no: str
    live: bool
    settings: Mapping[str, Any]
    keys: tuple[Key, ...]


class Reason(StrEnum):
    """Why a request is not authentic. For the security log only: the reply never says it."""

    MISCONFIGURED = "the account's settings are not usable"
    NO_KEY = "no key is valid at this time"
    SIGNATURE_MISSING = "the signature is missing"
    SIGNATURE_MALFORMED = "the signature has another form"
    SIGNATURE_WRONG = "no configured key made this signature"
    TIMESTAMP_MALFORMED = "the timestamp is missing or has another form"
    TIMESTAMP_OUT_OF_TOLERANCE = "signed too long ago, or in the future"
    ID_MALFORMED = "the message id is missing or has another form"
    BODY_EMPTY = "the body is empty"
    BODY_MALFORMED = "the body that carries the signature has another form"
    METHOD_UNSUPPORTED = "signed or encrypted by a method that is not supported"
    CERTIFICATE_UNTRUSTED = "its certificate is not the provider's, or not valid now"
    PROBE = "the provider's own deliberately wrong signature"
    TOO_LARGE = "a header or the number of signatures is over its limit"


class Assurance(StrEnum):
    """How much of a request its signature vouches for."""

    WHOLE = "WHOLE"
    """Every byte that is read."""
    PARTIAL = "PARTIAL"
    """Some fields, or a checksum that can be forged: see the provider's page."""
    NONE = "NONE"
    """Nothing: a hint to ask the provider's API, and no more."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The request is authentic; `key_id` names the key that proved it.

    `opened_by` names the key that decrypted it, where that is another one.
    """

    key_id: str
    assurance: Assurance = Assurance.WHOLE
    opened_by: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The request is not authentic."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """The request names a key that is not configured: perhaps the provider has rotated.

    Nothing is stored; it is answered so that the provider sends it again, and somebody is told.
    """

    key_id: str


@dataclass(frozen=True, slots=True)
class CertificateNeeded:
    """The request can be judged once the certificate at this address has been fetched.

    The adapter has checked that the address is the provider's own. The caller fetches it, adds
    it to the keys with purpose `CERTIFICATE_PURPOSE` and the address as key id, and asks again.
    """

    url: str


Verdict = Verified | Rejected | UnknownKey | CertificateNeeded
CERTIFICATE_PURPOSE: Final = "certificate"


class Reply(StrEnum):
    """What we tell a provider. A duplicate is accepted: it must not tell the difference."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNKNOWN_KEY = "unknown key"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The exact HTTP answer a provider wants."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain"


class Provider(Protocol):
    """One provider's protocol."""

    @property
    def facts(self) -> Facts:
        """What people should know of it."""

    #: Whether callbacks move nothing until the provider's API has confirmed them, unless the
    #: account says otherwise. True wherever the signature vouches for nothing.
    confirmation_by_default: bool

    def check_settings(self, account: Account) -> None:
        """Refuse a configuration that could not be safe or could not work.

        Raises Misconfigured with what is wrong and what to do. Called when an account or a
        key is saved and when an account is loaded, never on a request's content.
        """

    def authenticate(self, request: SignedRequest, account: Account, *, now: datetime) -> Verdict:
        """Say whether the provider sent this. Never raises, whatever is sent."""

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The callbacks in an authentic request, at least one. Never raises."""

    def probe(self, query: Mapping[str, str], account: Account) -> Acknowledgement | None:
        """The answer to a GET or HEAD by which this provider verifies an address, else None."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """The answer that this provider understands."""


class Misconfigured(ValueError):
    """The account's settings or keys are not usable; the message says what to change."""
