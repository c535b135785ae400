"""What a library logs of a database or broker that is away, in one line.

While a server is away every tick of the clock fails, and Celery logs the whole traceback of each.
The tracebacks say nothing but where the network was used; two dozen screens of them hide what else
went wrong. What is not such an outage keeps its traceback.
"""

from collections.abc import Iterator
from typing import Any, Final

import kombu.exceptions
import psycopg
import redis.exceptions
import structlog

_LIBRARIES: Final = "celery."
#: A task's traceback is of our own code: what went wrong beside an outage there is a fault.
_OUR_CODE: Final = "celery.app.trace"
_AWAY: Final = (
    ConnectionError,
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    kombu.exceptions.OperationalError,
)
#: Connections, shutdown, restart: https://www.postgresql.org/docs/current/errcodes-appendix.html
_AWAY_STATES: Final = ("08", "57P01", "57P02", "57P03")


def in_one_line(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Replace the traceback of an outage by its reason; leave every other event as it is."""
    name = str(event.get("logger", ""))
    exc_info = event.get("exc_info")
    if not name.startswith(_LIBRARIES) or not isinstance(exc_info, tuple):
        return event
    chain = _chain(exc_info[1], causes_only=name == _OUR_CODE)
    error = next((one for one in chain if _is_outage(one)), None)
    if error is not None:
        event["event"] = _first_line(event["event"])
        event["reason"] = f"{type(error).__name__}: {_first_line(error)}"
        for traced in ("exc_info", "data"):
            event.pop(traced, None)
    return event


def _chain(error: BaseException | None, *, causes_only: bool) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if causes_only else error.__context__)


def _is_outage(error: BaseException) -> bool:
    if isinstance(error, psycopg.OperationalError):
        # Without a state the server said nothing at all.
        return error.sqlstate is None or error.sqlstate.startswith(_AWAY_STATES)
    return isinstance(error, _AWAY)


def _first_line(text: object) -> str:
    return str(text).strip().split("\n", 1)[0]
