"""What an event says: its type, its version and the shape of its payload, declared in one place."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypedDict

#: Begins every schema's address: https://www.rfc-editor.org/rfc/rfc8141. Nothing is fetched there;
#: `docs/events/` has the files.
URN: Final = "urn:paidonce:event"


class Keyword(NamedTuple):
    """A keyword of JSON Schema that narrows a field: `Annotated[int, Keyword("minimum", 0)]`."""

    name: str
    value: str | int


class Names(TypedDict):
    """What `emit` is told of the type."""

    type: str
    aggregate_type: str
    dataschema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventType:
    """A type of event. `payload` is a TypedDict; `when` ends the sentence "written when ..".

    `version` rises with every change that a reader of the old schema, or of old events, could
    stumble over: see `outbox/compatibility.py`.
    """

    name: str
    aggregate_type: str
    payload: type[Any]
    when: str
    version: int = 1

    @property
    def dataschema(self) -> str:
        """The address of its schema, which each event carries."""
        return f"{URN}:{self.name}:{self.version}"

    @property
    def names(self) -> Names:
        """For `emit(**ORDER_PAID.names, ..)`."""
        return Names(type=self.name, aggregate_type=self.aggregate_type, dataschema=self.dataschema)
