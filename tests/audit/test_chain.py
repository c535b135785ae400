"""The audit: append only, chained, and honest about where it was broken."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, connection, transaction

from audit import chain, verify
from audit.actors import Actor, command_line
from audit.chain import UnfitEntry
from audit.models import ActorKind, AuditEntry, Verification
from tests.concurrency.racing import race

pytestmark = pytest.mark.django_db

ALICE = Actor(kind=ActorKind.PERSON, name="alice", id=7, origin="203.0.113.9, session 0a1b2c3d")


def record(number: int = 0, **values: Any) -> int:
    usual: dict[str, Any] = {
        "by": ALICE,
        "action": "conflict.resolved",
        "object_type": "conflict",
        "object_id": number,
        "before": {"status": "OPEN", "amount_minor": 2**62},
        "after": {"status": "RESOLVED", "note": "\u00fcber \u0000 \ud800", "at": None},
    }
    return chain.record(**usual | values)


def by_a_superuser(sql: str) -> None:
    """What somebody does who owns the table and has put the triggers to sleep."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_auditentry DISABLE TRIGGER USER")
        cursor.execute(sql)
        cursor.execute("ALTER TABLE audit_auditentry ENABLE ALWAYS TRIGGER audit_no_change")


def test_entries_are_numbered_stamped_and_chained() -> None:
    before = datetime.now(UTC)  # noqa: TID251 - beside the database's clock
    assert [record(number) for number in range(3)] == [1, 2, 3]

    first, second, third = AuditEntry.objects.order_by("seq")
    assert bytes(first.previous) == chain.GENESIS
    assert (bytes(second.previous), bytes(third.previous)) == (
        bytes(first.hash),
        bytes(second.hash),
    )
    assert abs((first.at - before).total_seconds()) < 60
    assert (first.actor, first.actor_id, first.origin) == ("alice", 7, ALICE.origin)
    assert first.after["note"] == "\u00fcber \ufffd ?"
    assert verify.walk() == verify.Walked(3, verify.Anchor(3, bytes(third.hash)), "")


