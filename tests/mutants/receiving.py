"""What a payment that is received must agree with, and what is left of each delivery."""

from typing import Final

from tests.mutants.mutant import mutant

_RECEIVE = "payments/receive.py"
_PAID = "payments/paid.py"
_SETTLE = "payments/settle.py"
RECEIVING = "tests/payments/test_receive.py"

MUTANTS: Final = (
    mutant(
        "a closed order can be paid",
        "orders/lifecycle.py",
        "_BY_PAYMENT: Final = _BY_DECISION - {OrderStatus.CLOSED}",
        "_BY_PAYMENT: Final = _BY_DECISION",
        *(RECEIVING, "-k", "closed"),
    ),
    mutant(
        "the ledger swallows any violation",
        "payments/ledger.py",
        "ON CONFLICT (account_id, kind, txn_no) DO NOTHING",
        "ON CONFLICT DO NOTHING",
        "tests/architecture/test_sql.py",
    ),
    mutant(
        "the amount is not compared",
        _SETTLE,
        "if payment.money.amount_minor != order.money.amount_minor:",
        "if False:",
        RECEIVING,
    ),
    mutant(
        "the currency is not compared",
        _SETTLE,
        "if payment.money.currency != order.money.currency:",
        "if False:",
        RECEIVING,
    ),
    mutant(
        "the account that was paid is not compared",
        _SETTLE,
        "if payment.stated_account_no and payment.stated_account_no != payee.account_no:",
        "if False:",
        RECEIVING,
    ),
    mutant(
        "an order can be paid through any account",
        _SETTLE,
        "if order.payable_through and order.payable_through != payee.endpoint:",
        "if False:",
        RECEIVING,
    ),
    mutant(
        "money that lost a race is not held",
        _PAID,
        "ledger.place(row_id, Disposition.HELD, order_id=None)",
        "pass",
        RECEIVING,
    ),
    mutant(
        "a repeat leaves no delivery",
        _RECEIVE,
        "delivery_id = deliveries.record(",
        "delivery_id = 0 if decision.outcome == Outcome.DUPLICATE else deliveries.record(",
        RECEIVING,
    ),
    mutant(
        "a transaction with another meaning is a repeat",
        _PAID,
        "if payment.contradicts(row.payment, account_no=payee.account_no):",
        "if False:",
        RECEIVING,
    ),
    mutant(
        "test events pay live orders",
        _RECEIVE,
        "if reading.live is not None and reading.live != intake.endpoint.account.live:",
        "if False:",
        RECEIVING,
    ),
)
