"""`manage.py webhooks`: merchants' endpoints, their secrets, and what came of their messages."""

import argparse
import getpass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from outbox.models import Attempt, Destination, DestinationKind, Party
from outbox.webhooks import attempts, endpoints, reading, secrets
from outbox.webhooks.saving import check_url
from outbox.webhooks.target import BadTarget

LIMIT = 20
_REFUSED = (
    attempts.Forgotten,
    BadTarget,
    endpoints.NoSuchTypes,
    endpoints.TooManyEndpoints,
    secrets.TooManySecrets,
    secrets.NoSuchSecret,
    secrets.OnlySecret,
)


class Command(BaseCommand):
    """One action on one endpoint; `manage.py destinations` pauses, resumes and disables it."""

    help = "Add, change and test merchants' endpoints, and rotate their secrets."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The actions, each with what it needs."""
        actions = parser.add_subparsers(dest="action", required=True)

        def action(name: str, words: str, *, endpoint: bool = True) -> argparse.ArgumentParser:
            added = actions.add_parser(name, help=words)
            if endpoint:
                added.add_argument("code", help="the endpoint: we_..")
            return added

        action("list", "every endpoint", endpoint=False)
        adding = action("add", "a new endpoint; its secret is shown only now", endpoint=False)
        adding.add_argument("--tenant", required=True, help="the merchant whose events it gets")
        adding.add_argument("--url", required=True)
        adding.add_argument("--types", nargs="+", default=[], help="only these: order.paid order.*")
        changing = action("change", "another address, or other types from now on")
        changing.add_argument("--url")
        changing.add_argument("--types", nargs="*")
        rotating = action("rotate", "a new secret, shown only now; the old ones retire")
        rotating.add_argument("--overlap-hours", type=_hours, default=secrets.OVERLAP)
        action("retire", "end a secret at once").add_argument("secret", type=int)
        action("remove", "send and keep nothing more; what waits is dropped")
        action("test", "send a test message")
        action("attempts", f"the last {LIMIT} attempts, the newest first")
        action("resend", "send an event again").add_argument("event_id", type=UUID)

    def handle(self, *_args: Any, action: str, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            if options.get("url"):
                check_url(options["url"])
            with transaction.atomic(durable=True):
                getattr(self, f"_{action}")(**options)
        except _REFUSED as error:
            raise CommandError(f"Not done: {error}") from error

    def changed(self, action: str, about: str, **what: Any) -> None:
        """Told of each change as the last thing in its transaction, for whoever keeps an audit."""

    def _list(self, **_: Any) -> None:
        rows = Destination.objects.filter(
            kind=DestinationKind.WEBHOOK, endpoint__removed_at=None
        ).select_related("endpoint")
        for row in rows.order_by("tenant", "pk"):
            state = row.endpoint
            rests = f" rests until {state.open_until:%H:%M:%S}Z" if state.open_until else ""
            held = " ".join(str(secret.pk) for secret in secrets.in_force(row.pk)) or "none"
            self.stdout.write(
                f"{row.code}  {row.tenant:<12}  {row.state:<8}  failures={state.failures}{rests}  "
                f"secrets: {held}  {row.config['url']}"
            )

    def _add(self, *, tenant: str, url: str, types: list[str], **_: Any) -> None:
        added = endpoints.add(tenant=tenant, url=url, event_types=types)
        self._show_secret(added, secrets.rotate(added, by=_by()))
        where = urlsplit(url).hostname
        self.changed("webhook.added", added.code, merchant=tenant, host=where, types=types)

    def _change(self, *, code: str, url: str | None, types: list[str] | None, **_: Any) -> None:
        endpoints.change(_found(code), url=url, event_types=types)
        where = urlsplit(url).hostname if url else None
        self.changed("webhook.changed", code, host=where, types=types)

    def _rotate(self, *, code: str, overlap_hours: timedelta, **_: Any) -> None:
        endpoint = _found(code)
        self._show_secret(endpoint, secrets.rotate(endpoint, overlap=overlap_hours, by=_by()))
        hours = overlap_hours // timedelta(hours=1)
        self.changed("webhook.signed_anew", code, overlap_hours=hours)

    def _retire(self, *, code: str, secret: int, **_: Any) -> None:
        secrets.retire(_found(code), secret, by=_by())
        self.changed("webhook.key_retired", code, retired=secret)

    def _remove(self, *, code: str, **_: Any) -> None:
        endpoints.remove(_found(code), by=Party.OPERATOR)
        self.changed("webhook.removed", code)

    def _test(self, *, code: str, **_: Any) -> None:
        asked = attempts.send_test(_found(code), by=_by())
        self._show_asked(asked)
        self.changed("webhook.tested", code, attempt=str(asked.pk))

    def _attempts(self, *, code: str, **_: Any) -> None:
        page, _next = reading.attempts(_found(code), limit=LIMIT)
        for made in page:
            event = made.dispatch.event if made.dispatch else None
            self.stdout.write(
                f"{made.at:%Y-%m-%dT%H:%M:%SZ}  {made.status or made.error}  "
                f"{made.milliseconds} ms  {event.type if event else 'webhook.test'}  "
                f"{event.pk if event else made.pk}  {made.reply[:80]!r}"
            )

    def _resend(self, *, code: str, event_id: UUID, **_: Any) -> None:
        delivery = reading.delivery(_found(code), event_id)
        if delivery is None:
            raise CommandError(f"Event {event_id} does not go to {code}.")
        asked = attempts.resend(delivery, by=_by())
        self._show_asked(asked)
        about = {"destination": code, "attempt": str(asked.pk)}
        self.changed("event.resent", str(event_id), **about)

    def _show_secret(self, endpoint: Destination, secret: str) -> None:
        """The secret alone on standard output, so that a script can keep it."""
        self.stdout.write(secret)
        self.stderr.write(f"{endpoint.code}: keep the secret now, it is not shown again.")

    def _show_asked(self, asked: Attempt) -> None:
        self.stdout.write(f"Attempt {asked.pk} is asked for; the relay makes it.")


def _found(code: str) -> Destination:
    rows = Destination.objects.filter(kind=DestinationKind.WEBHOOK, endpoint__removed_at=None)
    found = rows.filter(code=code).select_related("endpoint").first()
    if found is None:
        raise CommandError(f"There is no endpoint {code!r}; `manage.py webhooks list` shows all.")
    return found


def _hours(text: str) -> timedelta:
    most = secrets.OVERLAP_MAX // timedelta(hours=1)
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to {most}")
    return timedelta(hours=int(text))


def _by() -> str:
    return f"manage.py, {getpass.getuser()}"
