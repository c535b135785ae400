"""What can happen to a callback, played for real: the API, HTTP, signatures, the database."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx2

from config.demo import one_key
from config.demo.provider import PretendProvider

BURST = 20


class ServiceRefused(RuntimeError):
    """The API did not do what a scene needs; the message has its answer."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The means of a scene: the merchant's API and the provider's side."""

    api: httpx2.Client
    provider: PretendProvider
    sender: httpx2.Client

    def place(self, order_no: str, amount_minor: int = 1099) -> None:
        """Place an order through the merchant's API."""
        amount = {"amount_minor": amount_minor, "currency": "USD"}
        self._post("/v1/orders", {"order_no": order_no, "amount": amount})

    def close(self, order_no: str) -> None:
        """Close an order through the merchant's API."""
        self._post(f"/v1/orders/{order_no}/close", {})

    def send(self, body: bytes, signature: str | None = None) -> int:
        """Send one callback."""
        return self.provider.send(body, client=self.sender, signature=signature)

    def _post(self, path: str, content: Mapping[str, object]) -> None:
        answer = self.api.post(path, json=content, headers={"Idempotency-Key": uuid.uuid4().hex})
        if not answer.is_success:
            raise ServiceRefused(f"POST {path} answered {answer.status_code}: {answer.text[:200]}")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What was played: the order it is about, and how the callbacks were answered."""

    title: str
    order_no: str
    answers: Counter[int] = field(default_factory=Counter)
    remark: str = ""


def play_all(stage: Stage) -> list[Scene]:
    """Play every scene once, each with an order of its own."""
    return [
        _one_key(stage),
        *_play_callbacks(stage),
    ]


def _one_key(stage: Stage) -> Scene:
    order_no = f"DEMO-{uuid.uuid4().hex[:8]}"
    answers = one_key.send(
        one_key.Order(
            url=str(stage.api.base_url.join("/v1/orders")),
            headers={
                "Authorization": stage.api.headers["Authorization"],
                "Idempotency-Key": f"demo-{order_no}",
            },
            content={
                "order_no": order_no,
                "amount": {"amount_minor": 1099, "currency": "USD"},
            },
        )
    )
    callers, processes = one_key.PROCESSES * one_key.EACH, one_key.PROCESSES
    return Scene(
        title=f"{callers} requests with one Idempotency-Key at once, from {processes} processes",
        order_no=order_no,
        answers=one_key.statuses(answers),
        remark=one_key.summary(answers),
    )


def _play_callbacks(stage: Stage) -> list[Scene]:
    return [
        _play(stage, title, play)
        for title, play in (
            ("A payment that agrees", _agrees),
            (f"The same callback {BURST} times at once", _burst),
            ("A wrong amount", _wrong_amount),
            ("A late payment, after the order was closed", _late),
            ("A second payment for a paid order", _second),
            ("A payment before its order exists", _early),
            ("A refund that comes before its payment, then its payment", _refund),
            ("A forged signature", _forged),
        )
    ]


Play = Callable[[Stage, str], list[int]]


def _play(stage: Stage, title: str, play: Play) -> Scene:
    order_no = f"DEMO-{uuid.uuid4().hex[:8]}"
    return Scene(title=title, order_no=order_no, answers=Counter(play(stage, order_no)))


def _agrees(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    return [stage.send(stage.provider.body(order_no=order_no, amount_minor=1099))]


def _burst(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    body = stage.provider.body(order_no=order_no, amount_minor=1099)
    with ThreadPoolExecutor(BURST) as senders:
        return list(senders.map(stage.send, [body] * BURST))


def _wrong_amount(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    return [stage.send(stage.provider.body(order_no=order_no, amount_minor=1000))]


def _late(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    stage.close(order_no)
    return [stage.send(stage.provider.body(order_no=order_no, amount_minor=1099))]


def _second(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    return [stage.send(stage.provider.body(order_no=order_no, amount_minor=1099)) for _ in range(2)]


def _early(stage: Stage, order_no: str) -> list[int]:
    answer = stage.send(stage.provider.body(order_no=order_no, amount_minor=1099))
    stage.place(order_no)
    return [answer]


def _refund(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    txn_no = f"pay_{uuid.uuid4().hex[:16]}"
    refund = stage.provider.refund_body(order_no=order_no, txn_no=txn_no, amount_minor=500)
    payment = stage.provider.body(order_no=order_no, amount_minor=1099, txn_no=txn_no)
    return [stage.send(refund), stage.send(payment)]


def _forged(stage: Stage, order_no: str) -> list[int]:
    stage.place(order_no)
    body = stage.provider.body(order_no=order_no, amount_minor=1099)
    return [stage.send(body, signature="0" * 64)]
