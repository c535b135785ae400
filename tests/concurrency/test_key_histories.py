"""Random calls of a few keys at once, and whether their histories are possible."""

import time
import uuid
from functools import partial
from random import Random
from secrets import randbits

import pytest

from orders.models import Order
from tests.concurrency.crew import Crew
from tests.concurrency.key_deeds import post_order_once
from tests.concurrency.key_history import Call, broken_rules
from tests.concurrency.tally import tally
from tests.orders.client import ApiClient

SEED = randbits(32)
ROUNDS = 10


def recorded(headers: dict[str, str], key: str, order_no: str, amount_minor: int) -> Call:
    """A call over HTTP, as its client sees it."""
    begun = time.monotonic()
    answer = post_order_once(headers, key, order_no, amount_minor)
    ended = time.monotonic()
    told = {202: "running", 409: "mismatch"}.get(answer.status, "failed")
    if answer.status == 201:
        told = "replayed" if answer.replayed else "executed"
    return Call(begun, ended, str(amount_minor), told, answer.body.decode())


@pytest.mark.django_db(transaction=True)
def test_every_history_of_a_key_is_one_that_could_have_happened_one_by_one(crew: Crew) -> None:
    random = Random(SEED)  # noqa: S311 - no secret
    headers = ApiClient().headers
    for number in range(ROUNDS):
        keys = [f"{uuid.uuid4().hex}" for _ in range(3)]
        chosen = [(random.choice(keys), random.choice([1, 1, 1, 2])) for _ in range(crew.size)]
        calls = [
            partial(recorded, headers, key, f"A-{number}-{keys.index(key)}", amount_minor)
            for key, amount_minor in chosen
        ]

        told = crew.race(*calls, spread=0.05)

        for key in keys:
            history = [call for (used, _), call in zip(chosen, told, strict=True) if used == key]
            assert broken_rules(history) == [], (SEED, history)
            assert "failed" not in {call.told for call in history}, (SEED, history)
            tally[f"histories of a key, SEED={SEED}"] += 1
    assert Order.objects.count() <= ROUNDS * 3


POSSIBLE = [
    Call(0, 5, "A", "executed", "1"),
    Call(1, 2, "A", "running"),
    Call(1, 3, "B", "mismatch"),
    Call(4, 6, "A", "replayed", "1"),
    Call(7, 8, "B", "mismatch"),
    Call(7, 8, "A", "replayed", "1"),
]


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (Call(1, 2, "A", "executed", "1"), "it was carried out more than once"),
        (Call(7, 8, "A", "replayed", "2"), "two answers were given"),
        (Call(7, 8, "B", "replayed", "1"), "two meanings were carried out"),
        (
            Call(-2, -1, "A", "replayed", "1"),
            "an answer was given before anybody could have carried it out",
        ),
        (Call(9, 10, "A", "running"), "the answer was not given to one who came after it"),
        (
            Call(-2, -1, "A", "mismatch"),
            "a call was refused though no other meaning had come",
        ),
        (
            Call(9, 10, "A", "mismatch"),
            "a call was refused though its own meaning was carried out before",
        ),
    ],
)
def test_the_checker_notices_each_impossible_history(wrong: Call, rule: str) -> None:
    assert broken_rules(POSSIBLE) == []
    assert rule in broken_rules([*POSSIBLE, wrong])
