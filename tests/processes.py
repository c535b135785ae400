"""The service's own processes, run by tests as the supervisor runs them."""

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
from django.db import connection

from config.embedded.ports import free_port
from config.embedded.server import Server, stop, wait_until_ready

ROOT = Path(__file__).resolve().parent.parent


class Worker:
    """A Celery worker that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    def output(self) -> str:
        return self._log.read_text(errors="replace")


def environment(**extra: str) -> dict[str, str]:
    """For a child process: the same servers, but the database that belongs to the tests."""
    return {**os.environ, "DATABASE_URL": database_url(), **extra}


def database_url() -> str:
    """The address of the database that the tests write to."""
    at = connection.settings_dict
    user = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    return f"postgres://{user}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


def web() -> Iterator[str]:
    """Run the web server; yields its address."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    command = [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--workers", "2", "--blocking-threads", "4", "config.wsgi:application"),
    ]
    ready = functools.partial(_answers, f"{base_url}/readyz")
    for _ in _run("web", command, ready, PORT=str(port), PUBLIC_URL=base_url):
        yield base_url


def worker() -> Iterator[Worker]:
    """Run a Celery worker; yields it when it takes tasks."""
    log = Path(tempfile.mkstemp(prefix="paidonce-worker-")[1])
    command = [
        *(sys.executable, "-m", "celery", "--app", "config", "worker"),
        *("--concurrency", "2", "--loglevel", "info"),
    ]
    ready = functools.partial(_says, log, " ready.")
    for process in _run("worker", command, ready, log=log):
        yield Worker(process, log)
    log.unlink()


def _run(
    name: str,
    command: list[str],
    ready: Callable[[], bool],
    *,
    log: Path | None = None,
    **extra: str,
) -> Iterator[subprocess.Popen[bytes]]:
    server = Server(
        name=name, command=tuple(command), ready=ready, env=environment(**extra), cwd=ROOT
    )
    if log is None:
        process = server.start()
    else:
        with log.open("ab") as output:
            process = server.start(output)
    wait_until_ready(server, process)
    yield process
    stop(process, server.stop_signal)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=2).status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def _says(log: Path, text: str) -> bool:
    return text in log.read_text(errors="replace")
