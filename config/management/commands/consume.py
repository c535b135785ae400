"""`manage.py consume daily-totals`: hear our own events, and do something about them."""

import argparse
import signal
import threading
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from config.consumers import CONSUMERS
from outbox.consumers.choice import source_for
from outbox.consumers.run import run


class Command(BaseCommand):
    """Runs one consumer until SIGTERM or Ctrl-C; any number may run beside each other."""

    help = "Run one of the consumers of our events: " + ", ".join(CONSUMERS)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Which."""
        parser.add_argument("name", choices=list(CONSUMERS))

    def handle(self, *_args: Any, **options: Any) -> None:
        """Hear until told to stop."""
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        subscription = CONSUMERS[options["name"]]
        try:
            source = source_for(subscription)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        run(source, subscription, stopped)
