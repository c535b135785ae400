"""Print docs/providers.md as the adapters have it, write it, or check it."""

from collections.abc import Mapping
from typing import Final

from config import provider_page
from config.management.generated import GeneratedCommand

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(GeneratedCommand):
    """`manage.py providers [--write | --check]`."""

    help = HELP
    name = "providers"

    def files(self) -> Mapping[str, str]:
        """The page."""
        return {"providers.md": provider_page.document()}
