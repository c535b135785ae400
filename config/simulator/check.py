"""Compare the simulator's books with the database: what differs, what waits, what is asked."""

import time
from collections.abc import Iterator
from typing import Final

from config.simulator import orders, predicted
from config.simulator.comparison import Comparison
from config.simulator.findings import Findings
from config.simulator.our_accounts import PROVIDER
from config.simulator.our_rows import OurRows, read
from config.simulator.predicted import Payment
from config.simulator.refunds import counters
from config.simulator.store import Store
from payments.models import ProviderAccount, RefundStatus

_LOOKS: Final = 3
_PAUSE_SECONDS: Final = 0.5


def compare(store: Store, *, final: bool = False) -> Findings:
    """Look at both sides; a difference counts if it is still there after a moment.

    `final`: nothing can be on its way any more.
    """
    findings = _look(store, final=final)
    for _ in range(_LOOKS - 1):
        if not findings.differences:
            break
        time.sleep(_PAUSE_SECONDS)
        again = _look(store, final=final)
        lasting = set(findings.differences)
        again.differences = [each for each in again.differences if each in lasting]
        findings = again
    return findings


def _look(store: Store, *, final: bool) -> Findings:
    findings = Findings()
    for account in ProviderAccount.objects.filter(
        provider=PROVIDER, active=True, live=False
    ).order_by("pk"):
        books = predicted.payments(store, account.account_no)
        ours = read(account, {payment.order_no for payment in books.values()})
        for payment in books.values():
            findings.compared += 1
            Comparison(findings, ours, payment, final=final).run()
        findings.differences += _invented(books, ours)
        findings.differences += orders.compare(books, ours)
        for refund_no, count in counters(store, account.account_no).items():
            if count["executed"] > 1:
                findings.differences.append(f"refund {refund_no} was carried out more than once")
    return findings


def _invented(books: dict[str, Payment], ours: OurRows) -> Iterator[str]:
    """What the database has and the books have not."""
    of_all = [one for payment in books.values() for one in (*payment.refunds, *payment.disputes)]
    known = books.keys() | {one.number for one in of_all}
    done = {one.refund_no for one in of_all}
    for row in (*ours.payments.values(), *ours.reversals):
        if row.txn_no not in known:
            yield f"the database has a {row.kind} {row.txn_no} that never was"
    for refund in ours.refunds.values():
        if refund.status == RefundStatus.SUCCEEDED and refund.refund_no not in done:
            yield f"the database has refund {refund.refund_no} SUCCEEDED, and it never was"
