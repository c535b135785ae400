"""Conflicts and policies from the command line, by the functions that pages use."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.models import AuditEntry
from payments.models import Conflict, ConflictPolicy, ProviderAccount, Refund
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create(name="main")
    AccountKeyFactory.create(account=account, purpose="api", secret="rk_live_x")
    somebody("alice", "reviewer")
    somebody("bob", "approver")
    return account


def run(*command: object) -> str:
    said = StringIO()
    call_command(*map(str, command), stdout=said)
    return said.getvalue()


def digest(said: str, name: str) -> str:
    found = re.search(rf"^{name}: ([0-9a-f]{{64}})$", said, re.MULTILINE)
    assert found is not None, said
    return found[1]


def test_a_conflict_is_listed_shown_proposed_and_approved(account: ProviderAccount) -> None:
    conflict = deciding.late(account)
    listed = run(
        "conflicts", "list", "--merchant", account.merchant.code, "--reason", "late_payment"
    )
    assert listed.split()[:3] == [str(conflict.pk), "OPEN", "LATE_PAYMENT"]
    assert run("conflicts", "list", "--reason", "duplicate_payment") == ""
    shown = run("conflicts", "show", conflict.pk)
    assert "10.99 USD of txn_A go back to the payer through stripe/main" in shown

    said = run(
        *("conflicts", "resolve", conflict.pk, "refund", "--as", "alice"),
        *("--seen", digest(shown, "Seen"), "--why", "too late"),
    )
    assert "one person proposes, another approves. Proposed: 10.99 USD of txn_A" in said
    shown = run("conflicts", "show", conflict.pk)
    assert "alice proposes until" in shown
    approval = ("conflicts", "approve", conflict.pk, "--digest", digest(shown, "Digest"))
    with pytest.raises(CommandError, match=r"bob|alice has no permission"):
        run(*approval, "--as", "alice")
    said = run(*approval, "--as", "bob")

    assert said == f"Conflict {conflict.pk} is decided: refund conflict-{conflict.pk}-2.\n"
    assert Refund.objects.get().status == "REQUESTED"
    entry = AuditEntry.objects.get(action="conflict.resolved")
    assert (entry.actor, entry.origin.partition(":")[0]) == ("bob", "command line")
    assert f"PERSON: refund conflict-{conflict.pk}-2. too late" in run(
        "conflicts", "show", conflict.pk
    )
    assert_books_balance()


def test_what_needs_no_second_person_is_decided_at_once(account: ProviderAccount) -> None:
    deciding.alone_up_to(account.merchant)
    conflict = deciding.late(account)
    deciding.order_of(account, "2002")
    shown = run("conflicts", "show", conflict.pk, "--order", "2002")
    resolution = ("conflicts", "resolve", conflict.pk, "match", "--order", "2002", "--as", "alice")

    said = run(*resolution, "--seen", digest(shown, "Seen"))

    assert said == f"Conflict {conflict.pk} is decided: matched to order 2002.\n"
    with pytest.raises(CommandError, match="alice decided it at"):
        run(*resolution, "--seen", digest(shown, "Seen"))
    assert_books_balance()


def test_a_state_that_moved_is_not_decided_on(account: ProviderAccount) -> None:
    conflict = deciding.late(account)

    with pytest.raises(CommandError, match="moved since: `show` it again"):
        run(
            *("conflicts", "resolve", conflict.pk, "refund", "--as", "alice"),
            *("--seen", "0" * 64, "--why", "x"),
        )
    assert Conflict.objects.get().status == "OPEN"


@pytest.mark.parametrize(("verb", "who"), [("reject", "bob"), ("withdraw", "alice")])
def test_a_proposal_is_declined(account: ProviderAccount, verb: str, who: str) -> None:
    conflict = deciding.late(account)
    with pytest.raises(CommandError, match="No proposal about conflict"):
        run("conflicts", verb, conflict.pk, "--as", who, "--why", "x")
    seen = digest(run("conflicts", "show", conflict.pk), "Seen")
    run(
        *("conflicts", "resolve", conflict.pk, "accept", "--as", "alice"),
        *("--seen", seen, "--why", "x"),
    )

    assert run("conflicts", verb, conflict.pk, "--as", who, "--why", "no") == (
        f"Conflict {conflict.pk} is open again.\n"
    )


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("conflicts", "show", 10**12), "there is no conflict"),
        (("conflicts", "ask", 1, "--as", "nobody"), "no active user 'nobody'"),
        (("conflicts", "resolve", 1, "burn", "--as", "a", "--seen", "x"), "must be one of"),
        (("policy", "show", "nobody"), "There is no merchant"),
    ],
)
def test_what_cannot_be_done_is_said(
    account: ProviderAccount, command: tuple[object, ...], says: str
) -> None:
    with pytest.raises(CommandError, match=says):
        run(*command)


def test_a_policy_is_tried_proposed_approved_and_shown(
    account: ProviderAccount, tmp_path: Path
) -> None:
    code = account.merchant.code
    somebody("admin", "admin")
    conflict = deciding.late(account)
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"late": {"do": "refund", "limits": {"USD": 5000}}}))
    assert run("policy", "show", code).startswith("No policy")

    tried = run("policy", "try", code, "--rules", file, "--days", 400)
    assert f"{conflict.pk}  2026-03-01 12:00  LATE_PAYMENT" in tried
    assert "REFUND: 1 conflicts, 10.99 USD" in tried
    assert "Of 1 conflicts in 400 days it would have decided 1" in tried
    assert not ConflictPolicy.objects.exists()

    said = run("policy", "propose", code, "--rules", file, "--as", "admin", "--why", "small")
    assert said == "Version 1 is PROPOSED; a second person must approve it.\n"
    with pytest.raises(CommandError, match="admin has no permission"):
        run("policy", "approve", code, "--as", "admin")
    assert run("policy", "approve", code, "--as", "bob") == "Version 1 is ACTIVE.\n"
    assert "1 ACTIVE: admin proposed, bob decided" in run("policy", "show", code)

    file.write_text("{")
    with pytest.raises(CommandError, match=r"rules\.json"):
        run("policy", "try", code, "--rules", file)
    file.write_text('{"early": {}}')
    with pytest.raises(CommandError, match="the policy has no 'early'"):
        run("policy", "propose", code, "--rules", file, "--as", "admin", "--why", "x")
    with pytest.raises(CommandError, match="--days must be"):
        run("policy", "try", code, "--rules", file, "--days", 0)
    with pytest.raises(CommandError, match="No policy of"):
        run("policy", "decline", code, "--as", "bob", "--why", "x")
