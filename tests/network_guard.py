"""A transaction is no time for the network: whoever connects within one fails its test.

A call to somebody else takes as long as he likes, and holds its locks all the while. The
database's own connections are not seen here: they are made in C.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections


class NetworkInTransactionError(AssertionError):
    """A socket was connected while this thread had a transaction open."""


_caught: list[str] | None = None


@contextmanager
def guarded() -> Iterator[None]:
    """Watch all threads of this process; raises NetworkInTransactionError at the end, too."""
    global _caught  # noqa: PLW0603 - hooks of this kind cannot be taken off again
    caught: list[str] = []
    _caught = caught
    try:
        yield
    finally:
        _caught = None
    if caught:
        raise NetworkInTransactionError(", ".join(caught))


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    caught = _caught
    if event == "socket.connect" and caught is not None and connections["default"].in_atomic_block:
        caught.append(f"connected to {arguments[1]!r} within a transaction")
        raise NetworkInTransactionError(caught[-1])


sys.addaudithook(_watch)
