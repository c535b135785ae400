"""The service's own processes, run by tests as `manage.py up` runs them."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from django.db import connection

from config.embedded.ports import free_port
from config.embedded.server import Server, stop, wait_until_ready
from config.up import programs

ROOT = Path(__file__).resolve().parent.parent


class Worker:
    """A Celery worker that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    def output(self) -> str:
        return self._log.read_text(errors="replace")


class Web(Worker):
    """A web server that runs, at `url`."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, url: str) -> None:
        super().__init__(process, log)
        self.url = url


def environment(**extra: str) -> dict[str, str]:
    """For a child process: the same servers, but the database that belongs to the tests."""
    return {**os.environ, "DATABASE_URL": database_url(), **extra}


def database_url() -> str:
    """The address of the database that the tests write to."""
    at = connection.settings_dict
    user = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    return f"postgres://{user}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


def web(**variables: str) -> Iterator[Web]:
    """Run the web server, with these variables in its environment."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    env = environment(PORT=str(port), PUBLIC_URL=base_url) | variables
    for process, log in _run(programs.web(env, ROOT, port)):
        yield Web(process, log, base_url)


def worker() -> Iterator[Worker]:
    """Run a Celery worker; yields it when it takes tasks."""
    for process, log in _run(programs.worker(environment(), ROOT, free_port())):
        yield Worker(process, log)


def _run(server: Server) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    with tempfile.TemporaryDirectory(prefix="paidonce-tests-log-") as folder:
        log = Path(folder) / f"{server.name}.log"
        with log.open("wb") as output:
            process = server.start(output)
        try:
            wait_until_ready(server, process)
        except RuntimeError as failure:
            failure.add_note(log.read_text(errors="replace")[-4000:])
            raise
        yield process, log
        stop(process, server.stop_signal)
