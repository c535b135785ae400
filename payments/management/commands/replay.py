r"""Take stored deliveries once more: first see what would change, then let exactly that happen.

    manage.py replay --account stripe/main --outcome QUARANTINED --from 2026-11-01T00:00:00Z
    manage.py replay --account stripe/main --outcome QUARANTINED --from 2026-11-01T00:00:00Z \
        --apply 3f0c9a.. --as anna --why "the account was in the wrong mode"

Without --apply nothing changes. What has come to mean something else since is left alone and named.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet
from django.utils import timezone

from audit import chain
from audit.actors import Actor
from payments import replay
from payments.callback import Outcome
from payments.conflicts.people import must_hold
from payments.conflicts.refusals import NotAllowed
from payments.management.people_arguments import who
from payments.models import Delivery
from payments.replayed import Replayed, Result
from payments.roles import REPLAY

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""
PAGE: Final = 500


class Command(BaseCommand):
    """`manage.py replay`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Which deliveries, and what to do."""
        parser.add_argument("ids", nargs="*", type=int, metavar="DELIVERY_ID")
        parser.add_argument("--account", default="", metavar="PROVIDER/NAME")
        parser.add_argument("--outcome", default="", choices=["", *Outcome])
        parser.add_argument("--reason", default="", help="the reason beside the outcome")
        parser.add_argument("--from", dest="since", type=_moment, help="received then or later")
        parser.add_argument("--to", dest="until", type=_moment, help="received before")
        parser.add_argument("--apply", default="", metavar="DIGEST", help="what was seen")
        parser.add_argument("--as", dest="who", default="", metavar="USER", help="whose decision")
        parser.add_argument("--why", default="", help="the reason, for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """See, and perhaps do."""
        chosen = _chosen(options)
        by = _by(options) if options["apply"] else None
        seen = self._rehearse(chosen)
        if by is None:
            return
        if _digest(seen) != options["apply"]:
            raise CommandError("By now something else would change; nothing was done. See above.")
        self._apply(seen, by, options)

    def _rehearse(self, chosen: QuerySet[Delivery]) -> dict[int, str]:
        """Tell what would change; of each request that would change something, what was seen."""
        counted: Counter[Result] = Counter()
        seen: dict[int, str] = {}
        for first in _firsts(chosen):
            found = replay.rehearse(first, now=timezone.now())
            counted[found.result] += 1
            if found.result is not Result.NOTHING:
                self._tell(found)
            if found.result is Result.CHANGES:
                seen[first.pk] = found.digest
        self._sum(counted)
        if seen:
            self.stdout.write(f"To let that happen: --apply {_digest(seen)} --as USER --why TEXT")
        return seen

    def _apply(self, seen: dict[int, str], by: Actor, options: dict[str, Any]) -> None:
        counted: Counter[Result] = Counter()
        for pk, digest in seen.items():
            first = Delivery.objects.select_related("account").get(pk=pk)
            found = replay.carry_out(
                first, seen=digest, by=by, why=options["why"], now=timezone.now()
            )
            counted[found.result] += 1
            if found.result is not Result.CHANGES:
                self._tell(found)
        chain.record(
            by=by,
            action="delivery.replays",
            object_type="delivery",
            object_id="many",
            after={"asked": len(seen), **{str(key): n for key, n in counted.items()}},
            why=options["why"],
        )
        self.stdout.write("Done.")
        self._sum(counted)

    def _tell(self, found: Replayed) -> None:
        was = ", ".join(map(str, found.was))
        now = found.why or ", ".join(map(str, found.now))
        told = f"; {', '.join(found.told)}" if found.told else ""
        self.stdout.write(f"{found.first.pk}: {found.result}: was {was}; now {now}{told}")

    def _sum(self, counted: Counter[Result]) -> None:
        numbers = ", ".join(f"{counted[result]} {result}" for result in Result if counted[result])
        self.stdout.write(f"Requests: {numbers or 'none'}")


def _chosen(options: dict[str, Any]) -> QuerySet[Delivery]:
    provider, _, name = options["account"].partition("/")
    wanted = {
        "pk__in": options["ids"],
        "account__provider": provider,
        "account__name": name,
        "outcome": options["outcome"],
        "reason": options["reason"],
        "received_at__gte": options["since"],
        "received_at__lt": options["until"],
    }
    named = {key: value for key, value in wanted.items() if value}
    if not named:
        raise CommandError("Say which deliveries: their ids, an account, an outcome or a time.")
    return Delivery.objects.filter(replay_of=None, **named)


def _firsts(chosen: QuerySet[Delivery]) -> Iterator[Delivery]:
    """Each request once, oldest first, some at a time; what is written meanwhile is not asked."""
    last, before = 0, frozenset[int]()
    while True:
        ids = list(chosen.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:PAGE])
        if not ids:
            return
        found = replay.requests(ids)
        # A request's rows are written together: only neighbours can share one.
        yield from (first for first in found if first.pk not in before)
        last, before = ids[-1], frozenset(first.pk for first in found)


def _digest(seen: dict[int, str]) -> str:
    text = " ".join(f"{pk}:{digest}" for pk, digest in sorted(seen.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _by(options: dict[str, Any]) -> Actor:
    if not options["why"].strip():
        raise CommandError("--apply needs --why: it stays in the audit.")
    person = who(options)
    try:
        must_hold(person, REPLAY)
    except NotAllowed as error:
        raise CommandError(str(error)) from error
    return person.actor


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("say the time zone, as in 2026-11-01T00:00:00Z")
    return moment
