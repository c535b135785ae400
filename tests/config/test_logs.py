"""One JSON object a line, whatever is logged, by whomever."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests import processes
from tests.payments.over_http import call, stripe_paid
from tests.processes import Web
from tests.wire import request, send

HOSTILE = {
    "a line break": "a\r\nb",
    "JSON": '"}\n{"event": "forged", "level": "info"}',
    "colours": "\x1b[31mred\x1b[0m\x07",
    "other line breaks": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "NUL": "a\0b",
    "half a character": "\ud800",
    "format directives": "%s %n %(levelname)s {0} {event}",
    "a megabyte": "x" * 2**20,
}
#: Logs the text given in every way there is: as a message, a value, a name, an exception.
PROGRAM = """
import json, logging, sys
from config.logs import configure
configure({"level": "INFO"})
import structlog
text = json.load(sys.stdin)
log = structlog.get_logger("ours")
log.info(text)
log.info("value", value=text, nested={text[:20]: [text[:20]]}, raw=text.encode("utf-8", "replace"))
logging.getLogger("theirs").warning(text)
logging.getLogger("theirs").warning("%s", text)
logging.getLogger(text[:20]).info("name")
logging.getLogger("theirs").info("extra", extra={"extra": text})
try:
    raise ValueError(text)
except ValueError:
    log.exception("ours failed")
    logging.getLogger("theirs").exception("theirs failed")
"""


def _logged(program: str, given: Any) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=processes.ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    return [json.loads(line) for line in ran.stdout.split("\n") if line]


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_that_is_logged_can_forge_or_flood_a_line(name: str) -> None:
    lines = _logged(PROGRAM, HOSTILE[name])

    assert len(lines) == 8
    assert all(line.keys() >= {"event", "level", "logger", "timestamp"} for line in lines)
    assert not any(line["event"] == "forged" for line in lines)
    assert max(len(json.dumps(line)) for line in lines) < 20_000
    assert len(lines[0]["event"]) <= 256 + 3
    assert "ValueError" in lines[6]["exception"]


def test_what_the_database_quotes_of_a_row_is_left_out() -> None:
    program = """
import json, sys
from config.logs import configure
configure({"level": "INFO"})
import structlog
try:
    raise ValueError(json.load(sys.stdin))
except ValueError:
    structlog.get_logger("ours").exception("failed")
"""
    quoted = "violates check constraint\nDETAIL:  Failing row contains (1, Alice, 4111).\nHINT: x"

    (line,) = _logged(program, quoted)

    assert "violates check constraint\nHINT: x" in line["exception"]
    assert "Alice" not in json.dumps(line)


#: Logs what Celery says while a server is away, and three faults that are none of that kind.
OUTAGES = """
import logging
from config.logs import configure
configure({"level": "INFO"})
import kombu.exceptions, psycopg, redis.exceptions
from django.db import OperationalError
def say(name, message, first, then=None, hidden=False):
    try:
        try:
            raise first
        except Exception as error:
            if hidden:
                raise then
            if then is not None:
                raise then from error
            raise
    except Exception:
        logging.getLogger(name).error(message, exc_info=True, extra={"data": {"x": 1}})
away = psycopg.OperationalError("connection failed: refused\\nIs the server running?")
task = "Task outbox.relay[1] raised unexpected: it is away\\nand more"
say("celery.app.trace", task, away, OperationalError("away"))
say("celery.app.trace", task, psycopg.errors.AdminShutdown("terminating connection"))
refused = kombu.exceptions.OperationalError("Error 111")
say("celery.beat", "Message Error: relay\\n[a stack]", refused)
closed = redis.exceptions.ConnectionError("closed")
say("celery.worker", "Unrecoverable error", closed, AttributeError("hostname"), True)
say("celery.app.trace", "slow", psycopg.errors.QueryCanceled("canceling statement"))
say("celery.app.trace", "ours", closed, KeyError("a fault of ours"), True)
say("payments.receive", "ours too", away)
"""


def test_a_server_that_is_away_is_one_line_of_celery_and_what_is_not_that_keeps_its_traceback() -> (
    None
):
    lines = _logged(OUTAGES, "")

    assert [line.get("reason") for line in lines] == [
        "OperationalError: connection failed: refused",
        "AdminShutdown: terminating connection",
        "OperationalError: Error 111",
        "ConnectionError: closed",
        *[None] * 3,
    ]
    assert lines[0]["event"] == "Task outbox.relay[1] raised unexpected: it is away"
    assert lines[2]["event"] == "Message Error: relay"
    assert {line["level"] for line in lines} == {"error"}
    for line in lines[:4]:
        assert not line.keys() & {"exception", "data"}
    for line in lines[4:]:
        assert "Traceback" in line["exception"]


def test_a_request_is_one_line_with_an_id_that_its_answer_bears(live_web: Web) -> None:
    for given, kept in (("trace-12345678", True), ("short", False), ("a b c d e f", False)):
        headers = [("Host", "localhost"), ("Connection", "close"), ("X-Request-ID", given)]
        answer = send(live_web.url, request("GET", "/healthz?canary=1", headers))
        request_id = answer.headers["x-request-id"]

        assert (request_id == given) is kept
        lines = [line for line in live_web.output().splitlines() if request_id in line]
        logged = json.loads(lines[-1])
        assert (logged["event"], logged["path"], logged["status"]) == ("request", "/healthz", 200)
        assert "canary" not in lines[-1]


@pytest.mark.django_db(transaction=True)
def test_every_line_of_the_web_server_is_json_also_its_own(live_web: Web) -> None:
    from tests.factories import ProviderAccountFactory  # noqa: PLC0415

    account = ProviderAccountFactory.create()
    send(live_web.url, call(account, stripe_paid("1")))
    send(live_web.url, b"not http\r\n\r\n")

    lines = [json.loads(line) for line in live_web.output().splitlines()]

    assert {"_granian", "payments.deliver", "config.requests"} <= {line["logger"] for line in lines}
