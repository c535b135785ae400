"""PayPal's access tokens: one for each app, kept until shortly before it ends."""

import threading
from base64 import b64encode
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from orders.strict_json import StrictJsonError, at, required, text
from payments.clients.wire import NoReply, Wire
from payments.providers.port import Key

#: A token that ends while a request is on its way would be refused.
MARGIN: Final = timedelta(minutes=2)
LIFETIME_MAX: Final = timedelta(hours=9)
KEPT_MAX: Final = 256
_OK: Final = 200

_kept: Final[dict[str, tuple[datetime, str]]] = {}
_lock: Final = threading.Lock()


class Tokens:
    """The tokens of one app. The key's id is the client id, its material the client secret."""

    def __init__(self, wire: Wire, key: Key, *, now: datetime) -> None:
        self._wire = wire
        self._basic = b64encode(key.key_id.encode() + b":" + key.material).decode()
        self._now = now
        # Never the secret itself: this is a key of a dictionary that lives long.
        self._name = sha256(f"{wire.base_url} {self._basic}".encode()).hexdigest()

    def current(self) -> str:
        """A token that is valid for a while. Raises NoReply or StrictJsonError."""
        with _lock:
            ends_at, token = _kept.get(self._name, (self._now, ""))
        if self._now < ends_at:
            return token
        ends_at, token = self._fetch()
        with _lock:
            if len(_kept) >= KEPT_MAX:
                _kept.clear()
            _kept[self._name] = (ends_at, token)
        return token

    def forget(self) -> None:
        """Do not use the kept token again: PayPal has refused it."""
        with _lock:
            _kept.pop(self._name, None)

    def _fetch(self) -> tuple[datetime, str]:
        headers = {
            "authorization": f"Basic {self._basic}",
            "content-type": "application/x-www-form-urlencoded",
        }
        content = b"grant_type=client_credentials"
        reply = self._wire.send("POST", "/v1/oauth2/token", headers=headers, content=content)
        if reply.status != _OK:
            raise NoReply(f"HTTP {reply.status} instead of an access token")
        token = required(text(reply.json, "access_token"), "access_token")
        seconds = at(reply.json, "expires_in")
        if type(seconds) is not int or not token.isascii() or not token.isprintable():
            raise StrictJsonError("the access token has another form")
        lifetime = min(timedelta(seconds=max(0, min(seconds, 10**6))), LIFETIME_MAX)
        return self._now + lifetime - MARGIN, token


def forget_all() -> None:
    """Fetch every token anew when it is needed next."""
    with _lock:
        _kept.clear()
