"""Ports that no outgoing connection of this machine will take by chance."""

import random
import socket
from pathlib import Path

_RANGE_OF_THE_KERNEL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 20000
_HIGHEST = 32767


class NoFreePortError(RuntimeError):
    """Every port that was tried is taken."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, below the range of outgoing connections.

    A port out of that range could be taken as the near end of somebody's connection between this
    answer and the moment when the server binds it.
    """
    highest = max(_LOWEST + 1000, min(_HIGHEST, _first_outgoing_port() - 1))
    chosen = random.SystemRandom()
    for _ in range(200):
        port = chosen.randint(_LOWEST, highest)
        if is_free("127.0.0.1", port):
            return port
    raise NoFreePortError(f"No free port was found between {_LOWEST} and {highest}.")


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            # Another socket may be bound with SO_REUSEADDR too; only one of them can listen.
            probe.listen(1)
        except OSError:
            return False
    return True


def answers(host: str, port: int, *, timeout_seconds: float = 1.0) -> bool:
    """Whether somebody accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds):
            return True
    except OSError:
        return False


def _first_outgoing_port() -> int:
    try:
        return int(_RANGE_OF_THE_KERNEL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGHEST + 1
