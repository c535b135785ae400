"""Send prepared requests over kept-alive connections, and time each answer.

One thread, plain sockets and epoll: a request costs some 20 microseconds of one core, which
`Sent.cpu_seconds` shows for every round, so nobody has to take it on trust.
"""

import gc
import re
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_TIMEOUT_SECONDS: Final = 30
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)


class ServerSilent(RuntimeError):
    """No answer came for too long, or a connection ended early."""


@dataclass(kw_only=True)
class Sent:
    """What a round of requests gave. Times in seconds."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, percent: float) -> float:
        """The latency that so many percent of the requests stayed within, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class _Line:
    """One connection: at most one request is under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self._started = 0.0

    def send(self, request: bytes) -> None:
        self._received = b""
        self._started = time.perf_counter()
        self.socket.sendall(request)

    def receive(self, sent: Sent) -> bool:
        """Read what is there; True if it completes an answer, which is then counted."""
        data = self.socket.recv(65536)
        if not data:
            raise ServerSilent("a connection was closed before its answer")
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return False
        length = _LENGTH.search(head + b"\r\n")
        if len(body) < (int(length[1]) if length else 0):
            return False
        sent.latencies.append(time.perf_counter() - self._started)
        sent.statuses[int(head[9:12])] += 1
        return True


def send_all(port: int, requests: Sequence[bytes], *, connections: int) -> Sent:
    """Send every request once, over this many connections at once. Raises ServerSilent."""
    sent = Sent()
    waiting = iter(requests)
    lines = [_Line(port) for _ in range(min(connections, len(requests)))]
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line.socket, selectors.EVENT_READ, line)
        gc.collect()
        gc.disable()
        try:
            _run(lines, waiting, len(requests), selector, sent)
        finally:
            gc.enable()
            for line in lines:
                line.socket.close()
    return sent


def _run(
    lines: Sequence[_Line],
    waiting: Iterator[bytes],
    count: int,
    selector: selectors.BaseSelector,
    sent: Sent,
) -> None:
    started, cpu_started = time.perf_counter(), time.process_time()
    for line in lines:
        line.send(next(waiting))
    while len(sent.latencies) < count:
        ready = selector.select(_TIMEOUT_SECONDS)
        if not ready:
            raise ServerSilent(f"no answer for {_TIMEOUT_SECONDS} seconds")
        for key, _ in ready:
            line = key.data
            if line.receive(sent) and (request := next(waiting, None)) is not None:
                line.send(request)
    sent.seconds = time.perf_counter() - started
    sent.cpu_seconds = time.process_time() - cpu_started
