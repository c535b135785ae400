"""Conflicts that persons and policies decide, and the audit of who did what."""

from typing import Final

from tests.mutants.mutant import mutant

DECIDING = "tests/payments/conflicts/test_resolve.py"
TWO_PEOPLE = "tests/payments/conflicts/test_four_eyes.py"

MUTANTS: Final = (
    mutant(
        "a decision is taken on what has moved",
        "payments/conflicts/checking.py",
        "    if changes:",
        "    if not changes and False:",
        *(DECIDING, "-k", "opened_before"),
    ),
    mutant(
        "an approval is carried out on what has moved",
        "payments/conflicts/four_eyes.py",
        "    if changes:",
        "    if not changes and False:",
        *(TWO_PEOPLE, "-k", "moved"),
    ),
    mutant(
        "an approval is not bound to what was proposed",
        "payments/conflicts/four_eyes.py",
        "if digest != proposal.digest or proposal.digest != proposals.digest_of(proposal):",
        "if digest != proposal.digest:",
        *(TWO_PEOPLE, "-k", "bound"),
    ),
    mutant(
        "one person decides about any amount",
        "payments/conflicts/resolve.py",
        "choice.amount_minor > limit",
        "choice.amount_minor > limit + 1",
        *(TWO_PEOPLE, "-k", "one_decides"),
    ),
    mutant(
        "money that waits is refunded and goes on waiting",
        "payments/conflicts/effects.py",
        "if money.disposition == Disposition.PARKED:",
        "if False:",
        *(DECIDING, "-k", "waits_no_more"),
    ),
    mutant(
        "entries are chained without a lock",
        "audit/chain.py",
        'cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])',
        'cursor.execute("SELECT %s::bigint", [LOCK])',
        *("tests/audit/test_chain.py", "-k", "many_who_write"),
    ),
)
