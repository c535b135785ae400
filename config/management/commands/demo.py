"""Play what can happen to callbacks against the running service, and show what became of each."""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import httpx2
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from config.console import limits
from config.demo import conflicts, people, result, scenes, shop, simulated, stripe
from config.demo.practice import Practice
from orders import api_keys
from payments.conflicts.refusals import Refused

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""
_DOES: Final = {
    people.REVIEWER: f"decides; above {limits.write(people.ALONE_UP_TO)} proposes",
    people.APPROVER: "approves what others propose",
}


class Command(BaseCommand):
    """`manage.py demo`: real orders, real signatures, real HTTP."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Read how many conflicts to make."""
        parser.add_argument(
            "--conflicts",
            type=_number,
            default=0,
            metavar="N",
            help="make N conflicts of all kinds to practise on, instead of the scenes",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play the scenes with an API key that lives as long as they do."""
        try:
            demo = shop.find(settings.PUBLIC_URL)
        except shop.NotSetUp as error:
            raise CommandError(str(error)) from error
        key, token = api_keys.create(merchant=demo.merchant, label="demo")
        try:
            with self._stage(demo, token) as stage:
                if options["conflicts"]:
                    self._make_conflicts(stage, demo, options["conflicts"])
                else:
                    self._play(stage)
        except (scenes.ServiceRefused, Refused) as error:
            raise CommandError(str(error)) from error
        except httpx2.TransportError as error:
            raise CommandError(
                f"Nothing answers at {settings.PUBLIC_URL}; is `make run` running? ({error})"
            ) from error
        finally:
            api_keys.revoke(prefix=key.prefix, now=timezone.now())

    @contextmanager
    def _stage(self, demo: shop.Shop, token: str) -> Iterator[scenes.Stage]:
        with (
            httpx2.Client(
                base_url=settings.PUBLIC_URL,
                headers={"Authorization": f"Bearer {token}"},
                timeout=10,
            ) as api,
            httpx2.Client(timeout=10) as sender,
        ):
            yield scenes.Stage(api=api, provider=demo.provider, sender=sender)

    def _make_conflicts(self, stage: scenes.Stage, demo: shop.Shop, number: int) -> None:
        passwords = people.set_up(demo.merchant, now=timezone.now())
        pretend = stripe.open_at(settings.PUBLIC_URL, demo.merchant)
        simulator = simulated.find(settings.SIMULATOR_URL, stage.sender)
        practice = Practice(stage, pretend, simulator, timezone.now)
        for made in conflicts.make(practice, number):
            page = reverse("admin:payments_conflict_change", args=[made.conflict.pk])
            self.stdout.write(self.style.MIGRATE_HEADING(made.title))
            self.stdout.write(f"  {made.conflict.reason:<25} {settings.PUBLIC_URL}{page}")
        queue = reverse("admin:payments_conflict_changelist")
        self.stdout.write(f"\nDecide them, the first due first:  {settings.PUBLIC_URL}{queue}")
        self._introduce(passwords)

    def _introduce(self, passwords: Mapping[str, str]) -> None:
        """Who was made to decide them; nothing if they were there."""
        if not passwords:
            return
        self.stdout.write("\nLog in as one of these, made just now; passwords are shown only once:")
        for name, password in passwords.items():
            self.stdout.write(f"  {name:<10}{password}    {_DOES[name]}")

    def _play(self, stage: scenes.Stage) -> None:
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


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= conflicts.CONFLICTS_MAX:
        raise ArgumentTypeError(f"{text!r} is no number from 1 to {conflicts.CONFLICTS_MAX}")
    return int(text)
