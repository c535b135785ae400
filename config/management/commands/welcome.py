"""Set up the demo shop, show one signed callback being applied, and say where everything is."""

import uuid
from typing import Any, Final
from urllib.parse import urlencode

import httpx2
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from config.demo import result, shop
from orders.money import Money
from orders.place import place
from payments import parked

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py welcome`: run by `manage.py up` when everything answers."""

    help = HELP

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Print the welcome."""
        demo = shop.set_up(settings.PUBLIC_URL, settings.SIMULATOR_URL)
        paid, waiting = (self._place(demo) for _ in range(2))
        status = demo.provider.send(
            demo.provider.body(order_no=paid, amount_minor=1099),
            client=httpx2.Client(timeout=10),
        )
        result.wait_until_published(shop.MERCHANT, paid)
        curl = demo.provider.curl(demo.provider.body(order_no=waiting, amount_minor=1099))
        self._say(
            "",
            f"A signed callback for order {paid} was sent and answered with {status}:",
            *(f"  {line}" for line in result.lines(shop.MERCHANT, paid)),
            "",
            f"Console    {settings.PUBLIC_URL}/admin/     user {shop.ADMIN}",
            f"API        {settings.PUBLIC_URL}/v1/docs    merchant {shop.MERCHANT}",
            f"Callbacks  {demo.provider.url}",
            *([f"Simulator  {settings.SIMULATOR_URL}/"] if settings.SIMULATOR_URL else []),
            *self._secrets(demo),
            "",
            f"Order {waiting} waits for this callback; paste it into another terminal:",
            "",
            curl,
            *self._simulator(waiting),
            "",
            "Or play everything that can happen:  make demo",
            'Practise deciding, in the console:   make demo ARGS="--conflicts 10"',
            "See what is published:  .venv/bin/python manage.py events --follow",
            "",
        )

    def _place(self, demo: shop.Shop) -> str:
        order_no = f"WELCOME-{uuid.uuid4().hex[:8]}"
        place(
            merchant=demo.merchant,
            order_no=order_no,
            money=Money(1099, "USD"),
            expires_at=None,
            payable_through="",
            now=timezone.now(),
            on_placed=parked.apply_to,
        )
        return order_no

    def _simulator(self, order_no: str) -> list[str]:
        """The page where a payer would pay for the order; nothing if no simulator runs."""
        if not settings.SIMULATOR_URL:
            return []
        asked = {
            "account": shop.ACCOUNT,
            "order_no": order_no,
            "amount_minor": 1099,
            "currency": "USD",
        }
        return [
            "",
            "Or pay for it on the simulator's page, where all that can go wrong has a switch:",
            "",
            f"{settings.SIMULATOR_URL}/pay?{urlencode(asked)}",
        ]

    def _secrets(self, demo: shop.Shop) -> list[str]:
        if not demo.new_secrets:
            return [
                "",
                "The first start showed an API key and a password. To have new ones:",
                f"  .venv/bin/python manage.py create_api_key {shop.MERCHANT}",
                f"  .venv/bin/python manage.py changepassword {shop.ADMIN}",
            ]
        return [
            "",
            "Made just now and shown only this once; keep them:",
            *(f"  {name:9}{value}" for name, value in demo.new_secrets.items()),
        ]

    def _say(self, *lines: str) -> None:
        self.stdout.write("\n".join(lines))
