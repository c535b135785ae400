"""Who acts: a person, a policy that people have switched on, or a hand on the command line."""

import getpass
import os
import socket
from dataclasses import dataclass

from audit.models import ACTOR_LENGTH_MAX, ORIGIN_LENGTH_MAX, ActorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who, and from where. `id` is a person's user id or a policy's id; commands have none."""

    kind: ActorKind
    name: str
    origin: str
    id: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name[:ACTOR_LENGTH_MAX])
        object.__setattr__(self, "origin", self.origin[:ORIGIN_LENGTH_MAX])


def command_line() -> Actor:
    """Whoever runs this program, as the operating system knows him."""
    return Actor(kind=ActorKind.COMMAND, name=_system_user(), origin=shell())


def shell() -> str:
    """Where a command is given: the machine, and its user there."""
    return f"command line: {_system_user()}@{socket.gethostname()}"


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container the number may have no name
        return f"uid {os.getuid()}"
