"""What providers tell of refunds: failures, successes, totals."""

from typing import Final

from tests.mutants.mutant import mutant

NEWS = "tests/payments/refunds/test_news_in_any_order.py"
REFUND_COURSES = "tests/payments/refunds/test_stateful.py"

MUTANTS: Final = (
    mutant(
        "refunds: a failure before its success is forgotten",
        "payments/refunds/failed_first.py",
        "    if fact is None or fact.money.currency != payment.currency:",
        "    if fact is not None or fact is None:",
        *(NEWS, "-k", "last_word_unless"),
    ),
    mutant(
        "refunds: a failure without an amount is forgotten",
        "payments/refunds/told.py",
        "facts.is_single(fact) and facts.hear_earlier_failure(row)",
        "False",
        *(NEWS, "-k", "states_no_money"),
    ),
    mutant(
        "refunds: a failure without an amount is forgotten by the answer",
        "payments/refunds/settling.py",
        "    if facts.earlier_failure(payment.account_id, fact.txn_no) is not None:",
        "    if False:",
        *(NEWS, "-k", "before_the_answer or before_a_callback"),
    ),
    mutant(
        "refunds: the failure is always the last word",
        "payments/refunds/rows.py",
        "    return row.failed_at >= row.occurred_at",
        "    return True",
        *(NEWS, "-k", "stated_to_be_later"),
    ),
    mutant(
        "refunds: of two at the same time the success is the last word",
        "payments/refunds/rows.py",
        "    return row.failed_at >= row.occurred_at",
        "    return row.failed_at > row.occurred_at",
        *(NEWS, "-k", "last_word_unless"),
    ),
    mutant(
        "refunds: a time is kept beside a failure without one",
        "payments/refunds/rows.py",
        "at = max(at, row.failed_at) if at and row.failed_at else None",
        "at = max(filter(None, (at, row.failed_at)), default=None)",
        *(NEWS, "-k", "told_without_a_time"),
    ),
    mutant(
        "refunds: a failure without an amount has a time",
        "payments/refunds/failed_first.py",
        "return callback.occurred_at if is_kept or refund is not None else None",
        "return callback.occurred_at",
        *(NEWS, "-k", "no_time_either"),
    ),
    mutant(
        "refunds: a failure without an amount is told when its success is",
        "payments/refunds/facts.py",
        "rows.hear_failure(row, None, told_at=first)",
        "rows.hear_failure(row, None, told_at=row.recorded_at)",
        *(NEWS, "-k", "was_told_when"),
    ),
    mutant(
        "refunds: a later time of a failure changes no total",
        "payments/refunds/failed.py",
        "    if row.disposition == Disposition.RETURNED and is_new:",
        "    if False:",
        *(NEWS, "-k", "takes_it_out_of_a_total"),
    ),
    mutant(
        "refunds: money that leaves after a person has decided asks nobody",
        "payments/refunds/repeats.py",
        "        if is_later and row.failed_at is None and",
        "        if False and",
        *(NEWS, "-k", "person_has_decided"),
    ),
    mutant(
        "refunds: what goes out again asks nobody again",
        "payments/refunds/repeats.py",
        "    if not was_asked:\n        return decision\n",
        "    return decision\n",
        *(NEWS, "-k", "asks_again"),
    ),
    mutant(
        "refunds: a repeat that takes up a parked refund leaves its question open",
        "payments/refunds/waiting.py",
        "    questions.answer(ConflictReason.PAYMENT_NOT_FOUND, about, said, payment, now=now)\n",
        "",
        *(NEWS, "-k", "takes_up"),
    ),
    mutant(
        "refunds: a success after our failure blocks no room",
        "payments/refunds/told.py",
        "    counted = booking.recount(payment, at=fact.occurred_at, now=now, told=row.pk)",
        "    counted = booking.Counted(missing={}, external={})",
        *(NEWS, "-k", "blocks_the_room"),
    ),
    mutant(
        "refunds: a success after our failure may be in an old total",
        "payments/refunds/told.py",
        "    lifecycle.link(refund, row.pk)\n",
        "",
        *(NEWS, "-k", "before_we_asked"),
    ),
    mutant(
        "refunds: a total after a failure still has what failed",
        "payments/refunds/shares.py",
        "        return total.at < failed.at",
        "        return True",
        *(NEWS, "-k", "what_stands_now"),
    ),
    mutant(
        "refunds: a total before a failure does not have what failed",
        "payments/refunds/shares.py",
        "        return total.at < failed.at",
        "        return False",
        *(NEWS, "-k", "comes_late"),
    ),
    mutant(
        "refunds: the same total later is no news",
        "payments/refunds/repeats.py",
        "    if row.is_total and is_later:",
        "    if False:",
        *(NEWS, "-k", "same_total_later"),
    ),
    mutant(
        "refunds: totals do not yield to the refunds that explain them",
        "payments/refunds/shares.py",
        "        highest = max(highest, left)",
        "        highest = 0",
        REFUND_COURSES,
    ),
    mutant(
        "refunds: a failure takes from a total what is not in it",
        "payments/refunds/shares.py",
        "            if each.amount <= left and _has_failed_one(total, each):",
        "            if _has_failed_one(total, each):",
        REFUND_COURSES,
    ),
)
