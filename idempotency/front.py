"""Redis before the database, to spare it when one key comes in a storm. It never decides.

It says two things: "this was the final answer", which never changes, and "somebody is running
this very request", which is at worst out of date for some seconds. Whatever it does not know, or
knows too late, the database is asked. Where there is none, or it fails, all goes to the database.
"""

import base64
import binascii
import hashlib
import json
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, Final, TypeVar

import redis
import structlog
from django.conf import settings
from django.db import connection

from idempotency import patience
from idempotency.claims import Mismatch, Replay, Running
from idempotency.keys import Intent
from idempotency.leased import Outcome
from idempotency.lifecycle import Result
from idempotency.models import RecordStatus
from idempotency.one_transaction import Executed

log = structlog.get_logger(__name__)

#: Longer than most requests take; whoever dies holds a key up for so long at most.
RUN_TTL: Final = timedelta(seconds=2)
#: Far shorter than any record is kept, so that no answer outlives its record.
FINAL_TTL: Final = timedelta(minutes=10)
#: A front that fails is not asked again for so long: requests do not queue for its timeouts.
_REST: Final = timedelta(seconds=2)
_TIMEOUT_SECONDS: Final = 0.2
#: Only who set it may delete it: after its time somebody else may hold the key.
_LEAVE_LUA: Final = """
    if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
    return 0
"""

T = TypeVar("T")


def configured() -> "Front":
    """The front of this process: see IDEMPOTENCY_FRONT_URL."""
    return _at(settings.IDEMPOTENCY_FRONT_URL)


class Front:
    """The front at one address; an empty address is none."""

    def __init__(
        self,
        url: str,
        *,
        run_ttl: timedelta = RUN_TTL,
        final_ttl: timedelta = FINAL_TTL,
        rests: timedelta = _REST,
    ) -> None:
        self._run_ttl = run_ttl
        self._final_ttl = final_ttl
        self._rests = rests.total_seconds()
        self._rests_until = 0.0
        self._redis: Any = None
        if url:
            self._redis = redis.Redis.from_url(
                url,
                socket_timeout=_TIMEOUT_SECONDS,
                socket_connect_timeout=_TIMEOUT_SECONDS,
                retry=None,
            )

    def answer(self, intent: Intent, decide: Callable[[], Outcome]) -> Outcome:
        """What the front knows of the intent, or else what `decide` finds out by the database."""
        known = self.final(intent)
        if known is not None:
            return known
        if not self.enter(intent):
            # Whoever is running the same request may have its answer soon.
            return patience.ask_repeatedly(lambda: self.final(intent)) or Running()
        try:
            outcome = decide()
            if isinstance(outcome, Executed | Replay):
                self.remember(intent, outcome.status, outcome.result)
        finally:
            self.leave(intent)
        return outcome

    def final(self, intent: Intent) -> Replay | Mismatch | None:
        """The answer if it is final and remembered here."""
        written = self._ask(lambda: self._redis.get(_name(intent, "final")), None)
        return None if written is None else _read(intent, written)

    def enter(self, intent: Intent) -> bool:
        """Whether to go on to the database; not if the same request is being run already."""
        return self._ask(lambda: self._enter(intent), otherwise=True)

    def leave(self, intent: Intent) -> None:
        """Let others in, unless the key has passed to somebody else."""
        self._ask(
            lambda: self._redis.eval(_LEAVE_LUA, 1, _name(intent, "run"), _mark(intent)), None
        )

    def remember(self, intent: Intent, status: RecordStatus, result: Result) -> None:
        """Keep a final answer that is committed."""
        written = _written(intent, status, result)
        self._ask(
            lambda: self._redis.set(_name(intent, "final"), written, px=self._final_ttl), None
        )

    def _enter(self, intent: Intent) -> bool:
        name, mark = _name(intent, "run"), _mark(intent)
        if self._redis.set(name, mark, nx=True, px=self._run_ttl):
            return True
        # Another meaning is for the database to refuse.
        holder = self._redis.get(name)
        return holder is None or holder == mark or not holder.endswith(intent.digest)

    def _ask(self, question: Callable[[], T], otherwise: T) -> T:
        if self._redis is None or time.monotonic() < self._rests_until:
            return otherwise
        try:
            return question()
        except (redis.RedisError, OSError) as error:
            self._rests_until = time.monotonic() + self._rests
            log.warning("idempotency_front_failed", error=type(error).__name__)
            return otherwise


@cache
def _at(url: str) -> Front:
    return Front(url)


@cache
def _database() -> str:
    """Which database this is about: a new one knows nothing of what an old one answered."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid"
            "  FROM pg_database WHERE datname = current_database()"
        )
        return str(cursor.fetchone()[0])


def _name(intent: Intent, what: str) -> str:
    named = f"{_database()} {intent.scope} {intent.key}"
    digest = hashlib.sha256(named.encode()).hexdigest()
    return f"paidonce:idempotency:{digest}:{what}"


def _mark(intent: Intent) -> bytes:
    return intent.owner.bytes + intent.digest


def _written(intent: Intent, status: RecordStatus, result: Result) -> str:
    return json.dumps(
        {
            "digest": intent.digest.hex(),
            "status": status,
            "code": result.code,
            "resource_id": result.resource_id,
            "body": base64.b64encode(result.body).decode(),
        }
    )


def _read(intent: Intent, written: bytes) -> Replay | Mismatch | None:
    try:
        kept = json.loads(written)
        if bytes.fromhex(kept["digest"]) != intent.digest:
            return Mismatch()
        body = base64.b64decode(kept["body"], validate=True)
        result = Result(int(kept["code"]), body, str(kept["resource_id"]))
        return Replay(RecordStatus(kept["status"]), result)
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None  # Not what we wrote: the database knows better.
