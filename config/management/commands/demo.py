"""Play what can happen to callbacks against the running service, and show what became of each."""

from typing import Any, Final

import httpx2
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from config.demo import result, scenes, shop
from orders import api_keys

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py demo`: real orders, real signatures, real HTTP."""

    help = HELP

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Play the scenes with an API key that lives as long as they do."""
        try:
            demo = shop.find(settings.PUBLIC_URL)
        except shop.NotSetUp as error:
            raise CommandError(str(error)) from error
        key, token = api_keys.create(merchant=demo.merchant, label="demo")
        try:
            self._play(demo, token)
        except httpx2.TransportError as error:
            raise CommandError(
                f"Nothing answers at {settings.PUBLIC_URL}; is `make run` running? ({error})"
            ) from error
        finally:
            api_keys.revoke(prefix=key.prefix, now=timezone.now())

    def _play(self, demo: shop.Shop, token: str) -> None:
        with (
            httpx2.Client(
                base_url=settings.PUBLIC_URL,
                headers={"Authorization": f"Bearer {token}"},
                timeout=10,
            ) as api,
            httpx2.Client(timeout=10) as sender,
        ):
            stage = scenes.Stage(api=api, provider=demo.provider, sender=sender)
            for scene in scenes.play_all(stage):
                answers = ", ".join(f"{n} x {status}" for status, n in scene.answers.items())
                self.stdout.write(self.style.MIGRATE_HEADING(scene.title))
                self.stdout.write(f"  answered   {answers}")
                if scene.remark:
                    self.stdout.write(f"  {scene.remark}")
                if 200 in scene.answers:  # noqa: PLR2004 - only what was taken causes events
                    result.wait_until_published(shop.MERCHANT, scene.order_no)
                for line in result.lines(shop.MERCHANT, scene.order_no):
                    self.stdout.write(f"  {line}")
                self.stdout.write("")
        if settings.SIMULATOR_URL:
            self.stdout.write(
                f"Pay by hand, refund, dispute, make it go wrong:  {settings.SIMULATOR_URL}/"
            )
