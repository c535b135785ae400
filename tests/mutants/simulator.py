"""The simulated provider, and the comparison of its books with ours."""

from typing import Final

from tests.mutants.mutant import mutant

SIMULATED = "tests/simulator/test_api.py"
COMPARING = "tests/simulator/test_check.py"

MUTANTS: Final = (
    mutant(
        "the simulator finds a refund by its own number before the merchant's",
        "config/simulator/refunds.py",
        "ORDER BY refund_no = ?2 DESC LIMIT 1",
        "ORDER BY number = ?2 DESC LIMIT 1",
        *(SIMULATED, "-k", "by_a_number"),
    ),
    mutant(
        "the simulator makes a second refund of one number",
        "config/simulator/refunds.py",
        "        if known:",
        "        if known and money.amount_minor > 10**9:",
        *(SIMULATED, "-k", "one_refund"),
    ),
    mutant(
        "an open question explains every difference of its payment",
        "config/simulator/comparison.py",
        "return row.refunded_minor in possible and",
        "return len(possible) > 1 or",
        *(COMPARING, "-k", "explains_its_own"),
    ),
    mutant(
        "a doubt about one refund explains the others",
        "config/simulator/comparison.py",
        "        if self._ours.asks_about(refund):",
        "        if self._ours.questioned:",
        *(COMPARING, "-k", "does_not_explain"),
    ),
)
