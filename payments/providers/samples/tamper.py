"""Spoil a sample as an attacker would: another amount, another key, an old recording."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from orders.money import Money
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key, SignedRequest, Verified
from payments.providers.registry import PROVIDERS
from payments.providers.samples.make import sample
from payments.providers.samples.occurrence import CannotTell, Hand, Occurrence

#: Older than any provider's signature may be.
_STALE: Final = timedelta(days=5)


def _amount(name: str, told: Occurrence, hand: Hand) -> SignedRequest:
    """The amount in the body is another than the one that was signed."""
    genuine = sample(name, told, hand)
    for written in (told.money.major, str(told.money.amount_minor)):
        amount = re.compile(rf"(?<![0-9A-Za-z.-]){re.escape(written)}(?![0-9A-Za-z.-])".encode())
        more = Money(told.money.amount_minor + 1, told.money.currency)
        forged = more.major if written == told.money.major else str(more.amount_minor)
        body = amount.sub(forged.encode(), genuine.body)
        if body != genuine.body:
            return replace(genuine, body=body)
    raise CannotTell("no amount stands open in the body: it is sealed or asked")


def _signature(name: str, told: Occurrence, hand: Hand) -> SignedRequest:
    """Somebody else's key made the signature."""
    keys = tuple(_other(key) if key.purpose == KEY_PURPOSE else key for key in hand.account.keys)
    if not keys:
        raise CannotTell("nothing is signed")
    if hand.private_key is not None:
        return sample(name, told, replace(hand, forger=generate_private_key(65537, 2048)))
    return sample(name, told, replace(hand, account=replace(hand.account, keys=keys)))


def _timestamp(name: str, told: Occurrence, hand: Hand) -> SignedRequest:
    """It was genuine some days ago."""
    stale = sample(name, replace(told, at=told.at - _STALE), hand)
    verdict = PROVIDERS[name].authenticate(stale, hand.account, now=told.at)
    if isinstance(verdict, Verified):
        raise CannotTell("no time is signed, so an old request is as good as a new one")
    return stale


TAMPERINGS: Final[Mapping[str, Callable[[str, Occurrence, Hand], SignedRequest]]] = {
    "amount": _amount,
    "signature": _signature,
    "timestamp": _timestamp,
}


def _other(key: Key) -> Key:
    """Another secret of the same form: its last two differing letters change places."""
    text = bytearray(key.material.rstrip(b"="))
    last = len(text) - 1
    other = max(n for n in range(last) if text[n] != text[last])
    text[last], text[other] = text[other], text[last]
    padding = key.material[len(text) :]
    return replace(key, material=bytes(text) + padding)
