"""Whether a schema may take another's place under the same version.

Readers hold the old schema and get new events; readers who took the new one get old events, from
a stored queue or a replay. So both directions must hold: a version may gain optional fields, words
of an enumeration, and better descriptions, and nothing else. Readers are told (`docs/events.md`)
to ignore fields that they do not know and to expect new words.
"""

from collections.abc import Iterator
from typing import Any, Final

#: What says nothing about which events are valid, or is compared by a rule of its own.
_APART: Final = frozenset(
    {"$schema", "$id", "title", "description", "properties", "required", "enum", "items", "type"}
)


def breaks(old: dict[str, Any], new: dict[str, Any], at: str = "payload") -> list[str]:
    """What a reader would stumble over if `new` took the place of `old`; nothing if it may."""
    return [*_values(old, new, at), *_fields(old, new, at)]


def _values(old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[str]:
    before, after = _types(old), _types(new)
    if gone := before - after:
        yield f"{at} was narrowed: it can no longer be {_listed(gone)}, and old events still are"
    if added := after - before:
        yield f"{at} was widened: it can now be {_listed(added)}, which readers do not expect"
    if gone := set(old.get("enum", [])) - set(new.get("enum", [])):
        if "enum" in new:
            yield f"{at} lost the words {_listed(gone)}"
        else:
            yield f"{at} is no longer one of certain words"
    if "enum" in new and "enum" not in old:
        yield f"{at} was narrowed to certain words, and old events have others"
    for keyword in sorted((old.keys() | new.keys()) - _APART):
        if old.get(keyword) != new.get(keyword):
            yield f"{at}: {keyword} was {old.get(keyword)!r} and is {new.get(keyword)!r}"


def _fields(old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    required_before, required_after = set(old.get("required", [])), set(new.get("required", []))
    for name, schema in before.items():
        field = f"{at}.{name}"
        if name not in after:
            yield f"{field} was removed"
            continue
        if name in required_after - required_before:
            yield f"{field} was made required, and old events may lack it"
        if name in required_before - required_after:
            yield f"{field} was made optional, and readers rely on it"
        yield from breaks(schema, after[name], field)
    for name in sorted((after.keys() - before.keys()) & required_after):
        yield f"{at}.{name} is new and required, and old events lack it"
    if "items" in old and "items" in new:
        yield from breaks(old["items"], new["items"], f"{at}[]")


def _types(schema: dict[str, Any]) -> set[str]:
    types = schema.get("type", [])
    return {types} if isinstance(types, str) else set(types)


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words))
