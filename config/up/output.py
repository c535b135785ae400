"""The lines of several programs in one terminal, each with the name of who wrote it."""

import os
import selectors
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import IO, cast

_NAME_WIDTH = 8
_COLOURS = {
    "postgres": 34,
    "valkey": 35,
    "web": 32,
    "worker": 36,
    "beat": 33,
    "totals": 96,
    "migrate": 34,
    "provider": 35,
}
_LINE_BYTES_MAX = 64 * 1024


@dataclass
class _Source:
    name: str
    file: IO[bytes]
    as_is: bool
    rest: bytes = field(default=b"")


class Output:
    """Reads what the programs write, as it comes, and writes it to the terminal."""

    def __init__(self) -> None:
        self._sources = selectors.DefaultSelector()
        self._coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        # A signal must end the wait for output at once.
        self.wake_reader, self.wake_writer = os.pipe()
        os.set_blocking(self.wake_writer, False)
        self._sources.register(self.wake_reader, selectors.EVENT_READ, None)

    def follow(self, name: str, process: subprocess.Popen[bytes], *, as_is: bool = False) -> None:
        """Write this program's lines under its name, or as they are."""
        file = cast("IO[bytes]", process.stdout)
        self._sources.register(file, selectors.EVENT_READ, _Source(name, file, as_is))

    def say(self, text: str, name: str = "up") -> None:
        """Write lines of our own."""
        for line in text.splitlines():
            self._write(name, line)

    def pump(self, seconds: float) -> None:
        """Write what comes in; return at the latest after this time."""
        for key, _ in self._sources.select(seconds):
            if key.data is None:
                os.read(self.wake_reader, 1024)
            else:
                self._read(key.data)

    def _read(self, source: _Source) -> None:
        data = os.read(source.file.fileno(), _LINE_BYTES_MAX)
        *lines, source.rest = (source.rest + data).split(b"\n")
        if source.rest and (not data or len(source.rest) > _LINE_BYTES_MAX):
            lines, source.rest = [*lines, source.rest], b""
        for line in lines:
            self._write("" if source.as_is else source.name, line.decode(errors="replace"))
        if not data:
            self._sources.unregister(source.file)
            source.file.close()

    def _write(self, name: str, line: str) -> None:
        prefix = f"{name:<{_NAME_WIDTH}} | " if name else ""
        if prefix and self._coloured:
            prefix = f"\033[{_COLOURS.get(name, 1)}m{prefix}\033[0m"
        try:
            sys.stdout.write(f"{prefix}{line}\n")
            sys.stdout.flush()
        except OSError:
            self._stop_unheard()

    def _stop_unheard(self) -> None:
        """Nobody reads this any more (`| head`, a lost terminal): stop as if asked to."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)
