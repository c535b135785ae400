"""Write down what became of claims, also where the database is away for a moment.

What was published and is not marked is published once more when its lease ends. So a mark that
fails is tried again until then; after that somebody else may hold the claim.
"""

import time
from collections.abc import Callable
from typing import Final, TypeVar

import structlog
from django.db import InterfaceError, OperationalError, connection

PAUSE_SECONDS: Final = 0.5

logger = structlog.stdlib.get_logger(__name__)
_Answer = TypeVar("_Answer")


def mark(write: Callable[[bool], _Answer], *, until: float) -> _Answer:
    """What `write` answers, which is called again while the database fails, on a new connection.

    It is told whether it was called before: then the answer alone may have been lost, and what it
    wrote be there. Raises what the database raises once `until` (by time.monotonic) has come.
    """
    again = False
    while True:
        try:
            return write(again)
        except (InterfaceError, OperationalError) as error:
            connection.close()
            if time.monotonic() + PAUSE_SECONDS >= until:
                raise
            logger.warning("mark_waits_for_database", reason=type(error).__name__)
            time.sleep(PAUSE_SECONDS)
            again = True
