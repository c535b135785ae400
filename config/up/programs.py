"""The service's own programs: what to run, and how to tell that it is ready."""

import functools
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import amqp.exceptions
import celery
import httpx2
import kombu
import kombu.exceptions
import redis.exceptions

from config import variables
from config.embedded.server import Server

_WEB_WORKERS_MAX = 4
# One of them is where the relay waits for events.
_WORKER_SLOTS = 3
_BROKER_CONNECT_SECONDS = 3
_BROKER_ERRORS = (
    *(OSError, kombu.exceptions.KombuError),
    *(redis.exceptions.RedisError, amqp.exceptions.AMQPError),
)


class BrokerAwayError(RuntimeError):
    """The broker that BROKER_URL names does not answer."""


def ask_broker(url: str) -> None:
    """Find out now what the worker would fail at after a minute. Raises BrokerAwayError."""
    if url.partition("://")[0] not in variables.BROKER_SCHEMES:
        return  # the settings refuse it, and say what they take
    broker = kombu.Connection(url, connect_timeout=_BROKER_CONNECT_SECONDS)
    try:
        broker.ensure_connection(max_retries=1, interval_start=1)
        broker.channel()  # a Redis is connected to by its first channel
    except _BROKER_ERRORS as error:
        reason = str(error).rstrip(".")
        raise BrokerAwayError(
            f"The broker {broker.as_uri()} does not answer: {reason}. Start it, mend BROKER_URL, "
            "or leave that out to have one made."
        ) from error
    finally:
        broker.release()


def manage(name: str, arguments: tuple[str, ...], env: Mapping[str, str], root: Path) -> Server:
    """One of the commands of manage.py, to be run to its end."""
    return Server(
        name=name,
        command=(sys.executable, "manage.py", *arguments),
        ready=lambda: True,
        env=env,
        cwd=root,
    )


def web(env: Mapping[str, str], root: Path, port: int) -> Server:
    """The web server; ready when it and the database say so."""
    workers = min(os.cpu_count() or 1, _WEB_WORKERS_MAX)
    return Server(
        name="web",
        command=(
            *(sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"),
            *("--host", "127.0.0.1", "--port", str(port), "--workers", str(workers)),
            *("--blocking-threads", "4", "--respawn-failed-workers"),
            *("--log-config", "config/web_server_log.json", "--http1-buffer-size", "32768"),
            *("--workers-kill-timeout", "15", "config.wsgi:application"),
        ),
        ready=functools.partial(_is_ok, f"http://127.0.0.1:{port}/readyz"),
        env=env,
        cwd=root,
    )


def worker(env: Mapping[str, str], root: Path, port: int) -> Server:
    """The Celery worker; ready when it answers a ping through the broker."""
    # Unlike every other worker on the same broker.
    name = f"paidonce-{port}-{os.getpid()}@{socket.gethostname()}"
    return Server(
        name="worker",
        command=(
            *(sys.executable, "-m", "celery", "--quiet", "--app", "config"),
            *("worker", "--hostname", name),
            *("--concurrency", str(_WORKER_SLOTS), "--without-gossip", "--without-mingle"),
        ),
        ready=functools.partial(_answers_ping, env["BROKER_URL"], name),
        # Celery warns root of pickled tasks; this worker takes JSON only.
        env={**env, "PYTHONWARNINGS": "ignore:You're running the worker with superuser"},
        cwd=root,
    )


def beat(env: Mapping[str, str], root: Path) -> Server:
    """Celery's clock; ready when it has written down its schedule."""
    folder = root / "var" / "beat"
    folder.mkdir(parents=True, exist_ok=True)
    for former in folder.glob("schedule*"):
        former.unlink()
    return Server(
        name="beat",
        command=(
            *(sys.executable, "-m", "celery", "--quiet", "--app", "config", "beat"),
            *("--schedule", str(folder / "schedule"), "--pidfile", ""),
        ),
        ready=lambda: any(folder.glob("schedule*")),
        env=env,
        cwd=root,
    )


def totals(env: Mapping[str, str], root: Path) -> Server:
    """The consumer that counts what each day came to; it waits for its broker by itself."""
    return Server(
        name="totals",
        command=(sys.executable, "manage.py", "consume", "daily-totals"),
        ready=lambda: True,
        env=env,
        cwd=root,
    )


def simulator(env: Mapping[str, str], root: Path, port: int) -> Server:
    """The provider simulator; ready when it answers."""
    return Server(
        name="provider",
        command=(sys.executable, "manage.py", "provider_simulator", "--port", str(port)),
        ready=functools.partial(_is_ok, f"http://127.0.0.1:{port}/healthz"),
        env=env,
        cwd=root,
    )


def _is_ok(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=2, trust_env=False).status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def _answers_ping(broker_url: str, name: str) -> bool:
    with celery.Celery(broker=broker_url, set_as_current=False) as app:
        try:
            return bool(app.control.ping(destination=[name], timeout=0.5, limit=1))
        except kombu.exceptions.OperationalError:
            return False
