"""What travels beside an event, held against CloudEvents 1.0.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from outbox.destinations.port import Message
from outbox.events import SEQ_MAX

#: The attributes that every event must have.
REQUIRED = {"id", "source", "specversion", "type"}
OPTIONAL = {"datacontenttype", "dataschema", "subject", "time"}
EXTENSIONS = {"sequence", "traceparent"}
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

MESSAGE = Message(
    id=UUID(int=7),
    type="order.paid",
    aggregate_type="order",
    aggregate_id="shop/A:1.b",
    seq=7,
    created_at=datetime(2026, 3, 1, 13, 0, 0, 5, tzinfo=timezone(timedelta(hours=1))),
    payload=b"{}",
    dataschema="urn:paidonce:event:order.paid:1",
    traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
)


def test_the_names_are_the_standard_s_and_its_documented_extensions() -> None:
    names = set(MESSAGE.attributes())

    assert names == REQUIRED | OPTIONAL | EXTENSIONS
    assert all(re.fullmatch(r"[a-z0-9]{1,20}", name) for name in names)


def test_the_values_have_the_forms_that_the_standard_asks_for() -> None:
    attributes = MESSAGE.attributes()

    assert attributes["specversion"] == "1.0"
    assert RFC3339.fullmatch(attributes["time"])
    assert attributes["time"] == "2026-03-01T12:00:00.000005Z"
    assert attributes["subject"] == "order/shop/A:1.b"
    assert re.match(r"[a-z][a-z0-9+.-]*:", attributes["dataschema"]), "not absolute"
    # Printable, and nothing that the HTTP binding would have to write as %XX.
    assert all(re.fullmatch(r"[!#-$&-~]+", value) for value in attributes.values())


def test_what_is_not_known_is_left_out() -> None:
    attributes = replace(MESSAGE, dataschema="", traceparent="").attributes()

    assert set(attributes) >= REQUIRED
    assert not {"dataschema", "traceparent"} & set(attributes)


def test_a_deployment_names_itself(settings: Any) -> None:
    settings.EVENT_SOURCE = "https://pay.example.org/live"

    assert MESSAGE.attributes()["source"] == "https://pay.example.org/live"


def test_sequences_sort_as_text_and_read_as_numbers() -> None:
    numbers = [0, 1, 9, 10, 99, 100, SEQ_MAX]
    told = [replace(MESSAGE, seq=number).attributes()["sequence"] for number in numbers]

    assert told == sorted(told)
    assert [int(text) for text in told] == numbers


@pytest.mark.parametrize("prefix", ["ce-", "ce_", "cloudEvents_"])
def test_a_binding_s_headers_leave_the_content_type_to_the_protocol(prefix: str) -> None:
    headers = MESSAGE.headers(prefix)

    assert f"{prefix}datacontenttype" not in headers
    assert headers[f"{prefix}id"] == str(MESSAGE.id)
    assert len(headers) == len(MESSAGE.attributes()) - 1


def test_times_are_told_in_utc() -> None:
    at = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    assert replace(MESSAGE, created_at=at).attributes()["time"] == "2026-03-01T12:00:00Z"
