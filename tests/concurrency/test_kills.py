"""Processes that are killed at each boundary of what they say to the database.

A kill leaves exactly what was committed at that boundary, and what is done again afterwards ends
as if nothing had happened.
"""

import time

import pytest

from tests.concurrency.deeds import DOOMED, killed_at
from tests.concurrency.nursery import Nursery, answer
from tests.concurrency.onlooker import Onlooker, query
from tests.concurrency.scenes import ENDS, Scene, assert_ends_as_rehearsed, rehearse
from tests.concurrency.tally import tally
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("scene", ENDS, ids=lambda scene: scene.__name__)
def test_a_kill_at_any_boundary_leaves_nothing_half_done_and_a_repeat_completes_it(
    nursery: Nursery, onlooker: Onlooker, scene: Scene
) -> None:
    rehearsal = rehearse(scene, onlooker)
    for number in range(1, len(rehearsal.boundaries) + 1):
        account = ProviderAccountFactory.create()
        work = scene(account)

        with nursery.hire() as line:
            line.send(killed_at(number, work))
            line.send(0.0)
            with pytest.raises((EOFError, ConnectionResetError)):
                answer(line)

        onlooker.do(wait_until_gone)
        assert_books_balance()
        left = onlooker.facts(account.merchant)
        again = work()

        assert left in rehearsal.committed_with(number), rehearsal.boundaries[number - 1]
        if rehearsal.boundaries.count("after COMMIT") == 1:
            assert again == rehearsal.answer_after(left)
        assert_ends_as_rehearsed(onlooker.facts(account.merchant), left, rehearsal)
        tally["kills at each boundary"] += 1
    assert_books_balance()  # Each had an account of its own: what went wrong is still wrong.


def wait_until_gone() -> None:
    """The server notices the end of its client by itself, a moment later."""
    deadline = time.monotonic() + 30
    while query("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", DOOMED):
        assert time.monotonic() < deadline
        time.sleep(0.0005)
