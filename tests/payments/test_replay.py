"""What was stored is taken once more: what would change is said first, and then is what changes."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command

from audit.actors import command_line
from audit.models import AuditEntry
from orders.models import Order, OrderStatus
from outbox.models import Event
from payments import replay
from payments.deliveries import API_KEY_ID
from payments.models import (
    Confirmation,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
)
from payments.providers.port import Assurance
from payments.replayed import Replayed, Result
from tests import factories
from tests.payments.stored import body, deliver, mend
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(days=1)
BY = command_line()


@pytest.fixture
def account() -> ProviderAccount:
    """In live mode by mistake, so that what its simulator sends is put aside."""
    return factories.ProviderAccountFactory.create(
        provider="simulator", name="main", account_no="acct_1", live=True
    )


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    return factories.OrderFactory.create(merchant=account.merchant, order_no="1001")


def carry_out(first: Delivery, seen: Replayed) -> Replayed:
    return replay.carry_out(first, seen=seen.digest, by=BY, why="the wrong mode", now=LATER)


def words(found: Replayed) -> tuple[Any, ...]:
    return found.result, [str(said) for said in found.was], [str(said) for said in found.now]


def everything() -> list[list[Any]]:
    tables = (Delivery, Order, ProviderTransaction, Event, Conflict, Confirmation, AuditEntry)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def test_what_was_put_aside_pays_its_order_once_what_was_wrong_is_mended(
    account: ProviderAccount, order: Order
) -> None:
    stored = deliver(account, body())
    mend(account)
    before = everything()

    seen = replay.rehearse(stored, now=LATER)
    assert words(seen) == (Result.CHANGES, ["QUARANTINED WRONG_MODE"], ["APPLIED"])
    assert seen.told == [f"order.paid {account.merchant.code}/1001"]
    assert everything() == before

    done = carry_out(stored, seen)

    assert words(done) == words(seen)
    order.refresh_from_db()
    assert (order.status, order.paid_txn_no) == (OrderStatus.PAID, "pay_1")
    first, second = Delivery.objects.order_by("pk")
    assert (first.outcome, first.reason, first.replay_of) == ("QUARANTINED", "WRONG_MODE", None)
    assert (second.outcome, second.replay_of, second.key_id) == ("APPLIED", stored, "first")
    assert bytes(second.body or b"") == body()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.object_id, entry.why) == (
        *("delivery.replayed", str(stored.pk), "the wrong mode"),
    )
    assert entry.before == {"verdicts": ["QUARANTINED WRONG_MODE"]}
    assert entry.after["verdicts"] == ["APPLIED"]
    assert entry.after["deliveries"] == [second.pk]


def test_once_more_is_nothing_and_says_so(account: ProviderAccount, order: Order) -> None:
    stored = deliver(account, body())
    mend(account)
    seen = replay.rehearse(stored, now=LATER)
    carry_out(stored, seen)
    before = everything()

    twice = carry_out(stored, seen)
    again = replay.rehearse(stored, now=LATER + timedelta(days=1))

    assert words(twice) == (Result.NOTHING, ["QUARANTINED WRONG_MODE"], ["DUPLICATE"])
    assert words(again) == words(twice)
    assert everything() == before


def test_what_would_do_something_else_by_now_is_left_alone(
    account: ProviderAccount, order: Order
) -> None:
    stored = deliver(account, body())
    mend(account)
    seen = replay.rehearse(stored, now=LATER)
    Order.objects.filter(pk=order.pk).update(status=OrderStatus.CLOSED, closed_at=NOW)
    before = everything()

    done = carry_out(stored, seen)

    assert words(done) == (
        Result.DIFFERS,
        ["QUARANTINED WRONG_MODE"],
        ["CONFLICT LATE_PAYMENT"],
    )
    assert everything() == before


def test_a_conflict_that_would_be_opened_is_opened(account: ProviderAccount, order: Order) -> None:
    stored = deliver(account, body(amount_minor=5))
    mend(account)
    replay.rehearse(stored, now=LATER)  # it takes a number for a conflict, and gives it back never

    seen = replay.rehearse(stored, now=LATER)
    done = carry_out(stored, seen)

    assert words(done) == (
        *(Result.CHANGES, ["QUARANTINED WRONG_MODE"]),
        ["CONFLICT AMOUNT_MISMATCH"],
    )
    assert done.told == seen.told == ["conflict.opened"]
    assert Conflict.objects.get().delivery == Delivery.objects.exclude(replay_of=None).get()
    assert replay.rehearse(stored, now=LATER + timedelta(days=1)).result is Result.NOTHING


def test_a_payment_that_waits_and_a_claim_are_changes_though_nobody_is_told(
    account: ProviderAccount,
) -> None:
    parks = deliver(account, body(1, order_no="not-yet"))
    claims = deliver(account, body(2, order_no="not-yet"), assurance=Assurance.NONE)
    mend(account)

    found = [replay.rehearse(stored, now=LATER) for stored in (parks, claims)]

    assert [(each.result, str(each.now[0]), each.told) for each in found] == [
        (Result.CHANGES, "PARKED", []),
        (Result.CHANGES, "HELD UNCONFIRMED", []),
    ]
    for stored, seen in zip((parks, claims), found, strict=True):
        carry_out(stored, seen)
    assert [replay.rehearse(stored, now=LATER).result for stored in (parks, claims)] == [
        *(Result.NOTHING, Result.NOTHING),
    ]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"key_id": API_KEY_ID}, "the provider's own answer"),
        ({"active": False}, "not active"),
    ],
)
def test_what_cannot_be_taken_once_more_says_why(
    account: ProviderAccount, broken: dict[str, Any], why: str
) -> None:
    stored = deliver(account, body(), key_id=broken.get("key_id", "first"))
    ProviderAccount.objects.update(active=broken.get("active", True))

    found = replay.rehearse(stored, now=LATER)

    assert found.result is Result.CANNOT
    assert why in found.why
    assert carry_out(stored, found).result is Result.CANNOT


def test_a_replay_leads_back_to_the_request_that_came(
    account: ProviderAccount, order: Order
) -> None:
    stored = deliver(account, body())
    mend(account)
    carry_out(stored, replay.rehearse(stored, now=LATER))
    taken = Delivery.objects.exclude(replay_of=None).get()

    assert replay.requests([taken.pk]) == [stored]
    assert replay.requests([stored.pk, taken.pk]) == [stored]
    assert replay.requests([10**9]) == []


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("replay", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def anna() -> User:
    user = User.objects.create_user("anna")
    user.user_permissions.set(Permission.objects.filter(codename="replay_delivery"))
    return user


def test_the_command_shows_what_would_change_and_then_does_exactly_that(
    account: ProviderAccount, order: Order, anna: User
) -> None:
    stored = deliver(account, body())
    deliver(account, body(2, order_no="other", amount_minor=5))
    which = ("--account", "simulator/main", "--outcome", "QUARANTINED", "--to", "2026-03-02T00:00Z")
    assert "Requests: 2 NOTHING" in run(*which)
    mend(account)
    before = everything()

    shown = run(*which)

    assert everything() == before
    assert f"{stored.pk}: CHANGES: was QUARANTINED WRONG_MODE; now APPLIED; order.paid" in shown
    assert "Requests: 2 CHANGES" in shown
    (digest,) = re.findall(r"--apply (\w+)", shown)

    done = run(*which, "--apply", digest, "--as", "anna", "--why", "the wrong mode")

    assert done.endswith("Done.\nRequests: 2 CHANGES\n")
    assert Order.objects.get().status == OrderStatus.PAID
    kept = AuditEntry.objects.order_by("seq").values_list("action", "actor", "why")
    assert list(kept) == [
        *[("delivery.replayed", "anna", "the wrong mode")] * 2,
        ("delivery.replays", "anna", "the wrong mode"),
    ]
    with pytest.raises(CommandError, match="something else would change"):
        run(*which, "--apply", digest, "--as", "anna", "--why", "twice")
    assert Delivery.objects.exclude(replay_of=None).count() == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Say which deliveries"),
        (["1", "--apply", "x"], "needs --why"),
        (["1", "--apply", "x", "--why", "y", "--as", "nobody"], "no active user"),
        (["1", "--apply", "x", "--why", "y", "--as", "clerk"], "no permission"),
        (["1", "--apply", "x", "--why", "y", "--as", "anna"], "something else would change"),
        (["--from", "2026-03-01"], "say the time zone"),
    ],
)
def test_the_command_refuses_what_is_not_clear(
    anna: User, arguments: list[str], complaint: str
) -> None:
    User.objects.create_user("clerk")

    with pytest.raises(CommandError, match=complaint):
        run(*arguments)
