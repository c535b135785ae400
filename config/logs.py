"""Structured logs: one JSON object a line, with the ids of the request and of what it is about.

Values are bounded and control characters escaped, so that nothing a stranger sends can
forge a line or flood one. Bodies, headers and query strings are never logged.
"""

import logging
import logging.config
import re
from collections.abc import Mapping
from typing import Any, Final

import structlog

from config import outages

VALUE_LENGTH_MAX: Final = 256
EXCEPTION_LENGTH_MAX: Final = 8000
#: PostgreSQL's detail of an error quotes the row that it refused, and so what somebody sent.
_DETAIL: Final = re.compile(r"\nDETAIL:.*")


def bound_values(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Cut over-long text; whoever needs all of it finds it in the tables."""
    for name, value in event.items():
        if value is None or isinstance(value, int | float) or name.startswith("_"):
            continue
        text = value if isinstance(value, str) else repr(value)
        if name == "exception":
            event[name] = _shortened(_DETAIL.sub("", text))
        elif len(text) > VALUE_LENGTH_MAX:
            event[name] = text[:VALUE_LENGTH_MAX] + "..."
    return event


def _shortened(traceback: str) -> str:
    """Both ends of a traceback: where it began, and what went wrong."""
    half = EXCEPTION_LENGTH_MAX // 2
    if len(traceback) <= 2 * half:
        return traceback
    return f"{traceback[:half]}\n...\n{traceback[-half:]}"


SHARED: Final[list[structlog.typing.Processor]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.stdlib.ExtraAdder(),
    outages.in_one_line,
    structlog.processors.format_exc_info,
    bound_values,
]


def json_formatter() -> logging.Formatter:
    """What makes a line of any record: also the web server's own (config/web_server_log.json)."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )


def configure(settings: Mapping[str, Any]) -> None:
    """Send every log, ours and the libraries', through one JSON renderer to standard output."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": {"()": json_formatter}},
            "handlers": {
                "stdout": {
                    "class": "logging.StreamHandler",
                    "stream": "ext://sys.stdout",
                    "formatter": "json",
                }
            },
            "root": {"handlers": ["stdout"], "level": settings["level"]},
            "loggers": {
                # Each request has one line of ours; Django would repeat every 4xx as a warning.
                "django.request": {"level": "ERROR"},
                "django.security.DisallowedHost": {"level": "CRITICAL"},
                "httpx2": {"level": "WARNING"},
                "celery.worker.strategy": {"level": "WARNING"},
                "celery.app.trace": {"level": "WARNING"},
                "celery.beat": {"level": "WARNING"},
            },
        }
    )
