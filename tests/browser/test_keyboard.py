"""What unfold made for a mouse is worked with the Tab key and Enter, too."""

from tests.browser.console import PHONE, Console


def test_menus_open_with_enter_and_say_what_they_are_to_a_screen_reader(console: Console) -> None:
    page = console.open("/admin/")
    menu = page.get_by_role("button", name="root")
    way_out = page.get_by_role("button", name="Log out")
    assert not way_out.is_visible()

    menu.press("Enter")

    assert way_out.is_visible()
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
