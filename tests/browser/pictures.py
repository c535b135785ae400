"""Take the pictures of `docs/console/`: `make screenshots`. No test, so it is not collected."""

import io
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from PIL import Image
from pytest_django import Settings

from config.demo import shop
from orders.models import Order
from payments.models import Conflict, Delivery
from tests.browser.console import DESK, MODES, PHONE, Console
from tests.console.rooms import addition_to, list_of, page_of
from tests.factories import RecipientFactory
from tests.processes import ROOT

FOLDER: Final = ROOT / "docs" / "console"
LANGUAGES: Final = ("en", "zh-hans")
#: Few colours are used, so that few are enough, and all pictures together stay small.
_COLOURS: Final = 256
_BYTES_MAX: Final = 6 * 1024 * 1024


def _demo(url: str, settings: Settings) -> None:
    """A shop with orders that were paid and conflicts of all kinds."""
    settings.PUBLIC_URL = url
    shop.set_up(url, "")
    call_command("demo", "--conflicts", "11", stdout=StringIO())
    RecipientFactory.create(shown="finance@example.org")


def _pages() -> dict[str, str]:
    conflicts = {
        f"conflict-{conflict.reason.lower().replace('_', '-')}": page_of(conflict)
        for conflict in Conflict.objects.filter(reason__in=["AMOUNT_MISMATCH", "LATE_PAYMENT"])
    }
    order = Order.objects.filter(status="PAID").latest("pk")
    recipient = reverse("admin:payments_recipient_changelist")
    return {
        "overview": reverse("admin:index"),
        "conflicts": list_of(Conflict),
        **conflicts,
        "orders": list_of(Order),
        "order": page_of(order),
        "delivery": page_of(Delivery.objects.latest("pk")),
        "notifications": recipient,
        "notifications-add": addition_to(RecipientFactory._meta.model),  # noqa: SLF001 - factory-boy's way to its model
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_take(console: Console, live_service: str, settings: Settings, language: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    _demo(live_service, settings)
    pages = _pages()
    console.log_in(User.objects.get(username="root"))
    console.speak(language)
    for mode in MODES:
        console.show(size=DESK, mode=mode)
        for name, address in pages.items():
            console.open(address)
            _keep(console.page.screenshot(full_page=True), f"{name}-{language}-{mode}")
    console.show(size=PHONE)
    for name in ("overview", "conflicts", "conflict-amount-mismatch"):
        console.open(pages[name])
        _keep(console.page.screenshot(), f"{name}-{language}-phone")

    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < _BYTES_MAX


def _keep(taken: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    few = picture.quantize(colors=_COLOURS, dither=Image.Dither.NONE)
    few.save(_path(name), optimize=True)


def _path(name: str) -> Path:
    return FOLDER / f"{name}.png"
