"""All mutants, by the subject whose module has them."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutants.mutant import Mutant


def by_subject() -> Mapping[str, Sequence[Mutant]]:
    """Every module of this package that has mutants, and its mutants."""
    found = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        # The command itself has none, and reads its arguments when it is imported.
        if module.name != "__main__":
            mutants = getattr(
                importlib.import_module(f"tests.mutants.{module.name}"), "MUTANTS", ()
            )
            found[module.name] = mutants
    return {subject: mutants for subject, mutants in found.items() if mutants}


def chosen(words: Sequence[str]) -> list[Mutant]:
    """Those with one of the words, or all. Raises ValueError if a word finds none."""
    subjects = by_subject()
    every = [mutant for mutants in subjects.values() for mutant in mutants]
    names: set[str] = set()
    for word in words:
        of_subject = subjects.get(word, ())
        found = {each.name for each in every if each in of_subject or word in each.name}
        if not found:
            raise ValueError(
                f"No mutant has {word!r} in its name, and no subject is called so."
                f" Subjects: {', '.join(subjects)}"
            )
        names |= found
    return [each for each in every if not words or each.name in names]
