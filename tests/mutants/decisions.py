"""Conflicts that persons and policies decide, and the audit of who did what."""

from typing import Final

from tests.mutants.mutant import mutant

DECIDING = "tests/payments/conflicts/test_resolve.py"
QUEUE = "tests/payments/conflicts/test_queue.py"
PAGES = "tests/console/conflict/test_resolving.py"
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
        "payments/conflicts/checking.py",
        "choice.amount_minor > limit",
        "choice.amount_minor > limit + 1",
        *(TWO_PEOPLE, "-k", "one_decides"),
    ),
    mutant(
        "an accepted excess goes back with all that was owed",
        "payments/conflicts/effects.py",
        "Money(money.amount_minor - order.amount_minor, money.currency)",
        "Money(money.amount_minor, money.currency)",
        *(DECIDING, "-k", "every_resolution and much"),
    ),
    mutant(
        "who takes a conflict on takes it from another",
        "payments/conflicts/assigning.py",
        "if conflict.assignee_id != wanted.seen:",
        "if conflict.assignee_id != wanted.seen and False:",
        *(QUEUE, "-k", "second_is_told"),
    ),
    mutant(
        "many are dismissed whatever they are about",
        "payments/conflicts/bulk.py",
        "if conflict.reason not in HARMLESS:",
        "if conflict.reason not in HARMLESS and False:",
        *(QUEUE, "-k", "harmless"),
    ),
    mutant(
        "a page decides on what it was not shown",
        "config/console/conflict/resolving.py",
        'seen = seeing.read(request.POST.get("seen", ""))',
        "seen = held.seen",
        *(PAGES, "-k", "overtaken"),
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
