"""A mutant that no longer finds its place, or whose tests are gone, shows nothing."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.subjects import by_subject, chosen

ROOT = Path(__file__).resolve().parent.parent.parent
MUTANTS = chosen([])


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_finds_its_place(mutant: Mutant, tmp_path: Path) -> None:
    for edit in mutant.edits:
        copy = tmp_path / edit.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / edit.file, copy)

    assert mutant.put_into(tmp_path) == ""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_has_tests(mutant: Mutant) -> None:
    files = list(mutant.tests)
    if "-k" in files:
        words = files.index("-k")
        assert len(files) == words + 2
        files = files[:words]

    assert files
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_no_two_mutants_have_one_name() -> None:
    assert [
        name for name, times in Counter(each.name for each in MUTANTS).items() if times > 1
    ] == []


def test_mutants_are_chosen_by_subject_or_by_a_part_of_their_names() -> None:
    subjects = by_subject()

    names = {each.name for each in chosen(["totals", "inbox: acknowledged"])}

    assert names == {each.name for each in subjects["totals"]} | {
        "inbox: acknowledged before the commit"
    } | {each.name for each in MUTANTS if "totals" in each.name}
    with pytest.raises(ValueError, match="No mutant has 'no such word'"):
        chosen(["totals", "no such word"])
