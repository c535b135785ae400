"""Servers that a test may take away and bring back."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Protocol

from config.embedded import valkey
from config.embedded.server import Server, stop, wait_until_ready
from tests import rabbitmq


class ServerControl(Protocol):
    """A server at an address that stays the same from start to start."""

    url: str

    def start(self) -> None:
        """Return when it answers."""

    def stop(self) -> None:
        """Stop it in the orderly way."""

    def kill(self) -> None:
        """End it as a power cut would."""


class ServerProcess:
    """A server that is a program of ours."""

    def __init__(self, server: Server, log: Path) -> None:
        self.url = server.url
        self._server = server
        self._log = log
        self._process: Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = self._server.start(log)
        wait_until_ready(self._server, self._process)

    def stop(self) -> None:
        if self._process is not None:
            stop(self._process, self._server.stop_signal)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def private_valkey_server(folder: Path) -> Iterator[ServerControl]:
    """Run a Valkey until the test is over."""
    control = ServerProcess(valkey.prepare(folder), folder / "output.log")
    control.start()
    yield control
    control.stop()


def private_rabbitmq_node(folder: Path) -> Iterator[ServerControl]:
    """Run a RabbitMQ until the test is over."""
    node = rabbitmq.Node(folder)
    node.start()
    yield node
    node.stop()
