"""Ask the provider about a conflict's payment or refund; its answer is received as any is."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from django.utils.translation import gettext_noop as _

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
from payments.conflicts.seen import Held
from payments.models import (
    ConflictReason,
    ProviderAccount,
    ProviderTransaction,
    Resolution,
    TransactionKind,
)
from payments.refunds import one
from payments.refunds.access import client_for as clients
from payments.refunds.asking import ClientFor
from payments.refunds.lifecycle import Claim
from payments.saying import says

ASK = "payments.ask_provider"
_NOT_ASKED: Final = _("%(account)s: %(why)s.")


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
    choose = client_for or partial(clients, now=now)
    try:
        payment, put = _prepared(conflict_id, person, choose, now=now)
    except Refused as refusal:
        keep_attempt(person.actor, conflict_id, Resolution.ASK_PROVIDER, refusal)
        raise
    _record("conflict.provider_asked", conflict_id, person, payment.txn_no)
    said = put()
    _record(
        "conflict.provider_answered",
        conflict_id,
        person,
        payment.txn_no,
        answer=str(said.answer),
        states=said.states,
        says=said.why,
    )
    return said.answer


class _Said(NamedTuple):
    """An answer as people read it; `states` is the money that it names."""

    answer: Answer
    states: str
    why: str


def _prepared(
    conflict_id: int,
    person: Person,
    client_for: Callable[[ProviderAccount], Choice],
    *,
    now: datetime,
) -> tuple[ProviderTransaction, Callable[[], _Said]]:
    """The payment that it is about, and the question, ready to be put."""
    people.must_hold(person, ASK)
    held = seeing.look(conflict_id)
    hindrance = why_not(Resolution.ASK_PROVIDER, held.facts)
    money = held.money
    if money is not None and money.kind != TransactionKind.PAYMENT:
        money = money.reverses
    if hindrance or money is None:
        raise DoesNotFit(hindrance or says(_("The payment that this is about is not known.")))
    if held.conflict.reason == ConflictReason.REFUND_IN_DOUBT:
        claim = _claimed(held, money, client_for)
        return money, partial(_ask_refund, claim, client_for, now)
    return money, partial(_ask_payment, _reached(money, client_for), money, now)


def _ask_payment(reached: Reached, payment: ProviderTransaction, now: datetime) -> _Said:
    said = asking.ask(reached, txn_no=payment.txn_no, order_no=payment.order_no, now=now)
    money = said.callback.money if said.callback else None
    return _Said(said.answer, str(money or ""), said.why)


def _ask_refund(claim: Claim, client_for: ClientFor, now: datetime) -> _Said:
    said = one.ask(claim, client_for, now=now)
    return _Said(said.answer, str(said.amount or ""), said.why)


def _claimed(held: Held, payment: ProviderTransaction, client_for: ClientFor) -> Claim:
    """The refund that is in doubt, ours for as long as asking takes. Raises DoesNotFit."""
    choice = client_for(payment.account)
    if choice.client is None or not choice.tells_refunds:
        why = choice.why or says(_("its provider answers no questions about refunds"))
        raise DoesNotFit(says(_NOT_ASKED, account=payment.account.endpoint, why=why))
    claim = one.claim(int(held.conflict.subject.removeprefix("refund:")))
    if claim is None:
        raise DoesNotFit(
            says(_("The refund is not under way: it has ended, or is about to be sent."))
        )
    return claim


def _reached(money: ProviderTransaction, client_for: ClientFor) -> Reached:
    """The way to the payment's provider. Raises DoesNotFit."""
    choice = client_for(money.account)
    endpoint = find_endpoint(money.account.provider, money.account.name)
    if choice.client is None or endpoint is None:
        why = choice.why or says(_("the account is not active"))
        raise DoesNotFit(says(_NOT_ASKED, account=money.account.endpoint, why=why))
    if not choice.found_by:
        raise DoesNotFit(
            says(
                _("%(account)s answers no questions about payments."),
                account=money.account.endpoint,
            )
        )
    client = choice.client
    return Reached(endpoint=endpoint, client=lambda: client, found_by=choice.found_by)


def _record(action: str, conflict_id: int, person: Person, txn_no: str, **after: str) -> None:
    chain.record(
        by=person.actor,
        action=action,
        object_type="conflict",
        object_id=conflict_id,
        after={"txn_no": txn_no, **after},
    )
