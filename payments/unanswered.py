"""Claims of payments that nobody could confirm: after a day a person is asked, once for many.

Where nothing is signed a stranger chooses how many claims there are, so an account asks once a
day for all of them together. What comes too late for today's question waits for tomorrow's.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction

from payments import conflicts
from payments.confirmations import ENTERED_FROM
from payments.models import ConfirmationStatus, Conflict, ConflictReason, ProviderAccount

#: Longer than providers take to show a payment and than most outages last.
HAND_OVER_AFTER: Final = timedelta(hours=24)
#: How many claims one question is about: twice what may wait as hints.
CLAIMS_MAX: Final = 20_000
#: How many numbers a question names; the list of claims has them all.
NAMED_MAX: Final = 20

_ACCOUNTS_SQL: Final = """
    SELECT DISTINCT account_id FROM payments_confirmation
     WHERE status = 'WAITING' AND waiting_since <= %s ORDER BY account_id
"""
_HAND_OVER_SQL: Final = """
    UPDATE payments_confirmation SET status = 'UNANSWERED'
     WHERE id = ANY(ARRAY(SELECT id FROM payments_confirmation
                           WHERE account_id = %(account)s AND status = ANY(%(from)s)
                             AND waiting_since <= %(before)s
                        ORDER BY waiting_since LIMIT %(limit)s
                             FOR NO KEY UPDATE SKIP LOCKED))
 RETURNING txn_no, order_no, waiting_since, why
"""


def hand_over(*, now: datetime, after: timedelta = HAND_OVER_AFTER) -> int:
    """Hand what has waited so long without an answer to a person; how many there were.

    Asking goes on where the account's provider can be asked, and its answer still counts.
    """
    before = now - after
    with connection.cursor() as cursor:
        cursor.execute(_ACCOUNTS_SQL, [before])
        accounts = [row[0] for row in cursor.fetchall()]
    return sum(_hand_over(account_id, before, now=now) for account_id in accounts)


@transaction.atomic(durable=True)
def _hand_over(account_id: int, before: datetime, *, now: datetime) -> int:
    subject = f"account:{account_id}:{now:%Y-%m-%d}"
    reason = ConflictReason.UNCONFIRMED_PAYMENTS
    if Conflict.objects.filter(reason=reason, subject=subject).exists():
        return 0
    values: dict[str, Any] = {"account": account_id, "before": before, "limit": CLAIMS_MAX}
    values["from"] = [str(one) for one in ENTERED_FROM[ConfirmationStatus.UNANSWERED]]
    with connection.cursor() as cursor:
        cursor.execute(_HAND_OVER_SQL, values)
        claims = sorted(cursor.fetchall(), key=lambda claim: claim[2])
    if not claims:
        return 0
    account = ProviderAccount.objects.select_related("merchant").get(pk=account_id)
    received = {
        "endpoint": account.endpoint,
        "claims": len(claims),
        "waiting_since": claims[0][2].isoformat(),
        "transactions": ", ".join(claim[0] for claim in claims[:NAMED_MAX]),
        "orders": ", ".join(claim[1] for claim in claims[:NAMED_MAX] if claim[1]),
        "why": claims[-1][3] or "nobody could be asked",
    }
    conflicts.open_conflict(
        conflicts.Case(
            reason=reason,
            subject=subject,
            expected={"merchant": account.merchant.code, "account_no": account.account_no},
            received=received,
        ),
        merchant_id=account.merchant_id,
        merchant_code=account.merchant.code,
        now=now,
    )
    return len(claims)
