"""What names an intent: a scope, which is ours, and a key, which is the client's."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

IDEM_KEY_LENGTH_MAX: Final = 128
IDEM_KEY_PATTERN: Final = rf"[A-Za-z0-9_.:-]{{1,{IDEM_KEY_LENGTH_MAX}}}"
SCOPE_LENGTH_MAX: Final = 112
SCOPE_PATTERN: Final = r"[A-Za-z0-9_.:-]{1,64}/[a-z_]{1,40}/v[0-9]{1,4}"

_KEY: Final = re.compile(IDEM_KEY_PATTERN, re.ASCII)
_SCOPE: Final = re.compile(SCOPE_PATTERN, re.ASCII)


class MalformedKey(ValueError):
    """A client's key is not 1 to 128 characters of ``A-Z a-z 0-9 _ . : -``."""


class MalformedScope(ValueError):
    """A part of a scope does not fit: a programming error."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose keys, for what, in which version of the protocol.

    The tenant is the merchant, never one of his API keys: a rotated key replays what the old
    one did. Another version of an operation starts with no keys.
    """

    tenant: str
    operation: str
    version: int = 1

    def __post_init__(self) -> None:
        if not _SCOPE.fullmatch(str(self)):
            raise MalformedScope(str(self)[:200])

    def __str__(self) -> str:
        return f"{self.tenant}/{self.operation}/v{self.version}"

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """The scope that a record names. Raises MalformedScope."""
        if not _SCOPE.fullmatch(text):
            raise MalformedScope(text[:200])
        tenant, operation, version = text.split("/")
        return cls(tenant, operation, int(version[1:]))


@dataclass(frozen=True, slots=True)
class Intent:
    """What somebody wants done at most once, with the meaning that the key stands for.

    `owner` is this attempt's random token. A transaction that is run again in place keeps it,
    so that it knows its own record if the first COMMIT did arrive.
    """

    scope: Scope
    key: str
    digest: bytes
    owner: UUID

    @property
    def lock_key(self) -> int:
        """The name of the intent's lock: 64 bits with a sign, the same in every process.

        Two intents that share it by chance can only be told that the other is still running.
        """
        # No scope contains a space, so that the parts of another pair cannot add up to the same.
        return _signed(hashlib.sha256(f"idempotency:{self.scope} {self.key}".encode()).digest(), 8)

    @property
    def meaning_lock(self) -> tuple[int, int]:
        """What the holder of the lock also holds, so that others see which meaning he runs."""
        of_key = hashlib.sha256(f"meaning:{self.scope} {self.key}".encode()).digest()
        return _signed(of_key, 4), _signed(self.digest, 4)


def intent(*, scope: Scope, key: str, digest: bytes) -> Intent:
    """An attempt of its own at this intent. Raises MalformedKey."""
    return Intent(scope, well_formed(key), digest, uuid4())


def well_formed(key: str) -> str:
    """The key as it is. Raises MalformedKey, which never quotes it."""
    if not _KEY.fullmatch(key):
        raise MalformedKey(f"a key is 1 to {IDEM_KEY_LENGTH_MAX} characters of A-Z a-z 0-9 _ . : -")
    return key


def _signed(digest: bytes, size: int) -> int:
    return int.from_bytes(digest[:size], "big", signed=True)
