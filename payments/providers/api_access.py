"""How an account reaches its provider's API: the keys for it, and the setting ``api_url``.

A live account talks to its provider's own hosts and to no other. ``api_url`` is for accounts in
test mode: a sandbox, a simulator, a server of one's own. So whoever may write settings cannot
make the service send a live secret, or a request into the network it runs in, by them.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from payments.providers.options import Options
from payments.providers.port import Account, Misconfigured
from payments.providers.rsa_sign import private_key

API_PURPOSE: Final = "api"
PRIVATE_PURPOSE: Final = "api-private"
API_PURPOSES: Final = frozenset({API_PURPOSE, PRIVATE_PURPOSE})
API_URL: Final = "api_url"
_SECRET: Final = re.compile(rb"[!-~]{1,1024}")
_AUTHORITY: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?", re.ASCII)
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*/?", re.ASCII)


def check_api_access(options: Options, account: Account) -> None:
    """Refuse an address that is not allowed or none, and keys that could open nothing.

    Raises Misconfigured.
    """
    url = options.text(API_URL, "", empty=True)
    if url and account.live:
        raise options.error(API_URL, "is for accounts in test mode: a live one uses the provider's")
    if url and not _is_base(url):
        raise options.error(API_URL, "must be http or https, a host, and perhaps a port and a path")
    for key in account.keys:
        if key.purpose == API_PURPOSE and not _SECRET.fullmatch(key.material):
            raise Misconfigured(f"key {key.key_id!r} is not one line of printable ASCII")
        if key.purpose == PRIVATE_PURPOSE:
            try:
                private_key(key.material)
            except Misconfigured as error:
                raise Misconfigured(f"key {key.key_id!r} is {error}") from None


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (
        parts.scheme in {"http", "https"}
        and _AUTHORITY.fullmatch(parts.netloc) is not None
        and _PATH.fullmatch(parts.path) is not None
        and not parts.query
        and not parts.fragment
    )
