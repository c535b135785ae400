"""What is known of a provider's protocol, for people: the documentation is made from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from payments.providers.field_map import Meaning


@dataclass(frozen=True, slots=True)
class KeyFact:
    """A purpose that an account's keys may have, and what such a key is.

    An account without a key that is `needed` could verify or read nothing.
    """

    purpose: str
    what: str
    needed: bool = True


SIGNING_SECRET: Final = (KeyFact("signature", "the signing secret, as the provider shows it"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One provider in words; `docs/providers.md` has a row for each field.

    `tier` is "first class", "second tier" or "hint": a hint is not authentic by itself and
    moves nothing until the provider's API has confirmed it. `assurance` is how much a
    signature vouches for, as `port.Assurance` has it. `unsigned` names what a forger may
    change in a captured request. `evidence` says where these facts were read or tried.
    `meanings` are the provider's events where no field map has them. `nameless` begin the numbers
    of links and checkouts that are told as paid without naming their payment.
    """

    title: str
    tier: str
    signature: str
    signed: str
    unsigned: str
    retries: str
    acknowledgement: str
    order: str
    amount: str
    refund: str
    settings: str = "none"
    source: str
    evidence: str
    assurance: str = "WHOLE"
    keys: tuple[KeyFact, ...] = SIGNING_SECRET
    #: For the provider's API, which an account may go without.
    api_keys: tuple[KeyFact, ...] = ()
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    nameless: tuple[str, ...] = ()
