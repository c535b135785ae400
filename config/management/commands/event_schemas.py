"""Print docs/events/ as the code has it, write it, or check it.

A schema that is there may only be replaced by one that no reader stumbles over.
"""

from collections.abc import Mapping
from typing import Final

from config import event_schemas
from config.management.generated import GeneratedCommand, docs

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(GeneratedCommand):
    """`manage.py event_schemas [--write | --check]`."""

    help = HELP
    name = "event_schemas"

    def files(self) -> Mapping[str, str]:
        """One schema for each type of event, and the document that names them all."""
        return event_schemas.files(event_schemas.EVENT_TYPES)

    def problems(self) -> list[str]:
        """What readers of the schemas that are there would stumble over."""
        return event_schemas.breaks(event_schemas.EVENT_TYPES, docs() / event_schemas.FOLDER)
