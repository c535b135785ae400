"""One message that a thread shall bring to an endpoint, with all that it needs for that."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from outbox.claims import Claim
from outbox.destinations.port import Message
from outbox.webhooks import target
from outbox.webhooks.exchange import Exchange, NoReply, Post
from outbox.webhooks.message import BODY_BYTES_MAX, body_of, headers_of
from outbox.webhooks.secrets import Key
from outbox.webhooks.signature import NoSecret

TOO_LARGE: Final = f"not sent: larger than {BODY_BYTES_MAX} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """`claim` is the dispatch that it is for, `asked` the attempt that a person asked for.

    An event that is too large has no `message`.
    """

    destination: int
    code: str
    url: str
    keys: Sequence[Key]
    message: Message | None
    claim: Claim | None = None
    asked: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of an errand."""

    at: datetime
    exchange: Exchange

    @property
    def too_large(self) -> bool:
        """Whether it will never be sent, because no event becomes smaller."""
        return self.exchange.outcome == NoReply(reason=TOO_LARGE)


def run(errand: Errand, post: Post) -> Run:
    """Send it, with this second's timestamp and signature."""
    second = time.time()
    return Run(
        at=datetime.fromtimestamp(second, UTC), exchange=_exchange(errand, post, int(second))
    )


def _exchange(errand: Errand, post: Post, second: int) -> Exchange:
    body = b"" if errand.message is None else body_of(errand.message)
    if errand.message is None or len(body) > BODY_BYTES_MAX:
        return _unsent(TOO_LARGE)
    try:
        # Read again at each attempt: what was allowed when it was saved may not be any more.
        where = target.read(errand.url, private=post.private)
        keys = [key.secret for key in errand.keys]
        headers = headers_of(errand.message, body, keys, timestamp=second)
    except (target.BadTarget, NoSecret) as error:
        return _unsent(f"not sent: {error}")
    return post.send(where, headers, body)


def _unsent(reason: str) -> Exchange:
    return Exchange(outcome=NoReply(reason=reason), milliseconds=0)
