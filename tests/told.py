"""Every event that a test writes conforms to the schema that it names."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection
from jsonschema import Draft202012Validator, FormatChecker

from config.event_schemas import EVENT_TYPES
from outbox.event_types import URN
from outbox.schemas import schema_of

_FORMATS: Final = FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


#: Closed: a field that the schema does not name is one that no consumer is told of.
_VALIDATORS: Final = {
    event_type.dataschema: Draft202012Validator(
        schema_of(event_type, closed=True), format_checker=_FORMATS
    )
    for event_type in EVENT_TYPES
}
#: Rows that a factory or a test made say nothing of a schema.
_TOLD_SQL: Final = """
    SELECT id, headers ->> 'dataschema', payload::text
      FROM outbox_event WHERE headers ? 'dataschema'
"""


def unfit() -> list[str]:
    """What is wrong with the events that are there now."""
    if connection.needs_rollback:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_TOLD_SQL)
        rows = cursor.fetchall()
    return [wrong for row in rows for wrong in _judge(*row)]


def _judge(event_id: UUID, dataschema: str, payload: str) -> Iterator[str]:
    validator = _VALIDATORS.get(dataschema)
    if validator is None:
        if dataschema.startswith(URN):
            yield f"{event_id}: {dataschema} is not among config.event_schemas.EVENT_TYPES"
        return
    for error in validator.iter_errors(json.loads(payload)):
        yield f"{event_id}: {dataschema}: {error.json_path}: {error.message}"
