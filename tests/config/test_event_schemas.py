"""docs/events/ is what the code tells, and what it may become is held against it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator

from config import event_schemas
from config.event_schemas import EVENT_TYPES
from orders.events import ORDER_PAID, OrderPayload
from outbox.event_types import EventType

DOCS = Path(settings.BASE_DIR) / "docs"
EVENTS = DOCS / event_schemas.FOLDER


class Poorer(TypedDict):
    order_no: str


class Richer(OrderPayload, total=False):
    channel: str


def schema_file(event_type: EventType) -> Path:
    return EVENTS / f"{event_type.name}.{event_type.version}.schema.json"


def test_the_files_are_what_the_code_says() -> None:
    call_command("event_schemas", "--check")


@pytest.mark.parametrize("event_type", EVENT_TYPES, ids=lambda each: each.name)
def test_each_schema_is_one_by_its_own_dialect(event_type: EventType) -> None:
    schema = json.loads(schema_file(event_type).read_text())

    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == event_type.dataschema


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    document = yaml.safe_load((EVENTS / event_schemas.ASYNCAPI).read_text())

    found = list(references(document))

    assert len(found) > 3 * len(EVENT_TYPES)
    for reference in found:
        file, _, pointer = reference.partition("#")
        if file:
            assert (EVENTS / file).exists(), reference
            continue
        place = document
        for step in pointer.strip("/").split("/"):
            place = place[step]
    assert set(document["channels"]) == {event_type.name for event_type in EVENT_TYPES}


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_a_poorer_payload_needs_a_higher_version() -> None:
    poorer = replace(ORDER_PAID, payload=Poorer)

    problems = event_schemas.breaks([poorer, *EVENT_TYPES[1:]], EVENTS)

    assert "order.paid: payload.amount was removed. Undo it, or raise its version to 2." in problems
    raised = replace(poorer, version=2)
    assert event_schemas.breaks([raised, *EVENT_TYPES[1:]], EVENTS) == []


def test_a_richer_payload_needs_none() -> None:
    richer = replace(ORDER_PAID, payload=Richer)

    assert event_schemas.breaks([richer, *EVENT_TYPES[1:]], EVENTS) == []


def test_a_type_that_was_told_does_not_disappear() -> None:
    problems = event_schemas.breaks(EVENT_TYPES[1:], EVENTS)

    assert [problem.partition(":")[0] for problem in problems] == ["order.paid"]


def test_a_version_does_not_go_back(tmp_path: Path) -> None:
    raised = replace(ORDER_PAID, version=2)
    for name, text in event_schemas.files([raised]).items():
        (tmp_path / Path(name).name).write_text(text)

    assert event_schemas.breaks([ORDER_PAID], tmp_path) == [
        "order.paid: version 2 was published, and now it is 1."
    ]


@pytest.fixture
def docs(tmp_path: Path, settings: Any) -> Path:
    """A place of the test's own for the pages."""
    settings.BASE_DIR = tmp_path
    (tmp_path / "docs").mkdir()
    call_command("event_schemas", "--write")
    return tmp_path / "docs" / event_schemas.FOLDER


def test_what_is_not_written_is_noticed(docs: Path) -> None:
    path = docs / "order.paid.1.schema.json"
    schema = json.loads(path.read_text())
    del schema["properties"]["closed_at"]
    schema["required"].remove("closed_at")
    path.write_text(json.dumps(schema))

    # As if the code had a new, required field.
    with pytest.raises(CommandError, match=r"payload\.closed_at is new and required"):
        call_command("event_schemas", "--write")
    assert json.loads(path.read_text()) == schema
    path.unlink()
    with pytest.raises(CommandError, match=r"order\.paid\.1\.schema\.json: not what the code says"):
        call_command("event_schemas", "--check")
    call_command("event_schemas", "--write")
    call_command("event_schemas", "--check")
