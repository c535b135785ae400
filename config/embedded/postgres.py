"""A PostgreSQL server of our own, on 127.0.0.1 with a password."""

import functools
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from config.embedded import launch, postgres_binaries, private_file, privileges
from config.embedded.ports import free_port
from config.embedded.server import Server

_NAME = "paidonce"  # of the role and of the database
_STATE_LINE = 7  # of postmaster.pid, from 0


class ClusterNotMadeError(RuntimeError):
    """`initdb` failed; the message holds what it said."""


def prepare(folder: Path, **settings: str) -> Server:
    """Make the data folder if it is not there and say how to run the server on it.

    The settings are PostgreSQL's own. Raises NoPostgresError, NoUserError, ClusterNotMadeError.
    """
    return prepare_as(privileges.user_for_postgres(), folder, **settings)


def prepare_as(run_as: launch.RunAs | None, folder: Path, **settings: str) -> Server:
    """The same, run as a user that the caller chose."""
    home = privileges.give(folder, run_as)
    data = home / "data"
    binaries = postgres_binaries.find(major=_major_of_data(data))
    binaries = privileges.readable_copy(binaries, run_as)
    password = private_file.kept_password(home / "password")
    if run_as is not None and not run_as.namespace:
        os.chown(home / "password", run_as.uid, run_as.gid)
    if not data.exists():
        _make_cluster(binaries, home, run_as)
    port = free_port()
    settings = {
        **settings,
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": "",  # a path of a deep folder may be too long for a socket
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
    }
    arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    url = f"postgres://{_NAME}:{password}@127.0.0.1:{port}/{_NAME}"
    return Server(
        name="postgres",
        command=(str(binaries / "postgres"), "-D", str(data), *arguments),
        ready=functools.partial(_ready, url, data),
        url=url,
        stop_signal=signal.SIGINT,  # "fast": ends connections, loses nothing
        run_as=run_as,
        env=_environment(),
        cwd=home,
    )


def _make_cluster(binaries: Path, home: Path, run_as: launch.RunAs | None) -> None:
    """Make it under another name first, so that a half-made cluster is never taken for a whole."""
    unfinished = home / "data.unfinished"
    command = [
        *(str(binaries / "initdb"), "--pgdata", str(unfinished), f"--username={_NAME}"),
        *("--auth=scram-sha-256", f"--pwfile={home / 'password'}"),
        *("--encoding=UTF8", "--no-locale", "--no-instructions"),
    ]
    subprocess.run(["rm", "-rf", unfinished], check=True)
    log = home / "initdb.log"
    with log.open("wb") as output:
        made = launch.start(command, run_as=run_as, env=_environment(), cwd=home, output=output)
        code = made.wait()
    if code != 0:
        raise ClusterNotMadeError(f"initdb failed:\n{log.read_text(errors='replace').strip()}")
    log.unlink()
    unfinished.rename(home / "data")


def _major_of_data(data: Path) -> int | None:
    try:
        return int((data / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None


def _environment() -> Mapping[str, str]:
    """Without PGDATA, PGPORT, PGOPTIONS and their like, which are meant for other servers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


def _ready(url: str, data: Path) -> bool:
    """Whether the server takes statements; makes the database on the first occasion."""
    if not _says_ready(data):
        return False
    server, _, _ = url.rpartition("/")
    try:
        with psycopg.connect(f"{server}/postgres", connect_timeout=2, autocommit=True) as session:
            known = session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_NAME])
            if known.fetchone() is None:
                session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(_NAME)))
    except psycopg.OperationalError:
        return False
    return True


def _says_ready(data: Path) -> bool:
    """Whether the server has written that it is up; who connects before that makes it log FATAL.

    The state is the last line of its lock file, as `pg_ctl --wait` reads it:
    https://github.com/postgres/postgres/blob/master/src/include/utils/pidfile.h
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > _STATE_LINE and lines[_STATE_LINE].strip() == "ready"
