"""`manage.py up`, run whole: on a copy of the sources, so that its data is not the developer's."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl

import httpx2
import psutil
import psycopg
import pytest

from config import runtime_env
from config.embedded.ports import free_port
from config.up import claim, programs
from tests.processes import ROOT

_SOURCES = ("audit", "config", "idempotency", "orders", "outbox", "payments", "manage.py")
_WAIT_SECONDS = 150

# Each run starts ten processes; on a busy machine that takes its time.
pytestmark = pytest.mark.timeout(400)


class Run:
    """One `manage.py up` in a copy of the sources."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.port = free_port()
        self._log = checkout / "up.log"
        given = ("DATABASE_URL", "BROKER_URL", "SECRET_KEY", "VAULT_KEYS")
        self.env = {name: value for name, value in os.environ.items() if name not in given}
        self.env["PORT"] = str(self.port)
        with self._log.open("ab") as log:
            self.process = psutil.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=checkout,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another command in the same checkout, as in another terminal."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.checkout,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )

    def wait_for(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while self.output().count(text) < times:
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.1)

    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def database(self) -> psycopg.Connection:
        known = runtime_env.read(runtime_env.runtime_file(self.checkout))
        return psycopg.connect(known["DATABASE_URL"], autocommit=True)

    def processes(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]

    def words(self) -> dict[int, str]:
        """The words that each was started with; a server of theirs may end a child meanwhile."""
        found = {}
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                found[process.pid] = " ".join(process.cmdline())
        return found

    def end(self) -> list[psutil.Process]:
        """What is left after Ctrl-C."""
        running = self.processes()
        self.process.send_signal(signal.SIGINT)
        left: list[psutil.Process] = psutil.wait_procs(running, timeout=_WAIT_SECONDS)[1]
        return left


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return _copy(tmp_path / "checkout")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    run = Run(_copy(tmp_path_factory.mktemp("shared") / "checkout"))
    run.wait_for("Everything runs")
    yield run
    run.end()


def _copy(checkout: Path) -> Path:
    checkout.mkdir()
    for name in _SOURCES:
        if (ROOT / name).is_dir():
            # With its bytecode: ten processes of each run would compile it again.
            shutil.copytree(ROOT / name, checkout / name)
        else:
            shutil.copy(ROOT / name, checkout / name)
    return checkout


def test_ctrl_c_and_kill_leave_no_process_and_all_of_the_data(checkout: Path) -> None:
    first = Run(checkout)
    first.wait_for("Everything runs")
    with first.database() as database:
        database.execute("CREATE TABLE kept (what text)")
        database.execute("INSERT INTO kept VALUES ('this')")
    secrets = (checkout / "var" / "secrets.env").read_text()
    assert first.end() == []
    assert first.process.returncode == 0
    assert not runtime_env.runtime_file(checkout).exists()

    second = Run(checkout)
    second.wait_for("Everything runs", times=2)
    assert first.output().count("Password ") == 1
    assert "manage.py changepassword admin" in second.output()
    assert f"Everything runs: http://127.0.0.1:{second.port}/admin/ " in second.output()
    with second.database() as database:
        assert database.execute("SELECT what FROM kept").fetchall() == [("this",)]
    assert (checkout / "var" / "secrets.env").read_text() == secrets
    running = second.processes()
    names = {process.name() for process in running}
    assert {"postgres", "valkey-server"} <= names
    second.process.kill()
    assert psutil.wait_procs(running, timeout=40)[1] == []
    os.close(claim.claim(checkout / "var" / "up.lock"))


