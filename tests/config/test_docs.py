"""What the pages tell a reader to type exists: each command with its options, each target."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class

from tests.processes import ROOT

_PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")]
_CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
_OPERATORS = {"|", "&&", ";", ">"}
#: Words that stand for the reader's own, with one that the command would take.
_STANDS_FOR = {
    "3f0c..": "3f0c2f5e-7f4a-4f49-9a42-2f6f0d1c6b7a",
    "1204:3f0c..": f"1204:{32 * '3f'}",
    "acmepay": "stripe",
}


def _told(page: Path) -> list[list[str]]:
    """The words of every `manage.py` in the page's console blocks; files are any that exist."""
    lines = [
        line
        for block in _CONSOLE.findall(page.read_text().replace("\\\n", " "))
        for line in block.splitlines()
        if line.lstrip().startswith("$") and "manage.py " in line
    ]
    told = []
    for line in lines:
        words = shlex.split(line.partition("manage.py ")[2].replace("$(", "("), comments=True)
        end = next((at for at, word in enumerate(words) if word in _OPERATORS), len(words))
        told.append([_given(word.rstrip(")")) for word in words[:end]])
    return told


def _given(word: str) -> str:
    word = re.sub(r"^([a-z]+:[^:]+):[\w.-]+$", rf"\1:{ROOT / 'README.md'}", word)
    return _STANDS_FOR.get(word, word)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_shows_is_one_that_is_taken(page: Path) -> None:
    for name, *arguments in _told(page):
        command = load_command_class(get_commands()[name], name)
        try:
            command.create_parser("manage.py", name).parse_args(arguments)
        except CommandError as error:
            pytest.fail(f"manage.py {name} {' '.join(arguments)}: {error}")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_target_that_a_page_shows_can_be_made(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    shown = set(re.findall(r"(?:\$ |`)make ([a-z]+)", page.read_text()))
    assert shown <= targets


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_page_that_a_page_leads_to_is_there(page: Path) -> None:
    leads = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [to for to in leads if not (page.parent / to).exists()] == []


def test_a_command_is_found_in_what_a_page_shows() -> None:
    assert sum(len(_told(page)) for page in _PAGES) > 40
