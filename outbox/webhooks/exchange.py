"""Send one message to one endpoint and hear its answer: bounded in time and size, sent once.

No redirect is followed, no proxy is taken from the environment, TLS is verified. What is raised or
kept tells what the endpoint did and repeats nothing that was sent.
"""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import httpcore2
import httpx2

from outbox.webhooks.pinned import Deadline, PinnedBackend
from outbox.webhooks.resolve import Resolver, system_resolver
from outbox.webhooks.target import BadTarget, Target

#: For all of it: looking up, connecting, TLS, sending, the answer's head. The standard asks
#: receivers to answer within 15 to 30 seconds.
SECONDS_MAX: Final = 15.0
#: The status decides, the body is only kept for people: it is not waited for for long.
BODY_SECONDS_MAX: Final = 1.0
REPLY_BYTES_KEPT: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an endpoint answered; `text` is what was kept of the body, fit to be shown."""

    status: int
    text: str
    retry_after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReply:
    """No answer came, or none was asked for; it may have taken the message all the same."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what became of it, and how many milliseconds that took."""

    outcome: Reply | NoReply
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """How requests are made; `tls` is whom to trust, `in_production` the usual authorities."""

    private: bool = False
    resolver: Resolver = system_resolver
    tls: ssl.SSLContext | None = None
    seconds_max: float = SECONDS_MAX

    @classmethod
    def in_production(cls, *, private: bool) -> "Post":
        """Made once: it takes longer to read the authorities than to send a request."""
        return cls(private=private, tls=httpx2.create_ssl_context(trust_env=False))

    def send(self, target: Target, headers: Mapping[str, str], body: bytes) -> Exchange:
        """POST the body; raises nothing that an endpoint could cause."""
        started = time.monotonic()
        outcome = self._send(target, headers, body, Deadline(started + self.seconds_max))
        return Exchange(outcome=outcome, milliseconds=round((time.monotonic() - started) * 1000))

    def _send(
        self, target: Target, headers: Mapping[str, str], body: bytes, deadline: Deadline
    ) -> Reply | NoReply:
        named = [("host", target.authority), *headers.items()]
        backend = PinnedBackend(target, deadline, resolver=self.resolver, private=self.private)
        try:
            with (
                httpcore2.ConnectionPool(
                    ssl_context=self.tls, network_backend=backend, max_connections=1
                ) as pool,
                pool.stream(
                    "POST",
                    target.url,
                    headers=named,
                    content=body,
                ) as answer,
            ):
                deadline.at = min(deadline.at, time.monotonic() + BODY_SECONDS_MAX)
                return Reply(
                    status=answer.status,
                    text=_shown(_beginning(answer.iter_stream())),
                    retry_after=_header(answer.headers, b"retry-after"),
                )
        except BadTarget as error:
            return NoReply(reason=f"not sent: {error}")
        except ssl.SSLCertVerificationError as error:
            return NoReply(reason=f"its certificate is not accepted: {error.verify_message}")
        except TimeoutError as error:
            return NoReply(reason=f"no answer in time: {error}")
        except (OSError, *_PROTOCOL_ERRORS) as error:
            return NoReply(reason=f"no answer: {type(error).__name__}: {error}"[:300])


_PROTOCOL_ERRORS: Final = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
)


def _beginning(chunks: Iterable[bytes]) -> bytes:
    kept = bytearray()
    try:
        for chunk in chunks:
            kept += chunk
            if len(kept) >= REPLY_BYTES_KEPT:
                break
    except (OSError, *_PROTOCOL_ERRORS):
        pass  # The status has come; what is missing of the body was never wanted.
    return bytes(kept[:REPLY_BYTES_KEPT])


def _shown(kept: bytes) -> str:
    """As text without control characters, which a log, a page or PostgreSQL could trip over."""
    text = kept.decode("utf-8", "replace")
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    values = [value for name, value in headers if name.lower() == wanted]
    return values[0].decode("ascii", "replace") if len(values) == 1 else ""
