"""The service as `manage.py up` runs it, on servers and data that exist for one measurement."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet

from config.embedded import postgres, valkey
from config.embedded.ports import free_port
from config.embedded.server import Server, stop, wait_until_ready
from config.up import programs

ROOT: Final = Path(__file__).resolve().parent.parent
#: Begins every record of the server's log, so that statements of many lines can be told apart.
LOG_PREFIX: Final = "@@"


class MigrationFailed(RuntimeError):
    """The tables could not be made; the log in the folder says why."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where everything is while it runs."""

    folder: Path
    env: Mapping[str, str] = field(repr=False)
    port: int
    children: ExitStack = field(repr=False)

    @property
    def database_log(self) -> Path:
        """What PostgreSQL writes."""
        return self.folder / "postgres.log"

    def start(self, server: Server) -> None:
        """Run one more program until the measurement ends; its output goes to a file."""
        _start(self.children, server, self.folder)

    def start_web(self) -> None:
        """The web server with the options of `manage.py up`."""
        self.start(programs.web(self.env, ROOT, self.port))

    def start_worker(self) -> None:
        """The worker and the clock, which publish events."""
        self.start(programs.worker(self.env, ROOT, self.port))
        self.start(programs.beat(self.env, ROOT))


@contextmanager
def new_site(folder: Path, **variables: str) -> Iterator[Site]:
    """An empty database and an empty broker in this folder; both are gone afterwards.

    The programs of the service also get these variables.

    The folder must be on a real disk: a commit that waits for nothing measures nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o711)
    with ExitStack() as children:
        children.callback(shutil.rmtree, folder, ignore_errors=True)
        database = postgres.prepare(folder / "postgres", log_line_prefix=f"{LOG_PREFIX}%p ")
        broker = valkey.prepare(folder / "valkey")
        for server in (database, broker):
            _start(children, server, folder)
        port = free_port()
        env = {
            **os.environ,
            "DATABASE_URL": database.url,
            "BROKER_URL": broker.url,
            "SECRET_KEY": secrets.token_urlsafe(64),
            "VAULT_KEYS": Fernet.generate_key().decode(),
            "PUBLIC_URL": f"http://127.0.0.1:{port}",
            **variables,
        }
        _migrate(env, folder)
        yield Site(folder=folder, env=env, port=port, children=children)


def _start(children: ExitStack, server: Server, folder: Path) -> None:
    with (folder / f"{server.name}.log").open("ab") as log:
        process = server.start(log)
    children.callback(stop, process, server.stop_signal)
    wait_until_ready(server, process)


def _migrate(env: Mapping[str, str], folder: Path) -> None:
    server = programs.manage("migrate", ("migrate", "--noinput", "--verbosity", "0"), env, ROOT)
    process = server.start(subprocess.PIPE)
    said, _ = process.communicate()
    if process.returncode:
        raise MigrationFailed(f"{folder}: {said.decode(errors='replace')}")
