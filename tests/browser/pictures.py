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

from audit.models import AuditEntry
from config.demo import shop
from orders.models import Order
from payments.conflicts import four_eyes
from payments.conflicts.checking import Wanted
from payments.models import Conflict, Delivery, Proposal, Recipient, Resolution
from tests.browser.console import DESK, MODES, PHONE, Console
from tests.console.clock import now
from tests.console.conflict.filling import address
from tests.console.rooms import addition_to, list_of, page_of
from tests.factories import RecipientFactory
from tests.payments.conflicts import deciding
from tests.processes import ROOT

FOLDER: Final = ROOT / "docs" / "console"
LANGUAGES: Final = ("en", "zh-hans")
#: Few colours are used, so that few are enough, and all pictures together stay small.
_COLOURS: Final = 256
_BYTES_MAX: Final = 6 * 1024 * 1024


def _demo(url: str, settings: Settings) -> None:
    """A shop with orders that were paid, conflicts of all kinds, and a decision that waits."""
    settings.PUBLIC_URL = url
    shop.set_up(url, "")
    call_command("demo", "--conflicts", "11", stdout=StringIO())
    RecipientFactory.create(shown="finance@example.org")
    late = Conflict.objects.get(reason="LATE_PAYMENT")
    four_eyes.propose(
        late.pk,
        Wanted(how=Resolution.ACCEPT, why="The payer was told on the telephone that it is fine."),
        seen=deciding.seen_now(late),
        person=deciding.somebody("alice", "reviewer"),
        now=now(),
    )


def _pages() -> dict[str, str]:
    mismatch = Conflict.objects.filter(reason="AMOUNT_MISMATCH").earliest("pk")
    late = Conflict.objects.get(reason="LATE_PAYMENT")
    delivery = Delivery.objects.latest("pk")
    return {
        "overview": reverse("admin:index"),
        "conflicts": list_of(Conflict),
        "conflict": page_of(mismatch),
        "conflict-proposed": page_of(late),
        "decide": address(mismatch, Resolution.ACCEPT_RECEIVED),
        "approvals": list_of(Proposal),
        "proposal": page_of(Proposal.objects.get()),
        "policy": reverse("admin:payments_conflictpolicy_edit", args=[late.merchant_id]),
        "roles": reverse("admin:auth_group_roles"),
        "find": reverse("console_find"),
        "order": page_of(Order.objects.filter(status="PAID").latest("pk")),
        "delivery": page_of(delivery),
        "replay": f"{reverse('admin:payments_delivery_replay')}?ids={delivery.pk}",
        "export": reverse("admin:payments_conflict_export"),
        "audit": list_of(AuditEntry),
        "notifications": list_of(Recipient),
        "notifications-add": addition_to(Recipient),
        "preferences": reverse("access:preferences"),
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
        for name, path in pages.items():
            console.open(path)
            _keep(_whole(console), f"{name}-{language}-{mode}")
    console.show(size=PHONE)
    for name in ("overview", "conflicts", "conflict"):
        console.open(pages[name])
        _keep(console.page.screenshot(), f"{name}-{language}-phone")

    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < _BYTES_MAX


def _whole(console: Console) -> bytes:
    """In a window as high as the page, so that nothing which stays in place hides a part of it."""
    height = console.page.evaluate("() => document.documentElement.scrollHeight")
    _resize(console, max(height, DESK.height))
    taken = console.page.screenshot()
    _resize(console, DESK.height)
    return taken


def _resize(console: Console, height: int) -> None:
    console.page.set_viewport_size({"width": DESK.width, "height": height})


def _keep(taken: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    few = picture.quantize(colors=_COLOURS, dither=Image.Dither.NONE)
    few.save(_path(name), optimize=True)


def _path(name: str) -> Path:
    return FOLDER / f"{name}.png"
