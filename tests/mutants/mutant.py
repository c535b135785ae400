"""What a mutant is: which text changes, and which tests must notice."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """In a file, one text that occurs once, and what stands there instead."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A fault, and the tests that must notice it: files, perhaps with `-k` and words."""

    name: str
    edits: Sequence[Edit]
    tests: Sequence[str]

    def put_into(self, tree: Path) -> str:
        """Make the fault in that tree; says what is wrong if it does not find its place."""
        for edit in self.edits:
            path = tree / edit.file
            text = path.read_text() if path.exists() else ""
            if text.count(edit.old) != 1:
                return f"{edit.file} has {text.count(edit.old)} times: {edit.old}"
            path.write_text(text.replace(edit.old, edit.new))
        return ""


def mutant(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault at one place."""
    return Mutant(name, [Edit(file, old, new)], tests)