def test_a_web_server_that_crashed_is_started_again(running: Run) -> None:
    [web] = [
        process
        for process in running.process.children()
        if "granian" in " ".join(process.cmdline())
    ]
    workers = web.children(recursive=True)
    web.kill()
    running.wait_for("web ended with code -9; starting it again in 1 s.")
    assert psutil.wait_procs(workers, timeout=10)[1] == []
    deadline = time.monotonic() + _WAIT_SECONDS
    while not _is_ready(running.port):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _is_ready(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def test_a_second_run_on_the_same_data_is_told_who_holds_it(running: Run) -> None:
    second = running.manage("up")
    assert second.returncode == 1
    assert second.stderr == (
        f"Another run (process {running.process.pid}) uses the data in "
        f"{running.checkout / 'var'}. Stop it first (Ctrl-C in its terminal).\n"
    )


def test_a_command_in_another_terminal_finds_the_database(running: Run) -> None:
    shown = running.manage("migrate", "--check")
    assert (shown.returncode, shown.stderr) == (0, "")


def test_the_simulators_page_is_named_and_what_is_paid_there_arrives(running: Run) -> None:
    page = re.search(r"^(http://\S+)/pay\?(\S+)$", running.output(), re.MULTILINE)
    assert page is not None
    url, asked = page.groups()
    form = {**dict(parse_qsl(asked)), "button": "pay"}
    assert httpx2.post(f"{url}/pay", data=form).status_code == 303

    deadline = time.monotonic() + _WAIT_SECONDS
    checked = running.manage("provider_simulator", "--check", "--final")
    while checked.returncode:
        assert time.monotonic() < deadline, checked.stdout + checked.stderr
        checked = running.manage("provider_simulator", "--check", "--final")
    assert checked.stdout == (
        "1 payments compared: 0 differences, 0 waiting, 0 asked of a person\n"
    )


def test_secrets_and_addresses_are_readable_by_their_owner_only(running: Run) -> None:
    var = running.checkout / "var"
    for name in ("secrets.env", "runtime.env", "postgres/password", "valkey/password"):
        assert (var / name).stat().st_mode & 0o777 == 0o600, name
    for name in ("postgres", "valkey"):
        assert (var / name).resolve().stat().st_mode & 0o777 == 0o700, name


def test_no_secret_shows_in_the_words_of_a_command(running: Run) -> None:
    known = runtime_env.read(runtime_env.runtime_file(running.checkout))
    passwords = [
        (running.checkout / "var" / f"{name}/password").read_text()
        for name in ("postgres", "valkey")
    ]
    words = "\n".join(running.words().values())
    assert not [
        secret
        for secret in (known["SECRET_KEY"], known["VAULT_KEYS"], *passwords)
        if secret in words
    ]


def test_a_port_in_use_is_named_with_the_remedy(checkout: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        env = {**os.environ, "PORT": str(port)}
        refused = subprocess.run(
            [sys.executable, "manage.py", "up"],
            cwd=checkout,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
    assert refused.returncode == 1
    assert refused.stderr == (
        f"Port {port} is in use by another program. Choose another one: PORT=8001 make run\n"
    )


def _refused(checkout: Path, **given: str) -> str:
    """Why it does not start, in one line."""
    own = ("DATABASE_URL", "BROKER_URL")
    env = {name: value for name, value in os.environ.items() if name not in own}
    refused = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=checkout,
        env={**env, "PORT": str(free_port()), **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    (line,) = refused.stderr.splitlines()
    return line


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_does_not_answer_is_named_before_anything_starts(
    checkout: Path, scheme: str
) -> None:
    port = free_port()
    said = _refused(checkout, BROKER_URL=f"{scheme}://me:hush@127.0.0.1:{port}/0")

    assert said.startswith(f"The broker {scheme}://me:**@127.0.0.1:{port}/")
    assert "does not answer" in said
    assert "BROKER_URL" in said
    assert "hush" not in said


@pytest.mark.parametrize("broker", ["valkey_url", "rabbitmq_url"])
def test_a_broker_is_taken_with_its_password_and_refused_with_another(
    broker: str, request: pytest.FixtureRequest
) -> None:
    url: str = request.getfixturevalue(broker)
    programs.ask_broker(url)

    before, _, after = url.rpartition("@")
    wrong = f"{before.rpartition(':')[0]}:wrong@{after}"
    with pytest.raises(programs.BrokerAwayError, match="does not answer"):
        programs.ask_broker(wrong)


def test_data_that_cannot_be_kept_is_said_with_the_folder(checkout: Path) -> None:
    (checkout / "var").touch()

    assert _refused(checkout).startswith(f"{checkout}/var: File exists. Data, secrets and")


def test_a_database_of_ones_own_needs_secrets_of_ones_own(checkout: Path) -> None:
    env = {**os.environ, "SECRET_KEY": "", "VAULT_KEYS": ""}
    refused = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=checkout,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr == (
        "DATABASE_URL is set and SECRET_KEY and VAULT_KEYS not. What a database of yours holds "
        "can only be read with your own secrets: set them too (.env.example says how to make "
        "them).\n"
    )
