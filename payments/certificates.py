"""Fetch a provider's certificate from an address that its adapter has checked.

Bounded in time and size, without redirects, and cached by address until the certificate ends:
a provider that is slow or down must not hold our workers.
"""

import threading
import time
from collections import OrderedDict
from contextlib import nullcontext
from datetime import datetime
from typing import Final

import httpx2
from cryptography import x509

SECONDS_MAX: Final = 3.0
BYTES_MAX: Final = 32 * 1024
CACHED_MAX: Final = 32
#: Anybody can name an address at a provider's host; more threads than this never wait for it.
FETCHING_MAX: Final = 2

_cache: OrderedDict[str, tuple[datetime, bytes]] = OrderedDict()
_cache_lock: Final = threading.Lock()
_fetching: Final = threading.BoundedSemaphore(FETCHING_MAX)


class CertificateUnavailable(RuntimeError):
    """The certificate could not be fetched now; the callback is to be sent again."""


def fetch(
    url: str,
    *,
    now: datetime,
    client: httpx2.Client | None = None,
    seconds: float = SECONDS_MAX,
) -> bytes:
    """The PEM text at this address. Whether to trust it is the adapter's to say.

    `client` is for tests that serve certificates themselves; it stays open. Raises
    CertificateUnavailable, at the latest after twice that many seconds.
    """
    with _cache_lock:
        ends_at, pem = _cache.get(url, (now, b""))
    if pem and now < ends_at:
        return pem
    if not _fetching.acquire(blocking=False):
        raise CertificateUnavailable(f"{FETCHING_MAX} other certificates are being fetched")
    try:
        pem = _download(url, client, seconds)
    finally:
        _fetching.release()
    try:
        leaf = x509.load_pem_x509_certificates(pem)[0]
    except (ValueError, x509.InvalidVersion) as error:
        raise CertificateUnavailable(f"{url} does not answer with a certificate") from error
    with _cache_lock:
        _cache[url] = (leaf.not_valid_after_utc, pem)
        while len(_cache) > CACHED_MAX:
            _cache.popitem(last=False)
    return pem


def _download(url: str, client: httpx2.Client | None, seconds: float) -> bytes:
    body, deadline = b"", time.monotonic() + seconds
    own = nullcontext(client) if client else httpx2.Client(trust_env=False)
    try:
        with (
            own as http,
            http.stream("GET", url, timeout=seconds, follow_redirects=False) as answer,
        ):
            if answer.status_code != httpx2.codes.OK:
                raise CertificateUnavailable(f"{url} answered {answer.status_code}")
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > BYTES_MAX:
                    raise CertificateUnavailable(f"{url} answers with more than {BYTES_MAX} bytes")
                # The client's own limit is for each read: an answer in drops would never end.
                if time.monotonic() > deadline:
                    raise CertificateUnavailable(f"{url} took more than {seconds} seconds")
    except httpx2.HTTPError as error:
        raise CertificateUnavailable(f"{url}: {type(error).__name__}") from error
    return body
