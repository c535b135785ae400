"""Run the provider simulator, or compare its books with the database."""

import signal
import sys
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.simulator import check
from config.simulator.app import App
from config.simulator.our_accounts import OurAccounts
from config.simulator.sender import Sender
from config.simulator.server import Server
from config.simulator.store import Store

DEFAULT_PORT = 8010


class Command(BaseCommand):
    """`manage.py provider_simulator [--port 8010]`, `manage.py provider_simulator --check`."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("--port", type=int, default=DEFAULT_PORT)
        parser.add_argument(
            "--ledger",
            default=str(settings.BASE_DIR / "var" / "simulator.sqlite3"),
            help="the file of its books",
        )
        parser.add_argument(
            "--service-url",
            default=settings.PUBLIC_URL,
            help="where its callbacks go, without the path; by default PUBLIC_URL",
        )
        parser.add_argument("--check", action="store_true", help="compare, and exit with 1 if ..")
        parser.add_argument(
            "--final", action="store_true", help="with --check: what is still on its way is missing"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Serve until somebody asks for the end; or compare."""
        store = Store(options["ledger"])
        try:
            if options["check"]:
                self._check(store, final=options["final"])
            else:
                self._serve(store, options["port"], options["service_url"])
        finally:
            store.close()

    def _serve(self, store: Store, port: int, service_url: str) -> None:
        accounts = OurAccounts(service_url, timezone.now)
        try:
            server = Server(App(store, accounts, timezone.now), port)
        except OSError as error:
            raise CommandError(f"Port {port} cannot be used: {error.strerror}") from error
        sender = Sender(store, accounts, timezone.now)
        signal.signal(signal.SIGTERM, _interrupt)
        sender.start()
        self.stdout.write(f"The provider simulator is at {server.url}")
        # Whoever waits for this line may read it through a pipe.
        self.stdout.flush()
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            pass
        finally:
            server.server_close()
            sender.stop()

    def _check(self, store: Store, *, final: bool) -> None:
        findings = check.compare(store, final=final)
        for line in findings.lines():
            self.stdout.write(line)
        if findings.differences:
            sys.exit(1)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
