"""Refunds of ours, and the room that they and others take."""

from typing import Final

from tests.mutants.mutant import mutant

OVERTAKEN = "tests/simulator/test_overtaken.py"
REFUNDING = "tests/payments/refunds/test_carry_out.py"
TOLD = "tests/payments/refunds/test_told.py"
ROOMS = "tests/payments/refunds/test_room_that_becomes_free.py"

MUTANTS: Final = (
    mutant(
        "a broken refund keeps the others waiting",
        "payments/refunds/one_by_one.py",
        "    except Exception as error:",
        "    except KeyError as error:",
        *("tests/payments/refunds/test_one_by_one.py", "-k", "poisoned"),
    ),
    mutant(
        "an owner who was taken over moves the refund",
        "idempotency/lease.py",
        "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s",
        "id = %(id)s",
        *("tests/payments/refunds/test_lifecycle.py", "-k", "somebody_else"),
    ),
    mutant(
        "a callback's refund number is not looked for",
        "payments/refunds/ours.py",
        "named |= Q(refund_no=callback.refund_no)",
        "named |= Q(refund_no='')",
        *(OVERTAKEN, "-k", "overtakes_the_answer"),
    ),
    mutant(
        "a spent payment refuses at once",
        "payments/refunds/answers.py",
        "if answer.is_spent and _sent_before(claim, VISIBILITY_WINDOW):",
        "if answer.is_spent:",
        *(REFUNDING, "-k", "spent"),
    ),
    mutant(
        "an accepted refund may stay so for ever",
        "payments/refunds/answers.py",
        "if _sent_before(claim, PENDING_BEFORE_DOUBT):",
        "if False:",
        *(REFUNDING, "-k", "stays_so"),
    ),
    mutant(
        "a refund that waited for its payment is not counted",
        "payments/refunds/waiting.py",
        "    decision = came_back(payment, row) if failed else count(",
        "    decision = came_back(payment, row) if row.pk else count(",
        *(OVERTAKEN, "-k", "overtakes_its_payment"),
    ),
    mutant(
        "a refund that a total told counts once more by itself",
        "payments/refunds/shares.py",
        "left = total.amount - sum(each.amount for",
        "left = total.amount - sum(0 * each.amount for",
        *(TOLD, "-k", "totals_and_single"),
    ),
    mutant(
        "refunds: room that becomes free is left to nobody",
        "payments/refunds/settling.py",
        "    booking.recount(payment, at=now, now=now)\n",
        "",
        *(ROOMS, "-k", "oldest_first"),
    ),
    mutant(
        "refunds: the newest takes the room that becomes free",
        "payments/refunds/shares.py",
        "    for claim in sorted(claims, key=lambda each: each.pk):",
        "    for claim in sorted(claims, key=lambda each: -each.pk):",
        *(ROOMS, "-k", "oldest_first"),
    ),
    mutant(
        "refunds: what waits takes the room of a refund under way",
        "payments/refunds/shares.py",
        "        self.free = room - self.promised",
        "        self.free = room",
        *(ROOMS, "-k", "ours_has_its_room"),
    ),
    mutant(
        "refunds: a total uses no room of a refund under way",
        "payments/refunds/shares.py",
        "        pool, taken = pool - part, taken + part",
        "        pool = pool - part",
        *(TOLD, "-k", "may_be_the_refund_of_ours"),
    ),
    mutant(
        "refunds: a total may be a refund that was asked for after it",
        "payments/refunds/shares.py",
        "    return since is None or total.told_at >= since",
        "    return True",
        *(TOLD, "-k", "told_before_we_asked"),
    ),
    mutant(
        "refunds: what counts at last is still asked about",
        "payments/refunds/booking.py",
        "        if pk in exceeding and pk not in counted.missing:",
        "        if False:",
        *(ROOMS, "-k", "nobodys_here"),
    ),
    mutant(
        "refunds: what counts at last is taken for ours",
        "payments/refunds/booking.py",
        "        if pk not in explained and pk not in counted.missing:",
        "        if False:",
        *(ROOMS, "-k", "nobodys_here"),
    ),
    mutant(
        "refunds: a foreign account's refund takes room",
        "payments/refunds/rows.py",
        "    return row.currency == payment.currency and row.stated_account_no in accounts",
        "    return row.currency == payment.currency",
        *(ROOMS, "-k", "disagrees"),
    ),
    mutant(
        "refunds: a dispute that was lost without room was not lost",
        "payments/refunds/reversals.py",
        " & ~Q(reason=ConflictReason.REVERSAL_EXCEEDS_PAYMENT)",
        "",
        *(ROOMS, "-k", "stays_lost"),
    ),
)
