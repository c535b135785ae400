"""Connect to the very address that was checked, and never wait beyond a deadline.

Whoever checks a name and then connects to it looks it up twice, and an attacker's name server may
answer otherwise the second time. So a name is looked up once, each of its addresses is checked, and
the socket is connected to one of them by number; TLS and the Host header keep the name.
"""

import socket
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import httpcore2

from outbox.webhooks.networks import Address
from outbox.webhooks.resolve import Resolver
from outbox.webhooks.target import Target, check_addresses

CONNECT_SECONDS_MAX: Final = 5.0
#: Of a name with many addresses so many are tried.
_ADDRESSES_TRIED: Final = 3


@dataclass(slots=True)
class Deadline:
    """The moment, by the monotonic clock, after which nothing is waited for."""

    at: float

    def left(self) -> float:
        """Seconds until then. Raises TimeoutError when there are none."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the whole exchange is up")
        return left


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to one target, whatever host it is asked for. Raises BadTarget, OSError."""

    def __init__(
        self, target: Target, deadline: Deadline, *, resolver: Resolver, private: bool
    ) -> None:
        self._target = target
        self._deadline = deadline
        self._resolver = resolver
        self._private = private

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the target's
        port: int,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002 - the deadline is stricter
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """A connection to the first of the target's addresses that answers."""
        addresses = self._addresses()
        # Looked at again just before use: the rules may have changed since the URL was stored.
        check_addresses(addresses, private=self._private)
        failure: OSError = OSError("no address")
        for address in addresses[:_ADDRESSES_TRIED]:
            try:
                return _BoundedStream(self._connect(address), self._deadline)
            except OSError as error:
                failure = error
        raise failure

    def _addresses(self) -> list[Address]:
        if self._target.address is not None:
            return [self._target.address]
        seconds_max = min(CONNECT_SECONDS_MAX, self._deadline.left())
        return self._resolver(self._target.host, seconds_max)

    def _connect(self, address: Address) -> socket.socket:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004
        connecting = socket.socket(family, socket.SOCK_STREAM)
        try:
            connecting.settimeout(min(CONNECT_SECONDS_MAX, self._deadline.left()))
            connecting.connect((str(address), self._target.port))
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            connecting.close()
            raise
        return connecting


class _BoundedStream(httpcore2.NetworkStream):
    """A socket each of whose waits ends at the deadline: an answer in drops is cut off there."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """What has come, or b"" at the end."""
        self._socket.settimeout(self._deadline.left())
        return self._socket.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send all of it, to a receiver that may take a byte at a time."""
        unsent = memoryview(buffer)
        while unsent:
            self._socket.settimeout(self._deadline.left())
            try:
                unsent = unsent[self._socket.send(unsent) :]
            except TimeoutError:
                raise
            except OSError as error:
                # Then an answer may have come before all was sent: httpcore looks for it.
                raise httpcore2.WriteError(str(error)) from error

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """The same over TLS, verified against the name. Raises ssl.SSLError."""
        try:
            self._socket.settimeout(self._deadline.left())
            wrapped = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except BaseException:
            self.close()
            raise
        return _BoundedStream(wrapped, self._deadline)

    def close(self) -> None:
        """Let go of it."""
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """What httpcore wants to know: which protocol TLS has agreed on."""
        if info == "ssl_object" and isinstance(self._socket, ssl.SSLSocket):
            return self._socket
        return None
