"""What a sample callback is to tell, and whose hand signs it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from orders.money import Money
from payments.callback import Kind
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Account, Key, Misconfigured, SignedRequest
from payments.providers.rsa_verify import public_key

#: What happens to a payment that is there already, and has a number of its own.
REVERSALS: Final = frozenset(
    {Kind.REFUNDED, Kind.REFUND_FAILED, Kind.DISPUTED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST}
)


class CannotTell(ValueError):
    """This provider has no such event, or cannot state this order or amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A fact about money, and when it happened and was told.

    `txn_no` is the number of what is told: the payment, or its refund or dispute. `payment_no` is
    the payment's in either case. Numbers are letters and digits, which every provider's may be.
    """

    kind: Kind
    order_no: str
    money: Money
    txn_no: str
    payment_no: str
    event_id: str
    at: datetime

    @property
    def is_reversal(self) -> bool:
        """Whether it happens to a payment, instead of being one."""
        return self.kind in REVERSALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """The account whose keys sign; and the private key, where the account has only public ones."""

    account: Account
    url: str
    private_key: RSAPrivateKey | None = None
    #: Who signs in place of the private key's owner, where a forgery is wanted.
    forger: RSAPrivateKey | None = None

    def request(
        self, body: bytes, headers: Mapping[str, str] | None = None, *, content_type: str = ""
    ) -> SignedRequest:
        """The request that carries this body."""
        named = {"content-type": content_type or "application/json", **(headers or {})}
        return SignedRequest(tuple(named.items()), body, self.url)

    def secret(self, purpose: str = KEY_PURPOSE) -> Key:
        """The newest key with that purpose. Raises Misconfigured."""
        for key in self.account.keys:
            if key.purpose == purpose:
                return key
        raise Misconfigured(f"the account has no key with purpose {purpose}")

    def rsa(self) -> RSAPrivateKey:
        """The private key that signs. Raises Misconfigured if it was not given."""
        if self.private_key is None:
            raise Misconfigured(
                "this provider signs with a private key that nobody else has; the account knows its"
                " public half. Make a test account with a pair of your own (create_account --test"
                " --demo-keys FILE) and give its private key (--private-key FILE)"
            )
        return self.forger or self.private_key

    def counterpart(self) -> Key:
        """The account's key to which the private key belongs. Raises Misconfigured."""
        own = replace(self, forger=None).rsa()
        numbers = own.public_key().public_numbers()
        for key in self.account.keys:
            try:
                if public_key(key).public_numbers() == numbers:
                    return key
            except Misconfigured:  # not a public key
                continue
        raise Misconfigured("the private key belongs to none of the account's keys")


#: Signed requests that might tell an occurrence; the first that reads as meant is the sample.
Made = Iterator[SignedRequest]
