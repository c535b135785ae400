"""Ask the provider about a conflict's payment; its answer is received like a callback."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from audit import chain
from payments import asking
from payments.accounts import find_endpoint
from payments.asking import Reached
from payments.clients.choice import Choice
from payments.clients.port import Answer
from payments.conflicts import people
from payments.conflicts import seen as seeing
from payments.conflicts.checking import keep_attempt
from payments.conflicts.fitting import why_not
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, Refused
from payments.models import ProviderAccount, ProviderTransaction, Resolution, TransactionKind
from payments.refunds.access import client_for as clients

ASK = "payments.ask_provider"


def ask(
    conflict_id: int,
    *,
    person: Person,
    now: datetime,
    client_for: Callable[[ProviderAccount], Choice] | None = None,
) -> Answer:
    """Ask outside any transaction; what the answer changes is whatever a callback would change.

    Raises NoSuchConflict, NotAllowed, DoesNotFit; the audit keeps the question and the answer.
    """
    try:
        payment, reached = _prepared(conflict_id, person, client_for or partial(clients, now=now))
    except Refused as refusal:
        keep_attempt(person.actor, conflict_id, Resolution.ASK_PROVIDER, refusal)
        raise
    _record("conflict.provider_asked", conflict_id, person, payment.txn_no)
    said = asking.ask(reached, txn_no=payment.txn_no, order_no=payment.order_no, now=now)
    answer = said.answer
    _record(
        "conflict.provider_answered",
        conflict_id,
        person,
        payment.txn_no,
        answer=str(answer),
        says=said.why,
    )
    return answer


def _prepared(
    conflict_id: int, person: Person, client_for: Callable[[ProviderAccount], Choice]
) -> tuple[ProviderTransaction, Reached]:
    people.must_hold(person, ASK)
    held = seeing.look(conflict_id)
    hindrance = why_not(Resolution.ASK_PROVIDER, held.facts)
    money = held.money
    if money is not None and money.kind != TransactionKind.PAYMENT:
        money = money.reverses
    if hindrance or money is None:
        raise DoesNotFit(hindrance or "The payment that this is about is not known.")
    choice = client_for(money.account)
    endpoint = find_endpoint(money.account.provider, money.account.name)
    if choice.client is None or endpoint is None:
        raise DoesNotFit(f"{money.account.endpoint}: {choice.why or 'the account is not active'}.")
    if not choice.found_by:
        raise DoesNotFit(f"{money.account.endpoint} answers no questions about payments.")
    client = choice.client
    return money, Reached(endpoint=endpoint, client=lambda: client, found_by=choice.found_by)


def _record(action: str, conflict_id: int, person: Person, txn_no: str, **after: str) -> None:
    chain.record(
        by=person.actor,
        action=action,
        object_type="conflict",
        object_id=conflict_id,
        after={"txn_no": txn_no, **after},
    )
