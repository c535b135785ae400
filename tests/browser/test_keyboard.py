"""What unfold made for a mouse is worked with the Tab key and Enter, too."""

import re

from payments.models import Conflict
from tests.browser.console import DESK, PHONE, Console
from tests.console.rooms import list_of


def test_menus_open_with_enter_and_say_what_they_are_to_a_screen_reader(console: Console) -> None:
    page = console.open("/admin/")
    menu = page.get_by_role("button", name="root")
    way_out = page.get_by_role("button", name="Log out")
    assert not way_out.is_visible()

    menu.press("Enter")
    way_out.wait_for(state="visible")
    menu.press("Space")
    way_out.wait_for(state="hidden")


def test_on_a_phone_the_sidebar_opens_without_a_finger(console: Console) -> None:
    console.show(size=PHONE)
    page = console.open("/admin/")
    link = page.get_by_role("link", name="Conflicts", exact=False).first
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.matches('[data-keyboard]')"):
            break
    page.keyboard.press("Enter")

    link.wait_for(state="visible")


def test_no_icon_is_read_out_by_its_name(console: Console) -> None:
    """What a screen reader would say: an icon is a word in the page, such as dock_to_right."""
    page = console.open(list_of(Conflict))
    icons = page.locator(".material-symbols-outlined").evaluate_all(
        "(all) => all.map((it) => it.textContent.trim())"
    )
    assert {"dock_to_right", "filter_list", "search"} <= set(icons)

    for size in (DESK, PHONE):
        console.show(size=size)
        # Of a button with a name, the snapshot has what is within it after a colon.
        spoken = re.sub(r'(button ".*"): .*', r"\1", page.locator("body").aria_snapshot())
        assert [icon for icon in icons if "_" in icon and icon in spoken] == []
        assert re.findall(r"- (?:button|link)(?::| *$)", spoken, re.MULTILINE) == []
        assert 'button "Show or hide the menu"' in spoken
