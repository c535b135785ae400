"""What holds for every page of the console, whatever is on it."""

from collections.abc import Callable, Iterable

import pytest

from tests.browser.console import DESK, PHONE, Console
from tests.console.rooms import Rows, furnish, pages


@pytest.fixture
def rows(console: Console) -> Rows:
    return furnish()


def faults(console: Console, paths: Iterable[str], *looks: Callable[[], list[str]]) -> str:
    """What the looks find, or the browser complains of, each with the first page that has it."""
    found: dict[str, str] = {}
    for path in paths:
        console.open(path)
        for fault in [fault for look in looks for fault in look()] + console.taken_complaints():
            found.setdefault(fault, path)
    return "\n".join(f"{path}: {fault}" for fault, path in found.items())


def test_pages_at_a_desk_are_accessible_and_can_be_worked_by_keyboard(
    console: Console, rows: Rows
) -> None:
    console.show(size=DESK)
    asking: dict[str, None] = {}

    def remember_what_can_be_done() -> list[str]:
        asking.update(dict.fromkeys(console.deeds()))
        return []

    looks = (console.inaccessible, console.too_wide, console.out_of_reach)
    found = faults(console, pages(rows), *looks, remember_what_can_be_done)
    found_where_it_asks = faults(console, asking, *looks)

    assert not found
    assert asking
    assert not found_where_it_asks


def test_who_is_not_logged_in_finds_a_door_that_he_can_use(console: Console) -> None:
    console.log_out()

    looks = (console.inaccessible, console.too_wide, console.out_of_reach)
    assert not faults(console, ["/admin/login/"], *looks)


def test_pages_in_the_dark_have_enough_contrast(console: Console, rows: Rows) -> None:
    console.show(size=DESK, mode="dark")

    assert not faults(console, pages(rows), lambda: console.inaccessible("color-contrast"))


def test_pages_on_a_phone_are_read_without_pushing_them_sideways(
    console: Console, rows: Rows
) -> None:
    console.show(size=PHONE)

    assert not faults(console, pages(rows), console.too_wide, console.out_of_reach)
