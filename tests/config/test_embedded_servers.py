"""The embedded servers as root, as another user, and after they were killed."""

import os
import pwd
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.embedded import launch, ports, postgres, postgres_binaries, privileges, valkey
from config.embedded.server import Server, end_session, stop, wait_until_ready
from tests.processes import ROOT

_SETTINGS = {"max_wal_size": "64MB"}


def _ways_to_run() -> dict[str, launch.RunAs | None]:
    """As the user who runs the tests; where that is root, in both ways of not being root."""
    if os.geteuid() != 0:
        return {"this user": None}
    nobody = pwd.getpwnam("nobody")
    ways = {"nobody": launch.RunAs(nobody.pw_uid, nobody.pw_gid, namespace=False)}
    if privileges.namespaces_work():
        ways["namespace"] = launch.RunAs(nobody.pw_uid, nobody.pw_gid, namespace=True)
    return {**ways}


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that nobody but its owner can enter, as /root is on most machines."""
    with tempfile.TemporaryDirectory(prefix="paidonce-tests-closed-") as folder:
        yield Path(folder)


def _write_and_kill(server: Server) -> None:
    process = server.start(subprocess.DEVNULL)
    wait_until_ready(server, process)
    with psycopg.connect(server.url, autocommit=True) as database:
        database.execute("CREATE TABLE kept (what text)")
        database.execute("INSERT INTO kept VALUES ('this')")
    process.kill()
    end_session(process)


@pytest.mark.parametrize("way", _ways_to_run())
def test_postgres_runs_in_a_closed_folder_and_keeps_a_commit_when_killed(
    way: str, closed_folder: Path
) -> None:
    run_as = _ways_to_run()[way]
    folder = closed_folder / "postgres"
    _write_and_kill(postgres.prepare_as(run_as, folder, **_SETTINGS))
    server = postgres.prepare_as(run_as, folder, **_SETTINGS)
    process = server.start(subprocess.DEVNULL)
    wait_until_ready(server, process)
    with psycopg.connect(server.url) as database:
        assert database.execute("SELECT what FROM kept").fetchall() == [("this",)]
        durable = database.execute(
            "SELECT name, setting FROM pg_settings"
            " WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') ORDER BY name"
        )
        assert durable.fetchall() == [
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous_commit", "on"),
        ]
    stop(process, server.stop_signal)
    assert process.returncode == 0
    subprocess.run(["rm", "-rf", folder.resolve()], check=True)


def test_waiting_for_postgres_makes_it_log_nothing_fatal_even_while_it_recovers(
    tmp_path: Path,
) -> None:
    _write_and_kill(postgres.prepare(tmp_path / "postgres", **_SETTINGS))
    server = postgres.prepare(tmp_path / "postgres", **_SETTINGS)
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = server.start(output)
    wait_until_ready(server, process)
    said = log.read_text()
    stop(process, server.stop_signal)  # Whoever was working in the background then says FATAL.

    assert "database system was interrupted" in said
    assert "FATAL" not in said


def test_postgres_asks_for_its_password(tmp_path: Path) -> None:
    server = postgres.prepare(tmp_path / "postgres", **_SETTINGS)
    process = server.start(subprocess.DEVNULL)
    wait_until_ready(server, process)
    wrong = server.url.replace(server.url.split(":")[2].split("@")[0], "guessed")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)
    stop(process, server.stop_signal)


def test_data_of_another_major_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("9\n")
    with pytest.raises(
        postgres_binaries.NoPostgresError, match=r"written by PostgreSQL 9.*pg_dump"
    ):
        postgres.prepare(tmp_path / "postgres")


def _run_as_other_user(uid: int, gid: int, code: str) -> subprocess.CompletedProcess[bytes]:
    """Run a few lines as a plain user, seen from inside."""
    run_as = launch.RunAs(uid, gid, namespace=privileges.namespaces_work())
    with tempfile.TemporaryFile() as output:
        process = launch.start([sys.executable, "-c", code], run_as=run_as, cwd=ROOT, output=output)
        process.wait(60)
        output.seek(0)
        return subprocess.CompletedProcess([], process.returncode, output.read())


def test_a_plain_user_runs_postgres_as_himself() -> None:
    nobody = pwd.getpwnam("nobody")
    code = """
import os, subprocess, tempfile
from pathlib import Path
from config.embedded import postgres, privileges
from config.embedded.server import stop, wait_until_ready
assert os.geteuid() != 0 and privileges.user_for_postgres() is None
with tempfile.TemporaryDirectory() as folder:
    server = postgres.prepare(Path(folder) / "postgres", max_wal_size="64MB")
    process = server.start(subprocess.DEVNULL)
    wait_until_ready(server, process)
    stop(process, server.stop_signal)
    print("stopped with", process.returncode)
"""
    ran = _run_as_other_user(nobody.pw_uid, nobody.pw_gid, code)
    assert ran.stdout == b"stopped with 0\n"


def test_a_user_without_a_name_is_told_to_bring_a_database() -> None:
    nameless = next(uid for uid in range(54_321, 60_000) if uid not in _known_users())
    code = """
from config.embedded import privileges
try:
    privileges.user_for_postgres()
except privileges.NoUserError as error:
    print(error)
"""
    ran = _run_as_other_user(nameless, nameless, code)
    assert ran.stdout.decode() == (
        f"The user id {nameless} has no entry in /etc/passwd, and PostgreSQL will not start "
        "without one. Give the address of a PostgreSQL server in DATABASE_URL instead.\n"
    )


def _known_users() -> set[int]:
    return {user.pw_uid for user in pwd.getpwall()}


def test_a_program_ends_with_the_process_that_started_it() -> None:
    code = """
import subprocess, sys
from config.embedded import launch
child = launch.start([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
input()
"""
    starter = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert starter.stdout is not None
    child = int(starter.stdout.readline())
    handle = os.pidfd_open(child)
    starter.kill()
    starter.communicate()
    readable, _, _ = select.select([handle], [], [], 10)
    os.close(handle)
    assert readable == [handle]


def test_a_free_port_is_out_of_reach_of_outgoing_connections() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(50):
        port = ports.free_port()
        assert 20_000 <= port < first
        assert ports.is_free("127.0.0.1", port)


def test_valkey_asks_for_its_password(tmp_path: Path) -> None:
    server = valkey.prepare(tmp_path / "valkey")
    process = server.start(subprocess.DEVNULL)
    wait_until_ready(server, process)
    port = int(server.url.rpartition(":")[2].split("/")[0])
    stranger = redis.Redis(port=port, retry=Retry(NoBackoff(), 0))
    with pytest.raises(redis.AuthenticationError):
        stranger.ping()
    stranger.close()
    stop(process, server.stop_signal)
    assert process.returncode in (0, -signal.SIGTERM)
