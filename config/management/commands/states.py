"""Print docs/states.md as the code has it, write it, or check it."""

from collections.abc import Mapping
from typing import Final

from config import states
from config.management.generated import GeneratedCommand

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(GeneratedCommand):
    """`manage.py states [--write | --check]`."""

    help = HELP
    name = "states"

    def files(self) -> Mapping[str, str]:
        """The page."""
        return {"states.md": states.document()}
