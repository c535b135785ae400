"""The daily totals."""

from typing import Final

from tests.mutants.mutant import mutant

COUNTING = "tests/orders/totals/test_counting.py"
REBUILDING = "tests/orders/totals/test_rebuild.py"

MUTANTS: Final = (
    mutant(
        "totals: a refund counts in full each time",
        "orders/totals/counting.py",
        "move.amount_minor - lag(move.amount_minor, 1, 0::bigint) OVER (",
        "move.amount_minor - 0 * lag(move.amount_minor, 1, 0::bigint) OVER (",
        *(COUNTING, "-k", "older_event"),
    ),
    mutant(
        "totals: a rebuild does not wait for consumers",
        "orders/totals/rebuild.py",
        '    f"SELECT pg_advisory_xact_lock({counting.LOCK})",\n',
        "",
        *(REBUILDING, "-k", "rebuild_waits"),
    ),
)
