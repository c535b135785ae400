"""Programs that start in order, are kept running, and stop in the reverse order."""

import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from config.embedded.server import Server, ServerDiedError, ServerSilentError, end_session
from config.up.output import Output

_PUMP_SECONDS = 0.1
_READY_SECONDS = 60
_GRACE_SECONDS = 30
_HURRIED_GRACE_SECONDS = 3
_BACKOFF_SECONDS_MAX = 30
_STABLE_SECONDS = 60


def pause_after(failures: int) -> int:
    """Seconds to wait before a program that failed so often in a row is started again."""
    return min(1 << min(failures, 10), _BACKOFF_SECONDS_MAX)


class StopRequestedError(Exception):
    """Somebody asked for the end while things were still starting."""


@dataclass
class _Child:
    server: Server
    process: subprocess.Popen[bytes]
    started: float
    failures: int = 0
    restart_at: float | None = None


class Supervisor:
    """Call it from the main thread: the programs are bound to the life of their starter."""

    def __init__(self, output: Output, *, held: Sequence[int] = ()) -> None:
        self._output = output
        self._held = held
        self._children: list[_Child] = []
        self._stops = 0

    def listen_for_signals(self) -> None:
        """Ctrl-C, a closed terminal and `kill` all mean: stop in order."""
        signal.set_wakeup_fd(self._output.wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def start(self, server: Server) -> None:
        """Start a program and return when it is ready.

        Raises ServerDiedError, ServerSilentError, StopRequestedError.
        """
        child = _Child(server, self._launch(server), time.monotonic())
        self._children.append(child)
        self._wait_for(server, child.process)
        self._output.say(f"{server.name} is ready.")

    def run(self, server: Server, *, as_is: bool = False) -> None:
        """Run a program to its end. Raises ServerDiedError if it fails, or StopRequestedError."""
        process = self._launch(server, as_is=as_is)
        try:
            while process.poll() is None:
                self._pump()
        finally:
            end_session(process)
        self._output.pump(0)
        if process.returncode != 0:
            raise ServerDiedError(f"{server.name} failed with code {process.returncode}.")

    def watch(self) -> None:
        """Keep everything running until somebody asks for the end."""
        with suppress(StopRequestedError):
            while True:
                self._pump()
                for child in self._children:
                    self._look_after(child)

    def stop(self) -> None:
        """Stop the programs, the last one started first; a second Ctrl-C makes it quick."""
        for child in reversed(self._children):
            if child.process.poll() is None:
                self._output.say(f"Stopping {child.server.name} ...")
                child.process.send_signal(child.server.stop_signal)
                began = time.monotonic()
                while child.process.poll() is None and time.monotonic() - began < self._grace():
                    self._output.pump(_PUMP_SECONDS)
            end_session(child.process)
            self._output.pump(0)
        self._children.clear()

    def _grace(self) -> float:
        return _GRACE_SECONDS if self._stops < 2 else _HURRIED_GRACE_SECONDS  # noqa: PLR2004

    def _launch(self, server: Server, *, as_is: bool = False) -> subprocess.Popen[bytes]:
        process = server.start(subprocess.PIPE, held=self._held)
        self._output.follow(server.name, process, as_is=as_is)
        return process

    def _wait_for(self, server: Server, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not server.ready():
            self._pump()
            if (code := process.poll()) is not None:
                self._output.pump(0)
                raise ServerDiedError(f"{server.name} ended with code {code} while starting.")
            if time.monotonic() > deadline:
                raise ServerSilentError(
                    f"{server.name} did not answer in {_READY_SECONDS} seconds."
                )

    def _look_after(self, child: _Child) -> None:
        now = time.monotonic()
        if child.restart_at is not None:
            if now >= child.restart_at:
                child.restart_at = None
                child.started = now
                child.process = self._launch(child.server)
            return
        if child.process.poll() is None:
            return
        end_session(child.process)  # what it left behind may still hold its port
        if now - child.started > _STABLE_SECONDS:
            child.failures = 0
        pause = pause_after(child.failures)
        child.failures += 1
        child.restart_at = now + pause
        self._output.say(
            f"{child.server.name} ended with code {child.process.returncode}; "
            f"starting it again in {pause} s."
        )

    def _pump(self) -> None:
        self._output.pump(_PUMP_SECONDS)
        if self._stops:
            raise StopRequestedError

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stops += 1
