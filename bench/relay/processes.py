"""Relays as processes of their own, as `manage.py relay` runs them."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from django.db import connection

from bench.servers import ROOT, Site
from config.embedded.server import Server, stop, wait_until_ready

_READY_SECONDS: Final = 60.0
_CONNECTED_SQL: Final = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend'
       AND pid <> pg_backend_pid()
"""


class NotConnected(RuntimeError):
    """The relays did not come up; their logs in the folder say why."""


@contextmanager
def relays(site: Site, command: str, number: int) -> Iterator[None]:
    """So many processes of this command of manage.py, all connected to the database."""
    before = _connections()
    servers = [
        Server(
            name=f"{command}-{place}",
            command=(sys.executable, "manage.py", command),
            ready=lambda: True,
            env=site.env,
            cwd=ROOT,
        )
        for place in range(number)
    ]
    with _running(site, servers):
        deadline = time.monotonic() + _READY_SECONDS
        while _connections() < before + number:
            if time.monotonic() > deadline:
                raise NotConnected(f"{command}: see {site.folder}")
            time.sleep(0.1)
        yield


@contextmanager
def program(site: Site, server: Server) -> Iterator[None]:
    """One other program, ready."""
    with _running(site, [server]):
        yield


@contextmanager
def _running(site: Site, servers: Sequence[Server]) -> Iterator[None]:
    with ExitStack() as children:
        for server in servers:
            with (site.folder / f"{server.name}.log").open("ab") as log:
                process = server.start(log)
            children.callback(stop, process, server.stop_signal)
            wait_until_ready(server, process)
        yield


def _connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_CONNECTED_SQL)
        return int(cursor.fetchone()[0])
