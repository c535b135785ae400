"""Many requests with one idempotency key at once, from processes that share nothing."""

import multiprocessing
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import httpx2

PROCESSES: Final = 4
EACH: Final = 5
_PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Answer:
    """What one caller was finally told."""

    status: int
    body: bytes
    replayed: bool


@dataclass(frozen=True)
class Order:
    """The request that all of them send."""

    url: str
    headers: Mapping[str, str]
    content: Mapping[str, object]


def send(order: Order) -> Sequence[Answer]:
    """Send the request from all callers at once; each repeats it until it is answered."""
    # Not forked: the parent has threads and connections of its own.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as processes:
        ready = list(processes.map(_ready, range(PROCESSES)))
        begin = max(ready) + 1.0
        parts = processes.map(partial(_send_several, order), [begin] * PROCESSES)
        return [answer for part in parts for answer in part]


def summary(answers: Sequence[Answer]) -> str:
    """How often the work was done, and how many answers differ from each other."""
    executions = sum(not answer.replayed for answer in answers)
    results = len({(answer.status, answer.body) for answer in answers})
    return f"businessExecutions={executions} distinctResults={results}"


def statuses(answers: Sequence[Answer]) -> Counter[int]:
    """How many were told what."""
    return Counter(answer.status for answer in answers)


def _ready(_: int) -> float:
    return time.time()


def _send_several(order: Order, begin: float) -> list[Answer]:
    time.sleep(max(0.0, begin - time.time()))
    with httpx2.Client(timeout=10) as client, ThreadPoolExecutor(EACH) as callers:
        return list(callers.map(partial(_send, client), [order] * EACH))


def _send(client: httpx2.Client, order: Order) -> Answer:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        response = client.post(order.url, json=order.content, headers=order.headers)
        if response.status_code != httpx2.codes.ACCEPTED or time.monotonic() > deadline:
            replayed = response.headers.get("Idempotent-Replayed") == "true"
            return Answer(response.status_code, response.content, replayed)
        time.sleep(float(response.headers["Retry-After"]))