def test_the_hash_is_what_it_is_said_to_be() -> None:
    """SHA-256 of the hash before and the sorted JSON: written here by hand, from the docs."""
    record(5, before={}, after={"b": 1, "a": "\u00e9"}, why="so")
    entry = AuditEntry.objects.get()
    content = {
        "seq": 1,
        "at": entry.at.isoformat(timespec="microseconds"),
        "actor_kind": "PERSON",
        "actor": "alice",
        "actor_id": 7,
        "origin": ALICE.origin,
        "action": "conflict.resolved",
        "object_type": "conflict",
        "object_id": "5",
        "before": {},
        "after": {"a": "\u00e9", "b": 1},
        "why": "so",
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert bytes(entry.hash) == hashlib.sha256(bytes(32) + text.encode()).digest()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit_auditentry SET why = 'x'",
        "UPDATE audit_auditentry SET why = 'x' WHERE false",
        "DELETE FROM audit_auditentry",
        "TRUNCATE audit_auditentry",
    ],
)
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_the_database_refuses_to_change_an_entry(sql: str, role: str) -> None:
    record()
    with connection.cursor() as cursor:
        # Tests clean up by TRUNCATE, so here it is turned on as it is everywhere else.
        cursor.execute("ALTER TABLE audit_auditentry ENABLE ALWAYS TRIGGER audit_no_truncate")
        cursor.execute("SELECT set_config('session_replication_role', %s, true)", [role])

    with (
        pytest.raises(IntegrityError, match="append only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)

    assert verify.walk().entries == 1


def test_the_role_of_the_documentation_appends_and_does_no_more() -> None:
    document = (Path(settings.BASE_DIR) / "docs" / "conflicts.md").read_text()
    _, _, after = document.partition("```sql\n")
    with connection.cursor() as cursor:
        cursor.execute(after.partition("```")[0])
        # Without the triggers: the role alone must be enough.
        cursor.execute("ALTER TABLE audit_auditentry DISABLE TRIGGER ALL")
        cursor.execute("SET LOCAL ROLE paidonce_service")

    record()
    call_command("verify_audit", stdout=StringIO())

    for change in ("UPDATE audit_auditentry SET why = 'x'", "DELETE FROM audit_auditentry"):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)


def test_what_a_walk_found_is_kept_for_who_looks() -> None:
    record()
    call_command("verify_audit", stdout=StringIO())
    assert (Verification.objects.get().seq, Verification.objects.get().broken) == (1, "")


def forged(seq: int, follows: int) -> str:
    """An entry whose own hash is right, put between others."""
    previous = bytes(AuditEntry.objects.get(seq=follows).hash)
    entry = AuditEntry.objects.get(seq=follows)
    content = chain.content_of(entry) | {"seq": seq, "actor": "mallory"}
    digest = chain.digest(previous, content)
    columns = (
        f"{seq}, at, actor_kind, 'mallory', actor_id, origin, action, object_type, object_id,"
        f" before, after, why, '\\x{previous.hex()}', '\\x{digest.hex()}'"
    )
    return (
        f"INSERT INTO audit_auditentry SELECT {columns} FROM audit_auditentry WHERE seq = {follows}"  # noqa: S608 - numbers of this test
    )


@pytest.mark.parametrize(
    ("tamper", "right", "says"),
    [
        (
            lambda: "UPDATE audit_auditentry SET after = '{}' WHERE seq = 3",
            2,
            "entry 3: its content is not what was written",
        ),
        (
            lambda: "UPDATE audit_auditentry SET at = at + interval '1 microsecond' WHERE seq = 1",
            0,
            "entry 1: its content is not what was written",
        ),
        (
            lambda: "UPDATE audit_auditentry SET actor_id = NULL WHERE seq = 5",
            4,
            "entry 5: its content is not what was written",
        ),
        (
            lambda: "DELETE FROM audit_auditentry WHERE seq = 2",
            1,
            "entry 3: entries 2 to 2 are missing",
        ),
        (
            lambda: "DELETE FROM audit_auditentry WHERE seq = 1",
            0,
            "entry 2: entries 1 to 1 are missing",
        ),
        (
            lambda: (
                "DELETE FROM audit_auditentry WHERE seq = 2;"
                "UPDATE audit_auditentry SET seq = seq - 1 WHERE seq > 2"
            ),
            1,
            "entry 2: it does not follow the entry before it",
        ),
        (
            lambda: (
                "UPDATE audit_auditentry SET seq = 99 WHERE seq = 2;"
                "UPDATE audit_auditentry SET seq = 2 WHERE seq = 3;"
                "UPDATE audit_auditentry SET seq = 3 WHERE seq = 99"
            ),
            1,
            "entry 2: it does not follow the entry before it",
        ),
        (
            lambda: f"DELETE FROM audit_auditentry WHERE seq = 3;{forged(3, 2)}",  # noqa: S608 - as above
            3,
            "entry 4: it does not follow the entry before it",
        ),
    ],
    ids=[
        *("changed", "time moved", "actor removed", "one removed", "first removed"),
        *("removed and renumbered", "reordered", "replaced by a right hash"),
    ],
)
def test_what_was_tampered_with_is_found_where_it_is(
    tamper: Callable[[], str], right: int, says: str
) -> None:
    for number in range(5):
        record(number)
    by_a_superuser(tamper())

    walked = verify.walk(page=2)

    assert (walked.entries, walked.broken) == (right, says)
    with pytest.raises(CommandError, match="broken at entry"):
        call_command("verify_audit")


def test_an_entry_that_was_put_at_the_end_is_a_right_one_only_for_who_kept_no_anchor() -> None:
    record()
    by_a_superuser(forged(2, 1))
    kept = verify.last()
    by_a_superuser("DELETE FROM audit_auditentry WHERE seq = 2")
    record(9)

    assert verify.walk().broken == ""
    assert verify.walk(kept=kept).broken == "entry 2: it is not the entry of the anchor"


def test_a_tail_that_was_cut_off_is_missed_by_its_anchor() -> None:
    for number in range(3):
        record(number)
    said = StringIO()
    call_command("verify_audit", "--anchor", stdout=said)
    kept = said.getvalue().strip()
    assert kept == str(verify.last())
    call_command("verify_audit", "--kept", kept, stdout=said)
    by_a_superuser("DELETE FROM audit_auditentry WHERE seq = 3")

    assert verify.walk().broken == ""
    with pytest.raises(CommandError, match="entry 3: it was kept as an anchor, and is gone"):
        call_command("verify_audit", "--kept", kept)


def test_an_empty_audit_is_whole() -> None:
    said = StringIO()
    call_command("verify_audit", stdout=said)
    assert said.getvalue().startswith("0 entries, an unbroken chain. Its end: 0:00")


@pytest.mark.parametrize("text", ["", "1", "1:zz", "x:00", "1:00"])
def test_what_is_no_anchor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        verify.read_anchor(text)


@pytest.mark.parametrize(
    "after",
    [
        {"password": "x"},
        {"key": {"material": "x"}},
        {"rows": [{"api_token": "x"}]},
        {"payer": "somebody"},
        {"rate": 0.1},
        {"what": object()},
    ],
)
def test_what_is_secret_or_has_no_one_form_is_not_kept(after: dict[str, Any]) -> None:
    with pytest.raises(UnfitEntry):
        record(after=after)
    assert not AuditEntry.objects.exists()


def test_a_command_is_somebody_at_a_machine() -> None:
    who = command_line()
    assert who.kind == "COMMAND"
    assert who.name
    assert who.origin.startswith("command line: ")


def test_what_is_too_long_is_cut() -> None:
    record(
        by=Actor(kind=ActorKind.PERSON, name="n" * 999, origin="o" * 999),
        why="w" * 999,
        object_id="i" * 999,
    )
    entry = AuditEntry.objects.get()
    assert [len(text) for text in (entry.actor, entry.origin, entry.why, entry.object_id)] == [
        *(150, 200, 500, 128)
    ]
    assert verify.walk().broken == ""


def test_an_entry_shares_the_fate_of_its_cause() -> None:
    def fail() -> None:
        with transaction.atomic():
            record()
            raise RuntimeError("the cause did not happen")

    with pytest.raises(RuntimeError):
        fail()
    assert record() == 1


@pytest.mark.django_db(transaction=True)
def test_many_who_write_at_once_make_one_chain() -> None:
    def write(number: int) -> None:
        for _ in range(5):
            with transaction.atomic():
                record(number)

    race(*[partial(write, number) for number in range(8)])

    assert verify.walk().entries == 40
    assert verify.walk().broken == ""
