"""Payments that wait for the provider's own word, because their signature vouches for too little.

`hold` remembers that somebody claimed a payment; nothing moves. When the provider's API has
answered, `confirmed` receives the answer like a callback, and that is the truth. `confirm_held`
goes and asks; what the API says was never paid is refuted, with its answer as the evidence.
"""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from payments import asking
from payments.accounts import Endpoint
from payments.asking import Reachable
from payments.callback import Callback, Kind, Outcome
from payments.clients.port import VISIBILITY_WINDOW, Answer, FoundBy, PaymentAnswer
from payments.models import ConfirmationStatus
from payments.polling import BUDGET, STEPS
from payments.receive import Verdict

#: Each status, and the statuses it may be entered from. A refuted claim that is told again waits
#: again: what had failed may have been paid since.
ENTERED_FROM: Final[Mapping[ConfirmationStatus, frozenset[ConfirmationStatus]]] = {
    ConfirmationStatus.WAITING: frozenset({ConfirmationStatus.REFUTED}),
    ConfirmationStatus.CONFIRMED: frozenset(
        {
            *(ConfirmationStatus.WAITING, ConfirmationStatus.REFUTED),
            ConfirmationStatus.UNANSWERED,
        }
    ),
    ConfirmationStatus.REFUTED: frozenset(
        {ConfirmationStatus.WAITING, ConfirmationStatus.UNANSWERED}
    ),
    ConfirmationStatus.UNANSWERED: frozenset({ConfirmationStatus.WAITING}),
}
#: As much of an answer is kept as evidence; whole objects of every provider fit.
EVIDENCE_LENGTH_MAX: Final = 64 * 1024
_WHY_LENGTH_MAX: Final = 300

_CONFIRMED_SQL: Final = """
    UPDATE payments_confirmation
       SET status = 'CONFIRMED', confirmed_at = %(now)s, refuted_at = NULL
     WHERE account_id = %(account)s AND txn_no = %(txn_no)s AND status = ANY(%(from)s)
"""
_REFUTED_SQL: Final = """
    UPDATE payments_confirmation
       SET status = 'REFUTED', refuted_at = %(now)s, why = %(why)s, evidence = %(evidence)s
     WHERE account_id = %(account)s AND txn_no = %(txn_no)s AND status = ANY(%(from)s)
       AND (%(finally)s OR waiting_since <= %(visible_since)s)
"""
_WHY_SQL: Final = "UPDATE payments_confirmation SET why = %s WHERE account_id = %s AND txn_no = %s"
# The longest due of each account first, then the next of each: a flood at one starves no other.
_DUE_SQL: Final = """
    SELECT due.id
      FROM unnest(%(accounts)s::bigint[]) AS account (id)
     CROSS JOIN LATERAL (
           SELECT c.id, coalesce(c.ask_at, c.waiting_since) AS since,
                  row_number() OVER (ORDER BY coalesce(c.ask_at, c.waiting_since), c.id) AS place
             FROM payments_confirmation c
            WHERE c.account_id = account.id AND c.status IN ('WAITING', 'UNANSWERED')
              AND coalesce(c.ask_at, c.waiting_since) <= %(now)s
         ORDER BY coalesce(c.ask_at, c.waiting_since), c.id LIMIT %(budget)s) AS due
  ORDER BY due.place, due.since, due.id LIMIT %(budget)s
"""
# Whoever moves the next question away asks this one.
_CLAIM_SQL: Final = """
    UPDATE payments_confirmation
       SET asks = asks + 1,
           ask_at = %(now)s + (%(steps)s::interval[])[
               least(asks + 1, array_length(%(steps)s::interval[], 1))]
     WHERE id = %(id)s AND status IN ('WAITING', 'UNANSWERED')
       AND (ask_at IS NULL OR ask_at <= %(now)s)
 RETURNING account_id, txn_no, order_no
"""


class NotAPayment(ValueError):
    """The provider's answer is of no payment, or states no amount: it confirms nothing."""


def confirmed(
    endpoint: Endpoint, answer: Callback, *, raw: Mapping[str, Any], now: datetime
) -> Verdict:
    """Receive what the provider's API said about a payment, as its raw answer reads.

    Raises NotAPayment if it says anything else than what was paid: the claim then waits on, for
    a payment may still follow. Raises OperationalError as `receive` does.
    """
    if answer.kind is not Kind.PAID or answer.money is None:
        raise NotAPayment(NotAPayment.__doc__)
    verdict = asking.received(endpoint, answer, raw=json.dumps(raw).encode(), now=now)
    if verdict.outcome is not Outcome.QUARANTINED:
        _confirm(endpoint.account_id, answer.txn_no, now=now)
    return verdict


def confirm_held(reachable: Reachable, *, now: datetime, budget: int = BUDGET) -> Counter[str]:
    """Ask for the payments that were only claimed; how many were answered how.

    What the provider does not say is asked for less and less often.
    """
    answered: Counter[str] = Counter()
    reachable = asking.finding(reachable, FoundBy.TXN_NO)
    values: dict[str, Any] = {
        "now": now,
        "steps": list(STEPS),
        "accounts": list(reachable),
        "budget": budget,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DUE_SQL, values)
        due = [row[0] for row in cursor.fetchall()]
    for claim_id in due:
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM_SQL, values | {"id": claim_id})
            row = cursor.fetchone()
        if row is None:
            continue
        account_id, txn_no, order_no = row
        said = asking.ask(reachable[account_id], txn_no=txn_no, order_no=order_no, now=now)
        _note(account_id, txn_no, said, now=now)
        answered[said.answer] += 1
    return answered


def _note(account_id: int, txn_no: str, said: PaymentAnswer, *, now: datetime) -> None:
    """What the answer makes of the claim."""
    match said.answer:
        case Answer.SUCCEEDED:
            _confirm(account_id, txn_no, now=now)
        case Answer.REFUSED | Answer.NOT_FOUND:
            _refute(account_id, txn_no, said, now=now)
        case Answer.PENDING | Answer.UNKNOWN:
            with connection.cursor() as cursor:
                cursor.execute(_WHY_SQL, [said.why[:_WHY_LENGTH_MAX], account_id, txn_no])


def _confirm(account_id: int, txn_no: str, *, now: datetime) -> None:
    values: dict[str, Any] = {"account": account_id, "txn_no": txn_no, "now": now}
    values["from"] = _from(ConfirmationStatus.CONFIRMED)
    with connection.cursor() as cursor:
        cursor.execute(_CONFIRMED_SQL, values)


def _refute(account_id: int, txn_no: str, said: PaymentAnswer, *, now: datetime) -> None:
    """It was not paid and will not be; that nothing is shown says so only after a while."""
    told = said.callback.event_type if said.callback else ""
    values: dict[str, Any] = {
        "account": account_id,
        "txn_no": txn_no,
        "now": now,
        "why": (said.why or f"the provider says {told or said.answer}")[:_WHY_LENGTH_MAX],
        "evidence": said.raw[:EVIDENCE_LENGTH_MAX],
        "finally": said.answer is Answer.REFUSED,
        "visible_since": now - VISIBILITY_WINDOW,
        "from": _from(ConfirmationStatus.REFUTED),
    }
    with connection.cursor() as cursor:
        cursor.execute(_REFUTED_SQL, values)


def _from(status: ConfirmationStatus) -> list[str]:
    return [str(present) for present in ENTERED_FROM[status]]
