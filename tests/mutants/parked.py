"""Payments without their order, sweeps, questions to persons, and orders that are polled."""

from typing import Final

from tests.mutants.mutant import mutant

RECEIVING = "tests/payments/test_receive.py"
PARKING = "tests/payments/test_parked.py"
DUELS = "tests/concurrency/test_interleavings.py"
FAULTS = "tests/concurrency/test_faults.py"
POLLING = "tests/payments/refunds/test_polling.py"

MUTANTS: Final = (
    mutant(
        "a parked payment is not applied when its order is placed",
        "orders/place.py",
        "    on_placed(order, now)\n",
        "",
        PARKING,
    ),
    mutant(
        "a sweep does not look again at what it has locked",
        "payments/sweep.py",
        "WHERE t.id = %s AND t.kind = 'PAYMENT' AND t.disposition = 'PARKED'",
        "WHERE t.id = %s AND t.kind = 'PAYMENT'",
        *(DUELS, "-k", "sweep_and_sweep"),
    ),
    mutant(
        "an order that appears does not answer the question about it",
        "payments/parked.py",
        "    conflicts.answered_by_fact(",
        "    lambda: conflicts.answered_by_fact(",
        PARKING,
    ),
    mutant(
        "a sweep asks about an order that is there",
        "payments/sweep.py",
        "WHERE o.merchant_id = t.merchant_id AND o.order_no = t.order_no)",
        "WHERE false)",
        *(FAULTS, "-k", "sweeping"),
    ),
    mutant(
        "a conflict is opened and not told",
        "payments/conflicts/open.py",
        "    lifecycle.tell(CONFLICT_OPENED,",
        "    lambda: lifecycle.tell(CONFLICT_OPENED,",
        RECEIVING,
    ),
    mutant(
        "who cannot be asked holds orders back",
        "payments/asking.py",
        "if by in reached.found_by",
        "if reached.found_by is not None",
        *(POLLING, "-k", "cannot_be_asked"),
    ),
)
