"""Transactions, locks and their order, where two want the same."""

from typing import Final

from tests.mutants.mutant import Edit, Mutant, mutant

_RECEIVE = "payments/receive.py"
_PAID = "payments/paid.py"
_DURABLE = "@transaction.atomic(durable=True)\n"
RACES = "tests/concurrency/test_payments.py"
DUELS = "tests/concurrency/test_interleavings.py"
KILLS = "tests/concurrency/test_kills.py"
FAULTS = "tests/concurrency/test_faults.py"

MUTANTS: Final = (
    Mutant(
        "every statement commits by itself",
        [
            Edit(_RECEIVE, f"{_DURABLE}def _receive", "def _receive"),
            Edit("outbox/events.py", "if not connection.in_atomic_block:", "if False:"),
            Edit("orders/numbers.py", "if not connection.in_atomic_block:", "if False:"),
        ],
        (KILLS, "-k", "first_delivery"),
    ),
    Mutant(
        "every item of a batch commits by itself",
        [
            Edit(_RECEIVE, f"{_DURABLE}def _receive", "def _receive"),
            Edit(_RECEIVE, "def _take(", f"{_DURABLE}def _take("),
        ],
        (KILLS, "-k", "batch"),
    ),
    mutant(
        "an update that changed no row counts as done",
        "orders/paying.py",
        "if version is None:\n        return False",
        "if version is None:\n        return True",
        *(RACES, "-k", "two_transactions or closing"),
    ),
    mutant(
        "a paid or closed order can be paid",
        "orders/lifecycle.py",
        "AND status = ANY(%s)",
        "AND cardinality(%s) > 0",
        *(RACES, "-k", "two_transactions or closing"),
    ),
    mutant(
        "who parks takes no number lock",
        _PAID,
        "lock_order_number(payee.merchant_id, payment.order_no)\n        order",
        "order",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    mutant(
        "who places takes no number lock",
        "orders/place.py",
        "    lock_order_number(merchant.pk, order_no)\n",
        "",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    mutant(
        "after the number lock nobody looks again",
        _PAID,
        "payment.order_no)\n        order = lookup.find(payee.merchant_id, payment.order_no)\n"
        "    return order",
        "payment.order_no)\n    return order",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    mutant(
        "a second event cannot name the order",
        _PAID,
        "if payment.order_no and not row.payment.order_no:",
        "if False:",
        *(RACES, "-k", "names_the_order"),
    ),
    mutant(
        "items of a batch are taken as they come",
        _RECEIVE,
        "sorted(range(len(readings)), key=lambda item: _locked_by(readings[item]))",
        "range(len(readings))",
        *(RACES, "-k", "crosswise"),
    ),
    mutant(
        "a deadlock is the provider's trouble",
        _RECEIVE,
        "return retry_deadlocks(partial(_receive, intake, readings, keep))",
        "return _receive(intake, readings, keep)",
        *(FAULTS, "-k", "ended_to_free"),
    ),
)
