"""HTTP by hand: requests that no client library would send."""

import socket
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from urllib.parse import urlsplit

Header = tuple[str, str] | bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, header names in lower case; status 0 if the connection just ended."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def request(
    method: str, path: str, headers: Mapping[str, str] | Iterable[Header], body: bytes = b""
) -> bytes:
    """The bytes of a request with exactly these headers; a header may be raw bytes."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    lines = [
        header if isinstance(header, bytes) else f"{header[0]}: {header[1]}".encode("latin-1")
        for header in pairs
    ]
    return b"\r\n".join([f"{method} {path} HTTP/1.1".encode("latin-1"), *lines, b"", body])


def connect(url: str, *, timeout_seconds: float = 10) -> socket.socket:
    """A connection to the server at this address."""
    parts = urlsplit(url)
    assert parts.hostname
    return socket.create_connection((parts.hostname, parts.port or 80), timeout_seconds)


def send(url: str, raw: bytes, *, and_say_no_more: bool = False) -> Answer:
    """Send these bytes on a connection of their own, and read one answer."""
    with closing(connect(url)) as wire:
        wire.sendall(raw)
        if and_say_no_more:
            wire.shutdown(socket.SHUT_WR)
        return read(wire, method=raw.split(b" ", 1)[0].decode("latin-1"))


def read(wire: socket.socket, *, method: str = "POST") -> Answer:
    """The next answer on this connection."""
    with closing(HTTPResponse(wire, method=method)) as response:
        try:
            response.begin()
            body = response.read()
        except (HTTPException, ConnectionError):
            return Answer(0, {}, b"")
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, body)
