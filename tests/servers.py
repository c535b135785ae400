"""The servers the tests run against, and the environment that leads to them.

Loaded by `-p tests.servers`, because Django reads the addresses before any conftest.py is read.
Each server is started unless its address is given: DATABASE_URL, BROKER_URL, AMQP_URL.

Where several processes share the tests (`-n`), each has servers of its own: tests stop servers,
and look at all that goes on in one.
"""

import atexit
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from config.embedded import postgres, valkey
from config.embedded.server import Server, stop, wait_until_ready
from tests import rabbitmq

_PREFIX = "paidonce-tests-"
_MEMORY_BYTES_MIN = 2 * 1024**3

# Of the right shape and of no use elsewhere.
_SECRETS = {
    "SECRET_KEY": "tests-only-7s1Vt0nK3pXw9bQmZc5Rj2LhYd8GfUe4AaTiOoNxBvSkPqWyEr6MzDuHgCl",
    "VAULT_KEYS": "B7JSyvczaPBVx2OUxqhBBgtXvZcco8GxEqBQXVTz3A4=",
}
# Meant for a service that runs, not for its tests.
_NOT_FOR_TESTS = (
    *("AMQP_URL", "EVENT_STREAM", "EVENT_STREAM_URL", "AMQP_EXCHANGE", "AMQP_QUEUE"),
    *("EVENT_SOURCE", "RELAY", "OUTBOX_KEPT_DAYS", "CDC_SLOT_BYTES_MAX", "METRICS_TOKEN"),
    *("KAFKA_SERVERS", "KAFKA_TOPIC", "KAFKA_OPTIONS"),
    *("NOTIFY_EVERY_MINUTES", "NOTIFY_FROM", "EMAIL_HOST", "EMAIL_PORT", "EMAIL_SAFETY"),
    *("EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD"),
    *("DEBUG", "ALLOWED_HOSTS", "PUBLIC_URL", "PORT", "TRUSTED_PROXY", "HTTPS_ONLY", "LOG_LEVEL"),
)

_ADDRESSES = {"DATABASE_URL", "TEST_REDIS_URL", "BROKER_URL"}
# Names those of the addresses that lead to servers started here.
_STARTED = "TEST_SERVERS_STARTED"

_amqp: rabbitmq.Background | None = None


def pytest_addoption() -> None:
    """Start the servers: the one hook that is called before Django's settings are read."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # Started in the background of a shell. Every process that a test starts would inherit
        # that and never hear its Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in os.environ.pop(_STARTED, "").split():
        del os.environ[name]  # Inherited from the process that shares out the tests: its own.
    given = set(os.environ)
    folder = _folder()
    if "DATABASE_URL" not in os.environ:
        os.environ["DATABASE_URL"] = _run(
            postgres.prepare(
                folder / "postgres",
                max_connections="200",
                max_wal_size="256MB",
                wal_level="logical",  # for tests/outbox/test_cdc.py
            ),
            folder,
        )
        _let_in_quickly(os.environ["DATABASE_URL"])
    broker = os.environ.get("BROKER_URL", "")
    if "TEST_REDIS_URL" not in os.environ:
        os.environ["TEST_REDIS_URL"] = (
            broker
            if broker.startswith("redis")
            else _run(valkey.prepare(folder / "valkey"), folder)
        )
    os.environ.setdefault("BROKER_URL", os.environ["TEST_REDIS_URL"])
    if "AMQP_URL" in os.environ:
        os.environ.setdefault("TEST_AMQP_URL", os.environ["AMQP_URL"])
    for name in _NOT_FOR_TESTS:
        os.environ.pop(name, None)
    # Tests start the service some hundred times, and each would compile it anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.update(_SECRETS)
    os.environ[_STARTED] = " ".join(_ADDRESSES - given)
    global _amqp  # noqa: PLW0603 - hooks have nowhere else to keep what they share
    _amqp = rabbitmq.Background(folder / "rabbitmq")
    atexit.register(_amqp.stop)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let RabbitMQ come up beside the first tests, if any of them will ask for it."""
    wanted = any("rabbitmq_url" in getattr(item, "fixturenames", ()) for item in session.items)
    wanted = wanted and "TEST_AMQP_URL" not in os.environ
    if wanted and _amqp is not None and not session.config.option.collectonly:
        _amqp.start()


def redis_url() -> str:
    """The address of the Valkey that the tests share."""
    return os.environ["TEST_REDIS_URL"]


def amqp_url() -> str:
    """The address of the RabbitMQ, when it answers; ends the test run if there is none."""
    if "TEST_AMQP_URL" not in os.environ:
        assert _amqp is not None
        try:
            os.environ["TEST_AMQP_URL"] = _amqp.url()
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is the same for all tests
            notes = "\n".join(getattr(failure, "__notes__", []))
            pytest.exit(f"No RabbitMQ for the tests: {failure}\n{notes}".strip(), returncode=3)
    return os.environ["TEST_AMQP_URL"]


def _run(server: Server, folder: Path) -> str:
    with (folder / f"{server.name}.log").open("ab") as log:
        process = server.start(log)
    wait_until_ready(server, process)
    atexit.register(stop, process, server.stop_signal)
    return server.url


def _let_in_quickly(url: str) -> None:
    """Make connecting cheap: tests do it thousands of times, with a password none could guess."""
    password = urlsplit(url).password
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("SET scram_iterations = 1")
        session.execute(sql.SQL("ALTER ROLE CURRENT_USER PASSWORD {}").format(password))


def _folder() -> Path:
    """A folder for this run; those of runs that were killed go away."""
    parent = _fast_disk()
    for left in parent.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    folder.chmod(0o711)  # PostgreSQL may have to run as somebody else
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _fast_disk() -> Path:
    """Memory, if there is enough: the database has to wait for its disk, as the service checks."""
    memory = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a private folder in it
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    if usable and shutil.disk_usage(memory).free > _MEMORY_BYTES_MIN:
        return memory
    return Path(tempfile.gettempdir())


def _alive(process: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
