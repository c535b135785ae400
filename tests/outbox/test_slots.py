"""Slots that hold back the log are alarmed before the disk is full, and say so by name."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import structlog
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from config.embedded import postgres
from outbox.cdc import drop, setup
from outbox.slots import Problem, problems
from outbox.tasks import check_slots
from tests.processes import ROOT
from tests.server_control import ServerProcess

SLOT = "paidonce_outbox"


@pytest.fixture
def slot(transactional_db: None) -> Iterator[None]:
    """A slot that nobody reads."""
    setup()
    yield
    drop(force=True)


def write_log() -> None:
    """Some kilobytes that the slot must hold back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 20000))")


def test_a_slot_within_its_bounds_is_no_problem(slot: None) -> None:
    assert problems() == []


def test_a_forgotten_slot_is_an_error_of_every_check(slot: None, settings: Any) -> None:
    settings.CDC_SLOT_BYTES_MAX = 10_000
    write_log()

    with structlog.testing.capture_logs() as lines:
        check_slots()

    (line,) = lines
    assert (line["log_level"], line["event"], line["slot"]) == ("error", "replication_slot", SLOT)
    assert "more than CDC_SLOT_BYTES_MAX, and nobody reads it" in line["reason"]
    with pytest.raises(CommandError, match=f"{SLOT} holds back"):
        call_command("cdc", "status")


def test_a_slot_that_somebody_else_made_counts_too(transactional_db: None, settings: Any) -> None:
    settings.CDC_SLOT_BYTES_MAX = 10_000
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_create_physical_replication_slot('paidonce_other', true)")
        try:
            write_log()
            assert [problem.slot for problem in problems()] == ["paidonce_other"]
        finally:
            cursor.execute("SELECT pg_drop_replication_slot('paidonce_other')")


def test_events_that_leave_by_a_slot_that_is_not_there_are_an_error(
    transactional_db: None, settings: Any
) -> None:
    settings.RELAY = "cdc"

    assert problems() == [
        Problem(SLOT, "is not there, and RELAY=cdc: nobody reads the events"),
        Problem(SLOT, "has nothing to read: no paidonce_outbox"),
    ]


def test_a_role_without_any_right_sees_the_slots_and_is_told_what_it_may_not(
    slot: None, settings: Any
) -> None:
    settings.CDC_SLOT_BYTES_MAX = 10_000
    write_log()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE ROLE paidonce_plain")
        cursor.execute("SET LOCAL ROLE paidonce_plain")
        assert [problem.slot for problem in problems()] == [SLOT]
        for what in ("setup", "drop"):
            settings.CDC_PUBLICATION = f"not_there_for_{what}"
            with pytest.raises(CommandError, match="database refuses"), transaction.atomic():
                call_command("cdc", what)
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of these tests keeps its data."""
    return tmp_path_factory.mktemp("slots") / "postgres"


@contextmanager
def server(folder: Path, **settings: str) -> Iterator[ServerProcess]:
    running = ServerProcess(postgres.prepare(folder, **settings), folder.parent / "output.log")
    running.start()
    try:
        yield running
    finally:
        running.stop()


def manage(server: ServerProcess, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": server.url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_slot_that_lost_its_place_is_told_as_such_and_made_anew(folder: Path) -> None:
    small = {"max_wal_size": "32MB", "max_slot_wal_keep_size": "16MB"}
    with (
        server(folder, wal_level="logical", **small) as running,
        psycopg.connect(running.url, autocommit=True) as session,
    ):
        session.execute("CREATE TABLE outbox_event (id uuid)")
        session.execute(f"SELECT pg_create_logical_replication_slot('{SLOT}', 'pgoutput')")
        for _ in range(6):  # segments of 16 MB
            session.execute("SELECT pg_logical_emit_message(false, 'test', 'x')")
            session.execute("SELECT pg_switch_wal()")
        session.execute("CHECKPOINT")

        status = manage(running, "cdc", "status")
        made = manage(running, "cdc", "setup")

        kept = session.execute("SELECT slot_name, wal_status FROM pg_replication_slots").fetchall()
        session.execute(f"SELECT pg_drop_replication_slot('{SLOT}')")
    assert status.returncode == 1
    assert f"{SLOT}  pgoutput  not read  lost" in status.stdout
    assert f"{SLOT} has lost its place" in status.stderr
    assert made.stdout == f"publication {SLOT}: made\nslot {SLOT}: made\n"
    assert kept == [(SLOT, "reserved")]


def test_a_log_that_tells_too_little_is_refused_with_the_way_out(folder: Path) -> None:
    with server(folder) as running:
        refused = manage(running, "cdc", "setup")

    assert refused.returncode == 1
    assert "wal_level is replica. Set wal_level = logical" in refused.stderr
