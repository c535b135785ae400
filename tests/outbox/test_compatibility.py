"""What a schema may become under its version: one test for each rule, both ways."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from outbox.compatibility import breaks

OLD: dict[str, Any] = {
    "title": "thing.made",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Its name."},
        "size": {"type": ["integer", "null"], "minimum": 0},
        "colour": {"type": "string", "enum": ["RED", "BLUE"]},
        "part": {"type": "object", "properties": {"no": {"type": "string"}}, "required": ["no"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
    },
    "required": ["name", "size", "colour", "part", "tags"],
}

Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> list[str]:
    new = copy.deepcopy(OLD)
    change(new)
    return breaks(OLD, new)


def fields(new: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = new["properties"]
    return properties


ALLOWED: dict[str, Change] = {
    "nothing": len,
    "another description": lambda new: fields(new)["name"].update(description="What it is called."),
    "another title": lambda new: new.update(title="thing.was_made"),
    "a new optional field": lambda new: fields(new).update(weight={"type": "integer"}),
    "a new word": lambda new: fields(new)["colour"]["enum"].append("GREEN"),
    "a new optional field within": lambda new: fields(new)["part"]["properties"].update(
        maker={"type": "string"}
    ),
    "another order": lambda new: new["required"].reverse(),
}

REFUSED: dict[str, tuple[Change, str]] = {
    "a field is gone": (
        lambda new: (fields(new).pop("name"), new["required"].remove("name")),
        "payload.name was removed",
    ),
    "an optional field is gone": (
        lambda new: fields(new).pop("note"),
        "payload.note was removed",
    ),
    "a field within is gone": (
        lambda new: fields(new)["part"].update(properties={}, required=[]),
        "payload.part.no was removed",
    ),
    "a type is narrower": (
        lambda new: fields(new)["size"].update(type="integer"),
        "payload.size was narrowed: it can no longer be null, and old events still are",
    ),
    "a type is wider": (
        lambda new: fields(new)["name"].update(type=["string", "null"]),
        "payload.name was widened: it can now be null, which readers do not expect",
    ),
    "an item's type is another": (
        lambda new: fields(new)["tags"]["items"].update(type="integer"),
        "payload.tags[] was narrowed: it can no longer be string, and old events still are",
    ),
    "an optional field is required": (
        lambda new: new["required"].append("note"),
        "payload.note was made required, and old events may lack it",
    ),
    "a required field is optional": (
        lambda new: new["required"].remove("name"),
        "payload.name was made optional, and readers rely on it",
    ),
    "a new field is required": (
        lambda new: (
            fields(new).update(weight={"type": "integer"}),
            new["required"].append("weight"),
        ),
        "payload.weight is new and required, and old events lack it",
    ),
    "a word is gone": (
        lambda new: fields(new)["colour"]["enum"].remove("RED"),
        "payload.colour lost the words RED",
    ),
    "any word will do": (
        lambda new: fields(new)["colour"].pop("enum"),
        "payload.colour is no longer one of certain words",
    ),
    "only certain words will do": (
        lambda new: fields(new)["name"].update(enum=["Box"]),
        "payload.name was narrowed to certain words, and old events have others",
    ),
    "a limit is another": (
        lambda new: fields(new)["size"].update(minimum=1),
        "payload.size: minimum was 0 and is 1",
    ),
    "a limit is new": (
        lambda new: fields(new)["name"].update(maxLength=10),
        "payload.name: maxLength was None and is 10",
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_readers_can_live_with_is_allowed(name: str) -> None:
    assert changed(ALLOWED[name]) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_readers_would_stumble_over_is_named(name: str) -> None:
    change, message = REFUSED[name]

    assert message in changed(change)
