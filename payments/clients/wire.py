"""Speak HTTP with a provider's API: bounded in time and size, and sent once unless it only asks.

No redirects (a signed or authorised request is for one host), no proxies from the environment, no
compression. What is raised names the kind of failure and nothing that was sent.
"""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import quote

import httpx2

from orders.strict_json import StrictJsonError, parse

BYTES_MAX: Final = 1024 * 1024
STATEMENT_BYTES_MAX: Final = 64 * 1024 * 1024
#: What a provider's own gateway says when it is the one that got no answer.
_WORTH_ASKING_AGAIN: Final = frozenset({502, 503, 504})


class NoReply(RuntimeError):
    """No usable answer came; the request may have been carried out all the same."""


class Impossible(ValueError):
    """This cannot be asked of this provider, and was not: nothing has been sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait, in seconds; `total` is for the whole of one request."""

    connect: float = 3
    read: float = 10
    total: float = 15
    statement_total: float = 120


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer; names of headers in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        """The body's document. Raises StrictJsonError."""
        try:
            return parse(self.body)
        except StrictJsonError as error:
            raise StrictJsonError(f"HTTP {self.status}, {error}") from None

    def header(self, name: str) -> str | None:
        """The value of a header that occurs exactly once, else None."""
        values = [value for given, value in self.headers if given == name]
        return values[0] if len(values) == 1 else None


class Wire:
    """Requests to one provider; paths begin with a slash and are sent as they stand."""

    def __init__(self, base_url: str, patience: Patience) -> None:
        self.base_url = base_url.rstrip("/")
        self._patience = patience

    def send(
        self, method: str, path: str, *, headers: Mapping[str, str], content: bytes = b""
    ) -> Reply:
        """One request, sent once. Raises NoReply."""
        request = (method, self.base_url + path, headers, content)
        return self._exchange(*request, bytes_max=BYTES_MAX, total=self._patience.total)

    def ask(self, path: str, *, headers: Mapping[str, str]) -> Reply:
        """A GET, sent once more if nobody answered the first. Raises NoReply."""
        started = time.monotonic()
        try:
            reply = self.send("GET", path, headers=headers)
        except NoReply:
            # Whoever has used up our patience is not given it twice.
            if time.monotonic() - started > self._patience.connect:
                raise
        else:
            if reply.status not in _WORTH_ASKING_AGAIN:
                return reply
        return self.send("GET", path, headers=headers)

    def download(self, url: str, *, headers: Mapping[str, str]) -> Reply:
        """A statement, from an address that the caller has checked. Raises NoReply."""
        total = self._patience.statement_total
        return self._exchange("GET", url, headers, b"", bytes_max=STATEMENT_BYTES_MAX, total=total)

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes,
        *,
        bytes_max: int,
        total: float,
    ) -> Reply:
        sent = {"accept-encoding": "identity", "user-agent": "paidonce", **headers}
        timeout = httpx2.Timeout(self._patience.read, connect=self._patience.connect)
        deadline = time.monotonic() + total
        body = bytearray()
        try:
            with (
                httpx2.Client(trust_env=False, verify=_tls(), timeout=timeout) as http,
                http.stream(
                    method, url, headers=sent, content=content or None, follow_redirects=False
                ) as answer,
            ):
                for chunk in answer.iter_raw():
                    body += chunk
                    if len(body) > bytes_max:
                        raise NoReply(f"the answer has more than {bytes_max} bytes")
                    # The timeout is for each read: an answer in drops would never end.
                    if time.monotonic() > deadline:
                        raise NoReply(f"the answer took more than {total} seconds")
                names = tuple((name.lower(), value) for name, value in answer.headers.multi_items())
                return Reply(answer.status_code, names, bytes(body))
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as e:
            failure = type(e).__name__
        # Outside, because the library's errors carry the request and its secrets along.
        raise NoReply(f"no answer: {failure}")


def segment(number: str) -> str:
    """The number as one segment of a path. Raises Impossible for what would be none."""
    if not number or not number.strip("."):
        raise Impossible("there is no number to ask for")
    return quote(number, safe="")


@cache
def _tls() -> ssl.SSLContext:
    """One for all requests: it takes longer to make than a request to send."""
    return httpx2.create_ssl_context(trust_env=False)
