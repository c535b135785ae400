"""What holds for every page of the console, whatever is on it."""

from collections.abc import Callable

import pytest

from tests.browser.console import DESK, PHONE, Console
from tests.console.rooms import Rows, furnish, pages


@pytest.fixture
def rows(console: Console) -> Rows:
    return furnish()


def faults(console: Console, rows: Rows, *looks: Callable[[], list[str]]) -> list[str]:
    """What the looks find, or the browser complains of, each with the first page that has it."""
    found: dict[str, str] = {}
    for path in pages(rows):
        console.open(path)
        for fault in [fault for look in looks for fault in look()] + console.taken_complaints():
            found.setdefault(fault, path)
    return [f"{path}: {fault}" for fault, path in found.items()]


def test_pages_at_a_desk_are_accessible_and_can_be_worked_by_keyboard(
    console: Console, rows: Rows
) -> None:
    console.show(size=DESK)

    found = faults(console, rows, console.inaccessible, console.too_wide, console.out_of_reach)

    assert found == []


def test_pages_in_the_dark_have_enough_contrast(console: Console, rows: Rows) -> None:
    console.show(size=DESK, mode="dark")

    assert faults(console, rows, lambda: console.inaccessible("color-contrast")) == []


def test_pages_on_a_phone_are_read_without_pushing_them_sideways(
    console: Console, rows: Rows
) -> None:
    console.show(size=PHONE)

    assert faults(console, rows, console.too_wide, console.out_of_reach) == []
