"""An account at the simulator: who may call its API, and where its callbacks go."""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account; `name` is the last part of the callback's address."""

    account_no: str
    name: str
    callback_url: str
    signing_secret: bytes = field(repr=False)
    api_keys: tuple[bytes, ...] = field(repr=False)

    def opens_with(self, key: bytes) -> bool:
        """Whether this is one of its API keys."""
        found = [hmac.compare_digest(key, known) for known in self.api_keys]
        return any(found)


#: All accounts as they are now.
Accounts = Callable[[], Sequence[Account]]
