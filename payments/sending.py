"""Send a sample callback to an account's address as its provider would, and see what became of it.

The account's own keys sign, so a sample is as good as a genuine callback: for a live account it
would be a forged payment, and whoever asks for one must say so.
"""

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import httpx2
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from orders.money import Money
from payments.accounts import Endpoint
from payments.callback import Kind
from payments.models import Delivery
from payments.providers.port import SignedRequest
from payments.providers.samples.make import sample
from payments.providers.samples.occurrence import REVERSALS, Hand, Occurrence
from payments.providers.samples.tamper import TAMPERINGS

_TIMEOUT_SECONDS: Final = 30
_AT_ONCE: Final = 20


class LiveAccount(PermissionError):
    """The account is live."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the address answered."""

    status: int
    content_type: str
    body: str


def signed_sample(
    endpoint: Endpoint,
    kind: Kind,
    order_no: str,
    money: Money,
    *,
    url: str,
    now: datetime,
    txn_no: str = "",
    private_key: RSAPrivateKey | None = None,
    tamper: str = "",
    live_account: bool = False,
) -> SignedRequest:
    """The signed request; `url` is the account's public address, which some providers sign.

    Raises LiveAccount, CannotTell, and Misconfigured if there is no key to sign with.
    """
    if endpoint.account.live and not live_account:
        raise LiveAccount(
            f"{endpoint.name} is live: its orders would move, and be delivered, for money that"
            " nobody has paid. Use a test account, or say --live-account"
        )
    told = _occurrence(endpoint, kind, order_no, money, txn_no=txn_no, now=now)
    hand = Hand(account=endpoint.account, url=url, private_key=private_key)
    provider_name, _, _ = endpoint.name.partition("/")
    return TAMPERINGS.get(tamper, sample)(provider_name, told, hand)


def send(
    request: SignedRequest, url: str, *, times: int = 1, parallel: bool = False
) -> list[Answer]:
    """Post it, one after the other or all at once. Raises httpx2.TransportError."""
    with (
        httpx2.Client(timeout=_TIMEOUT_SECONDS) as client,
        ThreadPoolExecutor(_AT_ONCE if parallel else 1) as senders,
    ):

        def post(_: int) -> Answer:
            answer = client.post(url, content=request.body, headers=list(request.headers))
            return Answer(answer.status_code, answer.headers.get("content-type", ""), answer.text)

        return list(senders.map(post, range(times)))


def newest_delivery_id() -> int:
    """Where to look for later ones."""
    return Delivery.objects.order_by("-id").values_list("id", flat=True).first() or 0


def became_of(
    endpoint: Endpoint, request: SignedRequest, answers: Sequence[Answer], *, after: int
) -> Iterator[str]:
    """What was answered, and what was stored of this very request since then, for people."""
    for answer, count in Counter(answers).items():
        said = f"{answer.content_type}: {answer.body.rstrip()}" if answer.body else "no body"
        yield f"answered  {count} x {answer.status}, {said}"
    digest = hashlib.sha256(request.body).digest()
    stored = Delivery.objects.filter(
        account_id=endpoint.account_id, body_sha256=digest, id__gt=after
    )
    became = Counter(stored.order_by("id").values_list("outcome", "reason", "order_no"))
    for (outcome, reason, order_no), count in became.items():
        said = " ".join(filter(None, [outcome, reason]))
        yield f"became    {count} x {said}, order {order_no or 'not stated'}"
    if not became:
        yield "became    nothing: no delivery was stored in this database"


def curl(request: SignedRequest, url: str) -> str:
    """The same as a command to paste into a shell."""
    headers = [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in request.headers]
    return " ".join(
        [
            "curl -i",
            shlex.quote(url),
            *headers,
            f"--data-binary {shlex.quote(request.body.decode())}",
        ]
    )


def _occurrence(
    endpoint: Endpoint, kind: Kind, order_no: str, money: Money, *, txn_no: str, now: datetime
) -> Occurrence:
    """The same order and kind give the same numbers, so that the same command is a repeat."""
    payment_no = _number(endpoint.name, order_no)
    own_no = _number(endpoint.name, order_no, kind) if kind in REVERSALS else payment_no
    return Occurrence(
        kind=kind,
        order_no=order_no,
        money=money,
        txn_no=txn_no or own_no,
        payment_no=payment_no if kind in REVERSALS else txn_no or payment_no,
        event_id=_number(endpoint.name, order_no, kind, txn_no, str(money)),
        at=now,
    )


def _number(*parts: str) -> str:
    """Letters and digits that stand for these parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20].upper()
