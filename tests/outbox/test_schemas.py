"""The schema of a payload, derived from its type."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from django.db.models import TextChoices

from outbox.event_types import EventType, Keyword
from outbox.schemas import DIALECT, Underivable, schema_of


class Colour(TextChoices):
    RED = "RED"
    BLUE = "BLUE"


class Part(TypedDict):
    size: Annotated[int, Keyword("minimum", 0), "In millimetres."]


class Payload(TypedDict):
    name: Annotated[str | None, "If it has one."]
    colour: Colour
    way: Literal["IN", "OUT"]
    parts: list[Part]
    first: Annotated[Part, "The first of them."]
    open: Mapping[str, Any]
    sold: NotRequired[bool]


def of(payload: type[Any], **changes: Any) -> EventType:
    values: dict[str, Any] = {"name": "thing.made", "aggregate_type": "thing", "when": "made"}
    return EventType(payload=payload, **values | changes)


def test_every_kind_of_field_is_derived() -> None:
    part = {
        "type": "object",
        "properties": {"size": {"type": "integer", "minimum": 0, "description": "In millimetres."}},
        "required": ["size"],
    }
    assert schema_of(of(Payload, version=3)) == {
        "$schema": DIALECT,
        "$id": "urn:paidonce:event:thing.made:3",
        "title": "thing.made",
        "description": "Written when made.",
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"], "description": "If it has one."},
            "colour": {"type": "string", "enum": ["RED", "BLUE"]},
            "way": {"type": "string", "enum": ["IN", "OUT"]},
            "parts": {"type": "array", "items": part},
            "first": part | {"description": "The first of them."},
            "open": {"type": "object"},
            "sold": {"type": "boolean"},
        },
        "required": ["name", "colour", "way", "parts", "first", "open"],
    }


def test_a_closed_schema_refuses_what_it_does_not_name_at_every_depth() -> None:
    closed = schema_of(of(Payload), closed=True)

    assert closed["additionalProperties"] is False
    assert closed["properties"]["first"]["additionalProperties"] is False
    assert "additionalProperties" not in closed["properties"]["open"]


@pytest.mark.parametrize("hint", [float, Any, str | int, Colour | None, set[str]])
def test_what_has_no_plain_schema_is_an_error_of_the_programmer(hint: Any) -> None:
    class Unknown(TypedDict):
        field: hint

    with pytest.raises(Underivable):
        schema_of(of(Unknown))
