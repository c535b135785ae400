"""`manage.py destinations`: see, add and rest the places that events go to."""

import argparse
import getpass
import json
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.db.models import Count, Min, Q

from outbox.destinations import directory
from outbox.destinations.choice import Misconfigured
from outbox.models import Destination, DestinationKind, DispatchState


class Command(BaseCommand):
    """One action on the list of destinations."""

    help = "List the destinations of events, add one, or let one rest and work again."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The actions, each with what it needs."""
        actions = parser.add_subparsers(dest="action", required=True)
        listing = actions.add_parser("list", help="every destination, and what waits for it")
        listing.add_argument("--json", action="store_true", help="one JSON object a line")
        adding = actions.add_parser("add", help="a new one, which gets the events from now on")
        adding.add_argument("code")
        # The bus is there already; `manage.py webhooks` adds webhooks, which have secrets.
        others = {DestinationKind.BUS, DestinationKind.WEBHOOK}
        kinds = [str(kind) for kind in DestinationKind if kind not in others]
        adding.add_argument("--kind", required=True, choices=kinds)
        adding.add_argument("--tenant", default="", help="only this merchant's events")
        adding.add_argument(
            "--types", nargs="+", default=[], metavar="TYPE", help="only these: order.paid, order.*"
        )
        adding.add_argument("--config", type=_config, default={}, help="a JSON object")
        adding.add_argument(
            "--from", dest="since", type=_moment, metavar="TIME",
            help="also the events that happened since: 2026-03-01T00:00:00Z",
        )  # fmt: skip
        filling = actions.add_parser("fill", help="what `add --from` does, if that was interrupted")
        filling.add_argument("code")
        filling.add_argument("--from", dest="since", type=_moment, metavar="TIME", required=True)
        for name, words in (
            ("pause", "let nothing leave for it; its events are kept"),
            ("disable", "the same, for one that is not expected to come back"),
        ):
            resting = actions.add_parser(name, help=words)
            resting.add_argument("code")
            resting.add_argument("--reason", required=True, help="for whoever finds it resting")
        actions.add_parser("resume", help="let its events leave again").add_argument("code")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            self.act(options)
        except (directory.Refused, Misconfigured) as error:
            raise CommandError(f"Not done: {error}") from error
        except DatabaseError as error:
            raise CommandError(f"Not done, try again: {error}") from error

    def act(self, options: dict[str, Any]) -> None:
        """The action, each with what it needs. Raises Refused, Misconfigured."""
        code = options.get("code", "")
        match options["action"]:
            case "add":
                directory.add(
                    code,
                    DestinationKind(options["kind"]),
                    tenant=options["tenant"],
                    event_types=options["types"],
                    config=options["config"],
                    since=options["since"],
                )
            case "fill":
                directory.fill(code, since=options["since"])
            case "pause":
                directory.pause(code, reason=options["reason"], by=_by())
            case "disable":
                directory.disable(code, reason=options["reason"], by=_by())
            case "resume":
                directory.resume(code, by=_by())
            case _:
                self._list(as_json=options["json"])
                return
        self.stdout.write(f"{code} is {Destination.objects.get(code=code).state}.")

    def _list(self, *, as_json: bool) -> None:
        waiting = Q(dispatches__published_at__isnull=True, dispatches__dead_at__isnull=True)
        rows = Destination.objects.annotate(
            waiting=Count("dispatches", filter=waiting),
            dead=Count("dispatches", filter=Q(dispatches__state=DispatchState.DEAD)),
            oldest=Min("dispatches__created_at", filter=waiting),
        )
        for row in rows.order_by("code"):
            fields = {
                "code": row.code,
                "kind": row.kind,
                "tenant": row.tenant,
                "types": row.event_types,
                "state": row.state,
                "reason": row.reason,
                "waiting": row.waiting,
                "dead": row.dead,
                "oldest": row.oldest.isoformat() if row.oldest else None,
            }
            self.stdout.write(json.dumps(fields) if as_json else _line(fields))


def _line(fields: dict[str, Any]) -> str:
    wants = f"{fields['tenant'] or 'all merchants'}, {' '.join(fields['types']) or 'all types'}"
    line = (
        f"{fields['code']:<23}  {fields['kind']:<12}  {fields['state']:<8}  "
        f"waiting={fields['waiting']} dead={fields['dead']}  {wants}"
    )
    return f"{line}  ({fields['reason']})" if fields["reason"] else line


def _config(text: str) -> dict[str, Any]:
    try:
        config = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise argparse.ArgumentTypeError('must be a JSON object: {"stream": "orders"}')
    return config


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError("must be a time like 2026-03-01T00:00:00Z") from error
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("needs a time zone: 2026-03-01T00:00:00Z")
    return moment


def _by() -> str:
    return f"manage.py, {getpass.getuser()}"
