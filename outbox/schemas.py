"""JSON Schema (2020-12) of a payload, derived from the TypedDict that types its builder."""

from collections.abc import Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from outbox.event_types import EventType, Keyword

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    NoneType: "null",
}

Schema = dict[str, Any]


class Underivable(TypeError):
    """A payload's annotation says something that this module does not know in JSON Schema."""


def schema_of(event_type: EventType, *, closed: bool = False) -> Schema:
    """The schema of a type's payload. A closed one also refuses fields that it does not name.

    What is published is open: a reader must expect new fields.
    """
    return {
        "$schema": DIALECT,
        "$id": event_type.dataschema,
        "title": event_type.name,
        "description": f"Written when {event_type.when}.",
        **_object(event_type.payload, closed=closed),
    }


def _object(payload: type[Any], *, closed: bool) -> Schema:
    hints = get_type_hints(payload, include_extras=True)
    schema: Schema = {
        "type": "object",
        "properties": {name: _derive(hint, closed=closed) for name, hint in hints.items()},
        "required": [name for name in hints if name in payload.__required_keys__],
    }
    return schema | {"additionalProperties": False} if closed else schema


def _derive(hint: Any, *, closed: bool) -> Schema:
    inner = get_args(hint)
    match get_origin(hint):
        case None:
            return _plain(hint, closed=closed)
        case origin if origin in (Annotated, NotRequired):
            return _derive(inner[0], closed=closed) | _keywords(inner[1:])
        case origin if origin in (Union, UnionType):
            return _either([_derive(each, closed=closed) for each in inner])
        case origin if origin is Literal:
            return {"type": "string", "enum": list(inner)}
        case origin if origin is list:
            return {"type": "array", "items": _derive(inner[0], closed=closed)}
        case origin if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object"}
        case _:
            raise Underivable(f"no JSON Schema is known for {hint!r}")


def _plain(hint: Any, *, closed: bool) -> Schema:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if is_typeddict(hint):
        return _object(hint, closed=closed)
    if isinstance(hint, type) and issubclass(hint, str) and issubclass(hint, Enum):
        return {"type": "string", "enum": [str(member.value) for member in hint]}
    raise Underivable(f"no JSON Schema is known for {hint!r}")


def _keywords(said: Sequence[Any]) -> Schema:
    """What an annotation says beside its type: text describes, a Keyword constrains."""
    schema: Schema = {}
    for word in said:
        match word:
            case str():
                schema["description"] = word
            case Keyword(name, value):
                schema[name] = value
            case _:
                raise Underivable(f"an annotation says {word!r}")
    return schema


def _either(alternatives: list[Schema]) -> Schema:
    """Something or null is one schema with two types; anything else must be spelt out."""
    null: Schema = {"type": "null"}
    rest = [schema for schema in alternatives if schema != null]
    if len(rest) != 1 or "enum" in rest[0] or not isinstance(rest[0].get("type"), str):
        raise Underivable(f"only one type or None is told: {alternatives!r}")
    return rest[0] | {"type": [rest[0]["type"], "null"]}
