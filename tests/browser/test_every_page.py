"""What holds for every page of the console, whatever is on it."""

from collections.abc import Iterable

import pytest

from tests.browser.console import DESK, PHONE, Console
from tests.console.rooms import Rows, furnish, pages


@pytest.fixture
def rows(console: Console) -> Rows:
    return furnish()


def faults(console: Console, paths: Iterable[str]) -> dict[str, str]:
    """What is wrong with the pages, each with the first that has it."""
    found: dict[str, str] = {}
    for path in paths:
        for fault in faults_of(console, path):
            found.setdefault(fault, path)
    return found


def faults_of(console: Console, path: str) -> list[str]:
    """What is wrong with one page, loaded once and looked at in every way."""
    console.show(size=DESK)
    console.open(path)
    found = [*console.inaccessible(), *console.too_wide(), *console.out_of_reach()]
    console.show(size=DESK, mode="dark")
    found += console.inaccessible("color-contrast")
    console.show(size=PHONE)
    return [*found, *console.too_wide(), *console.out_of_reach(), *console.taken_complaints()]


@pytest.mark.timeout(400)  # each of some sixty pages in three ways
def test_every_page_is_accessible_and_fits_and_is_worked_by_keyboard(
    console: Console, rows: Rows
) -> None:
    """Also those that ask before anything is done, wherever a page leads to one."""
    shown = [*pages(rows), "/admin/?by=day"]
    asking: dict[str, None] = {}
    found: dict[str, str] = {}
    for path in shown:
        found |= faults(console, [path])
        asking.update(dict.fromkeys(console.deeds()))
    found |= faults(console, asking)

    assert not found, "\n".join(f"{path}: {fault}" for fault, path in found.items())
    assert asking


def test_who_is_not_logged_in_finds_a_door_that_he_can_use(console: Console) -> None:
    console.log_out()

    assert faults_of(console, "/admin/login/") == []
