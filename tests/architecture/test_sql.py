"""Habits of our SQL that no outcome of a test can show, because they matter on a bad day only."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("config", "payments", "orders", "idempotency", "outbox", "audit")
#: What deletes on purpose.
DELETES = {
    # Final answers to keys that nobody sends any more.
    "idempotency/retention.py: DELETE FROM",
    # Events that everybody has had for long enough.
    "outbox/retention.py: DELETE FROM",
    # Marks of events that nobody delivers any more.
    "outbox/inbox_retention.py: DELETE FROM",
    # What waits for endpoints that their merchants removed, their secrets, and old test messages.
    "outbox/webhooks/housekeeping.py: DELETE FROM",
    # What nobody was told yet, and nobody has to be.
    "payments/notifications/collect.py: .delete()",
    # A projection, in the transaction that counts it anew.
    "orders/totals/rebuild.py: .delete()",
    # Guesses at passwords that are over, and the second factor of who has lost it.
    "config/access/attempts.py: .delete()",
    "config/access/second_factor.py: .delete()",
    # A user's own name for a filter: it tells nothing of anything.
    "config/console/conflict/queue_views.py: .delete()",
    # The simulator's own books, an SQLite file of the provider that it plays: nothing of ours.
    # Moves that were made, and switches that were used up.
    "config/simulator/moves.py: DELETE FROM",
    "config/simulator/switched.py: DELETE FROM",
}

#: What must not occur, and why.
FORBIDDEN = {
    "an ON CONFLICT that does not name its columns also swallows what it was not meant for": (
        r"ON CONFLICT(?!\s*\()|ignore_conflicts"
    ),
    "FOR UPDATE waits for the foreign keys of others, FOR NO KEY UPDATE does not": (
        r"FOR UPDATE|select_for_update\((?![^)]*no_key=True)"
    ),
    "a join may run it once for each row, and each time it takes as many more as its limit": (
        r"IN \(\s*SELECT[^\"]*LIMIT[^\"]*SKIP LOCKED"
    ),
    "what was told to the world is never deleted": r"DELETE FROM|\.delete\(\)",
}


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (ROOT / package).rglob("*.py")


@pytest.mark.parametrize("why", FORBIDDEN)
def test_no_statement_has_a_bad_habit(why: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources()
        for match in re.finditer(FORBIDDEN[why], path.read_text())
    ]
    assert set(found) <= DELETES, why


def test_the_habits_are_looked_for_where_there_is_sql() -> None:
    assert sum("ON CONFLICT (" in path.read_text() for path in sources()) >= 3


def test_no_two_advisory_locks_have_one_number() -> None:
    """Whoever counts totals would wait for whoever writes the audit, and neither would say why."""
    number = re.compile(r"^_?[A-Z_]*LOCK[A-Z_]*: Final = ([\d_]+)$", re.MULTILINE)
    numbers = [match[1] for path in sources() for match in number.finditer(path.read_text())]
    assert len(numbers) >= 3
    assert sorted(numbers) == sorted(set(numbers))
