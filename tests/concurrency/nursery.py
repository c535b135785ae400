"""Processes by the hundred: one process loads Django once, and forks a new one when asked.

Run as `python -m tests.concurrency.nursery FD`, where FD is a Unix socket. Each byte received on
it brings another socket, which becomes the line to a new process. On its line a process takes a
call, connects to the database, takes the signal to begin (in how many seconds), and answers with
what the call returned or with what it raised.
"""

import gc
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import django
from django.db import connection
from django.test import Client

from tests import processes, static_files

#: The line to a process of the nursery, as its parent sees it.
Line = Connection


class Nursery:
    """The parent's side."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.concurrency.nursery", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=processes.ROOT,
                env=processes.environment(DJANGO_SETTINGS_MODULE="config.settings"),
            )
        assert self._socket.recv(1) == b"!", "the nursery did not start"

    def hire(self) -> Line:
        """A new process; it ends when its line is closed."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._socket, [b"+"], [theirs.fileno()])
        return Connection(ours.detach())

    def close(self) -> None:
        """End the nursery; processes that it made end with their lines."""
        self._socket.close()
        self._process.wait(timeout=30)


class Raised(Exception):
    """The call raised an exception of this class; its traceback is the message."""

    def __init__(self, name: str, traceback_: str) -> None:
        super().__init__(traceback_)
        self.name = name


def answer(line: Line) -> Any:
    """What the call returned. Raises EOFError if the process died of it, else Raised."""
    kind, value = line.recv()
    if kind != "returned":
        raise Raised(kind, value)
    return value


def _serve(line: Line) -> None:
    while True:
        try:
            call: Callable[[], Any] = line.recv()
            connection.ensure_connection()
            time.sleep(line.recv())
        except EOFError:
            os._exit(0)
        try:
            answer = ("returned", call())
        except BaseException as error:  # noqa: BLE001 - the parent judges it
            answer = (type(error).__name__, traceback.format_exc())
        line.send(answer)


def _load() -> None:
    """What calls need, once for all who are forked: it takes each of them longer than its call."""
    for path in Path(__file__).parent.glob("*.py"):
        importlib.import_module(f"tests.concurrency.{path.stem}")
    # Also what is only loaded when somebody asks.
    assert Client().get("/healthz").status_code == 200


def _main() -> None:
    django.setup()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody asks how they ended.
    _load()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as wishes, static_files.found_once():
        wishes.sendall(b"!")
        while True:
            _, descriptors, _, _ = socket.recv_fds(wishes, 1, 1)
            if not descriptors:
                return
            if os.fork() == 0:
                wishes.close()
                _serve(Connection(descriptors[0]))
            os.close(descriptors[0])


if __name__ == "__main__":
    _main()
