"""`manage.py idempotency`: the keys that wait for a person, and what he decides about them."""

import argparse
import json
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from idempotency import by_hand
from idempotency.leased import Finished
from idempotency.lifecycle import Result, ResultTooLarge
from idempotency.models import FINAL_STATUSES, Record, RecordStatus

SHOWN_MAX: Final = 100
#: Which answers of HTTP a decision may be.
_CODES: Final = {
    RecordStatus.SUCCEEDED: range(200, 300),
    RecordStatus.FAILED_FINAL: range(400, 600),
}


class Command(BaseCommand):
    """Show, decide, or have the source of truth asked again."""

    help = "Show the idempotency keys that wait for a person, and decide about one."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One of three things to do."""
        todo = parser.add_subparsers(dest="todo", required=True)
        show = todo.add_parser("show", help="what waits for a person, or one record")
        show.add_argument("record_id", type=int, nargs="?")
        decide = todo.add_parser("decide", help="say what became of the work; every repeat gets it")
        decide.add_argument("record_id", type=int)
        decide.add_argument("status", choices=[status.value for status in FINAL_STATUSES])
        decide.add_argument("--code", type=int, required=True, help="the answer's HTTP status")
        decide.add_argument("--body", default="{}", help="the answer's body, as JSON")
        decide.add_argument("--who", required=True, help="who decides")
        decide.add_argument("--reason", required=True, help="how he knows")
        again = todo.add_parser("ask_again", help="let recovery ask the source of truth again")
        again.add_argument("record_id", type=int)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or complain that nobody waits for a person there."""
        record_id = options["record_id"]
        try:
            match options["todo"]:
                case "show":
                    self._show(record_id)
                case "decide":
                    self._decide(record_id, options)
                case _:
                    by_hand.ask_again(record_id)
                    self.stdout.write(f"Record {record_id} will be recovered within a minute.")
        except by_hand.NotHandedOver as error:
            raise CommandError(f"Record {record_id} does not wait for a person.") from error

    def _show(self, record_id: int | None) -> None:
        if record_id is None:
            found = Record.objects.filter(handed_over_at__isnull=False).order_by("handed_over_at")
        else:
            found = Record.objects.filter(pk=record_id)
        records = list(found[:SHOWN_MAX])
        if record_id is not None and not records:
            raise CommandError(f"There is no record {record_id}.")
        for record in records:
            since = record.handed_over_at
            waits = f"waits since {since:%Y-%m-%d %H:%M:%S %Z}" if since else "waits for nobody"
            what = f"{record.pk}  {record.scope}  {record.idem_key}  {record.status}"
            self.stdout.write(f"{what}  {waits}  {record.reason}")
        if not records:
            self.stdout.write("No key waits for a person.")

    def _decide(self, record_id: int, options: dict[str, Any]) -> None:
        status = RecordStatus(options["status"])
        code = options["code"]
        if code not in _CODES[status]:
            raise CommandError(f"{status} is not answered with {code}.")
        try:
            body = json.dumps(json.loads(options["body"])).encode()
        except ValueError as error:
            raise CommandError(f"The body is not JSON: {error}") from error
        finished = Finished(status, Result(code, body))
        try:
            by_hand.decide(record_id, finished, who=options["who"], why=options["reason"])
        except (by_hand.ReasonTooLong, ResultTooLarge) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Record {record_id} is {status}; every repeat is answered {code}.")
