"""What is the same for every server that runs as a child: start it, wait for it, stop it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.embedded import launch

_POLL_SECONDS = 0.05


class ServerDiedError(RuntimeError):
    """The server ended before it was ready; its output says why."""


class ServerSilentError(RuntimeError):
    """The server runs and does not answer in time."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A program, how to tell that it is ready, and how it wants to be stopped."""

    name: str
    command: tuple[str, ...]
    ready: Callable[[], bool]
    url: str = ""
    stop_signal: signal.Signals = signal.SIGTERM
    run_as: launch.RunAs | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: Path | None = None

    def start(
        self, output: int | IO[bytes] | None = None, *, held: Sequence[int] = ()
    ) -> subprocess.Popen[bytes]:
        """Start it in its own session; it is told to stop when the calling thread ends."""
        return launch.start(
            self.command,
            on_parent_death=self.stop_signal,
            run_as=self.run_as,
            env=self.env,
            cwd=self.cwd,
            output=output,
            held=held,
        )


def wait_until_ready(
    server: Server, process: subprocess.Popen[bytes], *, timeout_seconds: float = 60
) -> None:
    """Return when the server answers.

    Raises ServerDiedError or ServerSilentError.
    """
    deadline = time.monotonic() + timeout_seconds
    while not server.ready():
        if (code := process.poll()) is not None:
            raise ServerDiedError(f"{server.name} ended with code {code} before it was ready.")
        if time.monotonic() > deadline:
            raise ServerSilentError(f"{server.name} did not answer in {timeout_seconds:g} seconds.")
        time.sleep(_POLL_SECONDS)


def stop(
    process: subprocess.Popen[bytes], stop_signal: signal.Signals, *, grace_seconds: float = 20
) -> None:
    """Ask the process to stop, then end whatever is left of its session."""
    if process.poll() is None:
        process.send_signal(stop_signal)
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace_seconds)
    end_session(process)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """End the process and every child it left in its session, at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
