"""What the commands have in common that write a page of docs/ from the code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class GeneratedCommand(BaseCommand):
    """`manage.py <name>` prints; `--write` writes; `--check` fails if docs/ is out of date."""

    #: The command's name, for the advice that --check gives.
    name: ClassVar[str]

    def files(self) -> Mapping[str, str]:
        """What should be in docs/: text by path."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """Why the files must not be written as they are; nothing if they may."""
        return []

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--write", action="store_true", help="write it into docs/")
        what.add_argument("--check", action="store_true", help="fail if docs/ says otherwise")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print, write or check."""
        files = self.files()
        if not (options["write"] or options["check"]):
            self.stdout.write("\n".join(files.values()))
            return
        if problems := self.problems():
            raise CommandError("\n".join(problems))
        differing = {name: text for name, text in files.items() if text != _written(name)}
        if options["check"]:
            if differing:
                names = ", ".join(f"docs/{name}" for name in differing)
                raise CommandError(
                    f"{names}: not what the code says. manage.py {self.name} --write"
                )
            return
        for name, text in differing.items():
            path = docs() / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def docs() -> Path:
    """Where the pages are."""
    return Path(settings.BASE_DIR) / "docs"


def _written(name: str) -> str | None:
    try:
        return (docs() / name).read_text()
    except FileNotFoundError:
        return None
