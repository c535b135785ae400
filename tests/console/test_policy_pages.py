"""Policies: tried before they are proposed, approved by another, ended in one click."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from audit.models import AuditEntry
from config.console import limits, policy_trials, policy_trying
from payments.models import Conflict, ConflictPolicy, ProviderAccount, Refund
from payments.policies import current, document
from payments.policies.apply import apply_policies
from payments.policies.dry_run import dry_run
from payments.policies.rules import Kind
from tests.console.clock import now
from tests.console.rooms import list_of, page_of
from tests.console.staff import INSIDERS, member
from tests.factories import MerchantFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import can_send
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db

ASK_ALL = {f"{kind}_do": "ask" for kind in Kind}
LATE = ASK_ALL | {"late_do": "refund", "late_limits": "50.00 USD", "why": "small late ones"}


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def admin(account: ProviderAccount) -> Client:
    return member("admin", name="ann")


@pytest.fixture
def bob(account: ProviderAccount) -> Client:
    return member("approver", name="bob")


def page(verb: str, pk: int) -> str:
    return reverse(f"admin:payments_conflictpolicy_{verb}", args=[pk])


def said(answer: Any) -> str:
    return [str(message) for message in get_messages(answer.wsgi_request)][-1]


def tried(client: Client, merchant_id: int, form: dict[str, str], *, seen: str = "0") -> Any:
    return client.post(page("edit", merchant_id), form | {"seen": seen})


def propose(client: Client, merchant_id: int, form: dict[str, str], *, seen: str = "0") -> Any:
    trial = tried(client, merchant_id, form, seen=seen).context["asked"].seen
    return client.post(page("edit", merchant_id), trial)


def approve(client: Client, policy: ConflictPolicy) -> Any:
    form = client.get(page("approve", policy.pk)).context["asked"].seen
    return client.post(page("approve", policy.pk), form)


def of_today(account: ProviderAccount) -> None:
    """One conflict of each kind that rules may decide, within the last 30 days of the clock."""
    deciding.late(account)
    for number, amount, order_no in ((1, 1150, "2002"), (2, 1050, "3003"), (3, 100, "4004")):
        deciding.order_of(account, order_no)
        told = callback(txn_no=f"txn_{number}", order_no=order_no, amount_minor=amount)
        tell_one(account, told)
    deciding.order_of(account, "5005")
    for number in (5, 6):
        tell_one(account, callback(txn_no=f"txn_{number}", order_no="5005"))
    Conflict.objects.update(opened_at=now() - timedelta(days=1))


ALL_KINDS = {
    "late_do": "accept",
    "late_limits": "20.00 USD",
    "over_do": "accept",
    "over_limits": "20.00 USD",
    "over_tolerance_minor": "60",
    "under_do": "accept",
    "under_limits": "20.00 USD",
    "under_tolerance_per_mille": "50",
    "duplicate_do": "refund",
    "duplicate_limits": "20.00 USD, 500 JPY",
    "parked_do": "ask",
    "why": "the usual",
}


def test_a_policy_is_tried_proposed_approved_and_does_what_its_trial_said(
    account: ProviderAccount, admin: Client, bob: Client
) -> None:
    of_today(account)
    trial = tried(admin, account.merchant_id, ALL_KINDS)
    shown = trial.content.decode()

    assert "Of 5 conflicts in the last 30 days it would have decided 4" in shown
    for how, number, money in (
        ("ACCEPT", 1, "10.99 USD"),
        ("ACCEPT_RECEIVED", 2, "22.00 USD"),
        ("REFUND", 1, "10.99 USD"),
    ):
        assert f'<td>{how}</td><td>{number}</td><td><span class="c-amount">{money}' in shown
    assert ConflictPolicy.objects.count() == 0

    proposed = admin.post(page("edit", account.merchant_id), trial.context["asked"].seen)
    policy = ConflictPolicy.objects.get()
    assert said(proposed) == "Version 1 waits for another person to approve it."
    assert approve(bob, policy).status_code == 302
    policy.refresh_from_db()
    assert (policy.status, policy.needs_two) == ("ACTIVE", True)
    ConflictPolicy.objects.update(decided_at=NOW - timedelta(days=1))
    listed = {line[:3] for line in _lines(account, policy)}

    assert apply_policies(client_for=can_send, now=deciding.LATER) == 4

    decided = Conflict.objects.filter(decided_as="POLICY", policy=policy)
    assert set(decided.values_list("pk", "reason", "decision")) == listed
    assert Refund.objects.count() == 1
    after = bob.get(page_of(policy)).content.decode()
    assert all(page_of(conflict) in after for conflict in decided)
    assert after.count("by policy, version 1") == 4


def _lines(account: ProviderAccount, policy: ConflictPolicy) -> list[tuple[Any, ...]]:
    found = dry_run(account.merchant, document.read(policy.rules), now=now())
    return [(line.conflict_id, line.reason, line.how.value) for line in found.lines]


def test_where_there_was_nothing_the_trial_says_so(account: ProviderAccount, admin: Client) -> None:
    assert "nothing can be said" in tried(admin, account.merchant_id, LATE).content.decode()


def test_a_trial_is_bounded_and_says_so(
    account: ProviderAccount, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_today(account)
    monkeypatch.setattr(policy_trials, "LOOKED_AT_MAX", 2)
    monkeypatch.setattr(policy_trials, "LINES_MAX", 1)

    shown = tried(admin, account.merchant_id, ALL_KINDS).content.decode()

    assert "Of the newest 2 conflicts of the last 30 days" in shown


@pytest.mark.parametrize("trial", ["", "made up", None])
def test_what_was_not_tried_is_not_proposed(
    account: ProviderAccount, admin: Client, trial: str | None
) -> None:
    """Also not what somebody else has tried, or what was tried for another merchant."""
    if trial is None:
        other = MerchantFactory.create()
        trial = tried(admin, other.pk, LATE).context["asked"].seen["trial"]

    answer = admin.post(page("edit", account.merchant_id), {"trial": trial})

    assert said(answer).startswith("Nothing was changed: ")
    assert not ConflictPolicy.objects.exists()


def test_what_another_has_tried_or_long_ago_is_not_proposed(
    account: ProviderAccount, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = tried(admin, account.merchant_id, LATE).context["asked"].seen

    by_another = member("admin", name="eve").post(page("edit", account.merchant_id), trial)
    monkeypatch.setattr(policy_trying, "TRIED_FOR", timedelta(seconds=-1))
    too_late = admin.post(page("edit", account.merchant_id), trial)

    assert "tried by another person" in said(by_another)
    assert "try the policy first" in said(too_late)
    assert not ConflictPolicy.objects.exists()


def test_a_form_from_before_another_version_is_refused(
    account: ProviderAccount, admin: Client, bob: Client
) -> None:
    trial = tried(admin, account.merchant_id, LATE).context["asked"].seen
    propose(admin, account.merchant_id, LATE)
    approve(bob, ConflictPolicy.objects.get())

    answer = admin.post(page("edit", account.merchant_id), trial)
    stale_off = admin.post(page("off", account.merchant_id), {"why": "x", "seen": "0"})

    assert (
        said(answer) == "Nothing was changed: Version 1 counts by now, and not 0: look at it first."
    )
    assert "Version 1 counts by now" in said(stale_off)
    assert ConflictPolicy.objects.count() == 1


def test_the_proposer_approves_nothing_not_even_by_hand(
    account: ProviderAccount, bob: Client
) -> None:
    both = member("admin", "approver", name="ann")
    propose(both, account.merchant_id, LATE)
    policy = ConflictPolicy.objects.get()

    shown = both.get(page_of(policy))
    led_back = both.get(page("approve", policy.pk))
    answer = both.post(page("approve", policy.pk), {"seen": "0"})

    assert [deed.name for deed in shown.context["deeds"]] == ["Withdraw"]
    assert "You proposed it: another person must approve it." in shown.content.decode()
    assert led_back["Location"] == page_of(policy)
    assert "ann proposed it" in said(answer)
    assert [deed.name for deed in bob.get(page_of(policy)).context["deeds"]] == [
        "Approve",
        "Reject",
    ]
    policy.refresh_from_db()
    assert policy.status == "PROPOSED"


@pytest.mark.parametrize(("name", "status"), [("ann", "WITHDRAWN"), ("bob", "REJECTED")])
def test_a_version_that_waits_is_withdrawn_or_rejected_with_a_reason(
    account: ProviderAccount, admin: Client, bob: Client, name: str, status: str
) -> None:
    propose(admin, account.merchant_id, LATE)
    policy = ConflictPolicy.objects.get()
    person = {"ann": admin, "bob": bob}[name]

    assert person.post(page("decline", policy.pk), {"why": " "}).status_code == 200
    person.post(page("decline", policy.pk), {"why": "too much"})

    policy.refresh_from_db()
    assert (policy.status, policy.decided_why) == (status, "too much")
    assert AuditEntry.objects.latest("seq").action == f"policy.{status.lower()}"


def test_off_is_one_click_counts_at_once_and_waits_for_nobody(
    account: ProviderAccount, admin: Client, bob: Client
) -> None:
    deciding.alone_up_to(account.merchant, 5000, late={"do": "refund", "limits": {"USD": 5000}})
    propose(admin, account.merchant_id, LATE | {"late_limits": "90.00 USD"}, seen="1")
    waiting = ConflictPolicy.objects.get(status="PROPOSED")
    stale = bob.get(page("approve", waiting.pk)).context["asked"].seen

    asked = admin.get(page("off", account.merchant_id)).context["asked"]
    form = {"why": asked.form.initial["why"], **asked.seen}
    answer = admin.post(page("off", account.merchant_id), form)
    twice = admin.post(page("off", account.merchant_id), form | {"seen": "3"})
    approved = bob.post(page("approve", waiting.pk), stale)

    assert said(answer) == "Switched off, as version 3."
    assert "there is nothing to switch off" in said(twice)
    present = current.rules_of(account.merchant_id)
    assert (present.by_kind, present.alone_up_to("USD")) == ({}, 5000)
    assert "Version 3 counts by now, and not 1" in said(approved)
    entry = AuditEntry.objects.get(action="policy.activated")
    assert (entry.actor, entry.why, entry.before["version"]) == ("ann", "Switched off", 1)


def test_the_amount_for_two_people_is_raised_by_two_and_lowered_by_one(
    account: ProviderAccount, admin: Client, bob: Client
) -> None:
    at = page("above", account.merchant_id)
    raised = admin.post(at, {"above": "100 usd; 15000 JPY", "why": "more trust", "seen": "0"})
    policy = ConflictPolicy.objects.get()
    assert said(raised) == "Version 1 waits for another person to approve it."
    assert current.rules_of(account.merchant_id).alone_up_to("USD") == 0
    approve(bob, policy)
    assert current.rules_of(account.merchant_id).four_eyes_above == {"USD": 10000, "JPY": 15000}
    shown = admin.get(page_of(account.merchant)).content.decode()
    assert "Two people decide above 15,000 JPY, 100.00 USD" in shown

    lowered = admin.post(at, {"above": "50.00 USD", "why": "less", "seen": "1"})

    assert said(lowered) == "Version 2 counts from now on."
    assert current.rules_of(account.merchant_id).alone_up_to("USD") == 5000
    assert AuditEntry.objects.filter(object_type="policy").count() == 3


def test_changing_the_amount_leaves_the_rules_and_changing_the_rules_leaves_the_amount(
    account: ProviderAccount, admin: Client
) -> None:
    rule = {"do": "refund", "limits": {"USD": 5000}}
    deciding.alone_up_to(account.merchant, 5000, late=rule)
    above = {"above": "1.00 USD", "why": "less", "seen": "1"}
    admin.post(page("above", account.merchant_id), above)
    assert current.active(account.merchant_id).rules == {  # type: ignore[union-attr]
        "late": rule,
        "four_eyes_above": {"USD": 100},
    }

    propose(admin, account.merchant_id, LATE | {"late_do": "ask"}, seen="2")

    assert current.active(account.merchant_id).rules == {"four_eyes_above": {"USD": 100}}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (LATE | {"late_limits": ""}, "late_limits"),
        (LATE | {"late_limits": "fifty USD"}, "late_limits"),
        (LATE | {"late_limits": "50.001 USD"}, "late_limits"),
        (LATE | {"late_limits": "50 USD, 60 USD"}, "late_limits"),
        (LATE | {"late_limits": "-1 USD"}, "late_limits"),
        (LATE | {"late_limits": "5 XXX"}, "late_limits"),
        (LATE | {"over_do": "accept", "over_limits": "5 USD"}, "over_tolerance_minor"),
        (LATE | {"duplicate_do": "accept", "duplicate_limits": "5 USD"}, "duplicate_do"),
        (LATE | {"under_tolerance_per_mille": "101"}, "under_tolerance_per_mille"),
        (LATE | {"why": " "}, "why"),
    ],
)
def test_a_form_that_makes_no_policy_says_where(
    account: ProviderAccount, admin: Client, form: dict[str, str], field: str
) -> None:
    answer = tried(admin, account.merchant_id, form)

    assert list(answer.context["asked"].form.errors) == [field]
    assert answer.context["asked"].seen == {"seen": "0"}


def test_amounts_are_written_as_they_are_read() -> None:
    amounts = {"USD": 5000, "JPY": 500, "BHD": 1}
    assert limits.read(limits.write(amounts)) == amounts
    assert limits.write(amounts) == "0.001 BHD, 500 JPY, 50.00 USD"


@pytest.mark.parametrize("role", INSIDERS)
def test_each_role_may_just_this_about_policies(account: ProviderAccount, role: str) -> None:
    policy = deciding.alone_up_to(account.merchant, late={"do": "refund", "limits": {"USD": 1}})
    waits = member("admin", name="ann")
    propose(waits, account.merchant_id, LATE, seen="1")
    waiting = ConflictPolicy.objects.get(status="PROPOSED")
    person = member(role, name="carol")

    for address in (list_of(ConflictPolicy), page_of(policy), page_of(account.merchant)):
        assert person.get(address).status_code == 200, address
    for verb in ("edit", "above", "off"):
        expected = 200 if role == "admin" else 403
        assert person.get(page(verb, account.merchant_id)).status_code == expected, verb
        if expected == 403:
            assert person.post(page(verb, account.merchant_id), {}).status_code == 403, verb
    for verb in ("approve", "decline"):
        expected = 200 if role == "approver" else 403
        assert person.get(page(verb, waiting.pk)).status_code == expected, verb
        if expected == 403:
            assert person.post(page(verb, waiting.pk), {}).status_code == 403, verb
    deeds = person.get(page_of(account.merchant)).context["deeds"]
    assert len(deeds) == (3 if role == "admin" else 0)
    waiting.refresh_from_db()
    assert waiting.status == "PROPOSED"


@pytest.mark.parametrize("seen", ["", "x", "-1", "\u0661", "9" * 10])
def test_a_form_that_does_not_say_what_it_saw_is_refused(
    account: ProviderAccount, admin: Client, seen: str
) -> None:
    answer = admin.post(page("above", account.merchant_id), {"why": "x", "seen": seen})
    assert answer.status_code == 400


def test_hostile_reasons_and_names_are_shown_as_text(
    account: ProviderAccount, admin: Client, bob: Client
) -> None:
    propose(admin, account.merchant_id, LATE | {"why": "<script>x</script>\u202e %(why)s"})
    policy = ConflictPolicy.objects.get()

    for address in (list_of(ConflictPolicy), page_of(policy), page("approve", policy.pk)):
        shown = bob.get(address).content.decode()
        assert "<script>x" not in shown, address
        assert "[U+202E]" in shown, address
