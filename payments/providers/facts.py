"""What is known of a provider's protocol, for people: the documentation is made from it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One provider in words; `docs/providers.md` has a row for each field.

    `tier` is "first class", "second tier" or "hint": a hint is not authentic by itself and
    moves nothing until the provider's API has confirmed it. `unsigned` names what a forger may
    change in a captured request. `evidence` says where these facts were read or tried.
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
