"""Conflicts as callbacks open them, people of each role, and decisions as another process takes."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from orders import events
from orders.models import Merchant, Order, OrderStatus
from orders.money import Money
from payments import sweep
from payments.callback import Kind
from payments.clients.choice import Choice
from payments.conflicts import four_eyes, resolve, seen
from payments.conflicts.checking import Wanted
from payments.conflicts.people import Person, person
from payments.conflicts.refusals import Refused
from payments.conflicts.resolve import Resolved
from payments.conflicts.seen import Seen
from payments.models import (
    Conflict,
    ConflictPolicy,
    PolicyStatus,
    Proposal,
    ProviderAccount,
    Resolution,
)
from payments.refunds import answers, asking, lifecycle, request
from tests.factories import AccountKeyFactory, OrderFactory, ProviderAccountFactory
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

LATER = NOW.replace(hour=14)


def can_send(_: ProviderAccount) -> Choice:
    """Refunds can be sent."""
    return Choice(None)


def cannot_send(_: ProviderAccount) -> Choice:
    return Choice(None, "the account has no key with purpose api")


def somebody(name: str, *roles: str, origin: str = "test") -> Person:
    """A person with these roles."""
    user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    user.groups.set(Group.objects.filter(name__in=roles))
    return person(user, origin=origin)


def alone_up_to(merchant: Merchant, amount_minor: int = 10**9, **rules: Any) -> ConflictPolicy:
    """One person may decide so much, and the rules count from before all that is told."""
    admin, other = somebody("policy-admin", "admin"), somebody("policy-approver", "approver")
    return ConflictPolicy.objects.create(
        merchant=merchant,
        version=1,
        rules={"four_eyes_above": {"USD": amount_minor, "EUR": amount_minor}, **rules},
        needs_two=True,
        status=PolicyStatus.ACTIVE,
        why="test",
        proposed_by_id=admin.user_id,
        proposed_at=NOW,
        decided_by_id=other.user_id,
        decided_at=NOW,
    )


def sending_account() -> ProviderAccount:
    """One that can send refunds, of a merchant for whom one person decides."""
    account = ProviderAccountFactory.create(name="main")
    AccountKeyFactory.create(account=account, purpose="api", secret="sk_live_tests_only")
    alone_up_to(account.merchant)
    return account


def order_of(account: ProviderAccount, order_no: str = "1001", **values: Any) -> Order:
    return OrderFactory.create(merchant=account.merchant, order_no=order_no, **values)


def late(account: ProviderAccount, **told: Any) -> Conflict:
    """A payment of an order that was closed."""
    order_of(account, status="CLOSED", closed_at=NOW, version=1)
    _tell_closed(account)
    return _told(account, **told)


def mismatch(account: ProviderAccount, amount_minor: int = 1000, **told: Any) -> Conflict:
    """Another amount than the order's 10.99 USD."""
    order_of(account)
    return _told(account, amount_minor=amount_minor, **told)


def in_doubt(account: ProviderAccount, provider: ProviderDouble) -> Conflict:
    """A refund was sent to this provider, and its answers were lost."""
    order_of(account)
    tell_one(account, callback(txn_no="txn_A"))
    asked = request.Asked(order_no="1001", refund_no="R-1", money=Money(500, "USD"))
    request.request(merchant=account.merchant, asked=asked, now=NOW)
    claim = lifecycle.claim_to_send(timedelta(minutes=2))
    assert claim is not None
    asking.send(claim.refund_id, provider)
    assert answers.not_known(replace(claim, asks=99), why="no answer", now=NOW)
    return Conflict.objects.get()


def payable_by(account: ProviderAccount, conflict: Conflict) -> Order:
    """Order 2002, which the conflict's payment could pay."""
    money = conflict.transaction
    return order_of(
        account,
        "2002",
        amount_minor=money.amount_minor if money else 1099,
        currency=money.currency if money else "USD",
    )


def currency(account: ProviderAccount) -> Conflict:
    order_of(account)
    return _told(account, currency="EUR")


def merchant(account: ProviderAccount) -> Conflict:
    """The order is payable through another account."""
    order_of(account, payable_through="stripe/elsewhere")
    return _told(account)


def duplicate(account: ProviderAccount) -> Conflict:
    order_of(account)
    tell_one(account, callback(txn_no="txn_first"))
    return _told(account)


def parked(account: ProviderAccount) -> Conflict:
    """A payment that nobody has an order for, after the grace time."""
    tell_one(account, callback(txn_no="txn_A"))
    sweep.sweep(now=LATER, grace=LATER - NOW)
    return Conflict.objects.get()


def altered(account: ProviderAccount) -> Conflict:
    order_of(account)
    tell_one(account, callback(txn_no="txn_A"))
    return _told(account, amount_minor=9900)


def external(account: ProviderAccount) -> Conflict:
    order_of(account)
    tell_one(account, callback(txn_no="txn_A"))
    tell_one(account, callback(Kind.REFUNDED, txn_no="re_1", reverses="txn_A", amount_minor=100))
    return Conflict.objects.get()


def _told(account: ProviderAccount, **told: Any) -> Conflict:
    tell_one(account, callback(**{"txn_no": "txn_A", **told}))
    return Conflict.objects.latest("pk")


def _tell_closed(account: ProviderAccount) -> None:
    """The event of the close, which the factory's row has skipped."""
    order = account.merchant.orders.get(order_no="1001")
    with transaction.atomic():
        events.tell(
            OrderStatus.CLOSED,
            merchant_code=account.merchant.code,
            order_no=order.order_no,
            money=order.money,
            version=1,
            at=NOW,
            now=NOW,
        )


def seen_now(conflict: Conflict, order_no: str = "") -> Seen:
    return seen.look(conflict.pk, target_no=order_no).seen


def decide(
    conflict: Conflict,
    how: Resolution,
    who: Person,
    *,
    seen: Seen | None = None,
    order_no: str = "",
    now: datetime = LATER,
    send: Any = can_send,
) -> Resolved:
    """Decide on what is true now, unless told what was seen."""
    return resolve.resolve(
        conflict.pk,
        Wanted(how=how, why="because", order_no=order_no),
        seen=seen or seen_now(conflict, order_no),
        person=who,
        client_for=send,
        now=now,
    )


def propose(
    conflict: Conflict,
    how: Resolution,
    who: Person,
    *,
    order_no: str = "",
    seen: Seen | None = None,
) -> Proposal:
    return four_eyes.propose(
        conflict.pk,
        Wanted(how=how, why="because", order_no=order_no),
        seen=seen or seen_now(conflict, order_no),
        person=who,
        now=LATER,
    )


def approve(proposal: Proposal, who: Person, *, now: datetime = LATER) -> Resolved:
    return four_eyes.approve(
        proposal.pk, digest=proposal.digest, person=who, client_for=can_send, now=now
    )


def outcome(work: partial[Any]) -> str:
    """What came of it in a word: done, or the name of the refusal. For races."""
    try:
        work()
    except Refused as refusal:
        return type(refusal).__name__
    return "done"
