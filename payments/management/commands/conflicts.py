"""Decide conflicts from the command line, by the same functions as the console.

    manage.py conflicts list [--merchant CODE] [--reason REASON]
    manage.py conflicts show 17 [--order OTHER_NO]
    manage.py conflicts resolve 17 refund --as alice --seen DIGEST --why "the payer asked"
    manage.py conflicts approve 17 --as bob --digest DIGEST
    manage.py conflicts reject 17 --as bob --why ".."      (withdraw: the proposer himself)
    manage.py conflicts ask 17 --as alice

`show` prints what may be done, and two digests: of the state, and of a proposal that waits.
Above the merchant's amount `resolve` proposes; somebody else approves exactly that.
"""

import argparse
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from payments.conflicts import ask, four_eyes, resolve, seen
from payments.conflicts.checking import Wanted
from payments.conflicts.lifecycle import UNDECIDED
from payments.conflicts.options import options as fitting
from payments.conflicts.refusals import NeedsTwoPeople, Refused
from payments.conflicts.seen import Held, NoSuchConflict
from payments.management.people_arguments import add_who_argument, who
from payments.models import (
    Conflict,
    ConflictReason,
    Proposal,
    ProposalStatus,
    Resolution,
)
from payments.refunds.access import clients

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""
LIST_MAX: Final = 100


class Command(BaseCommand):
    """`manage.py conflicts`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        what = parser.add_subparsers(dest="what", required=True)
        listed = what.add_parser("list")
        listed.add_argument("--merchant")
        listed.add_argument("--reason", type=str.upper, choices=ConflictReason.values)
        shown = what.add_parser("show")
        shown.add_argument("conflict_id", type=int)
        shown.add_argument("--order", default="", help="another order, to match the payment to")
        resolved = what.add_parser("resolve")
        resolved.add_argument("conflict_id", type=int)
        resolved.add_argument("how", type=_how, help=", ".join(Resolution.values).lower())
        resolved.add_argument("--order", default="", help="the order to match to")
        resolved.add_argument("--seen", required=True, help="the state's digest, as `show` has it")
        for name in ("approve", "reject", "withdraw", "ask"):
            what.add_parser(name).add_argument("conflict_id", type=int)
        approved = what.choices["approve"]
        approved.add_argument("--digest", required=True, help="the proposal's, as `show` has it")
        for name in ("resolve", "approve", "reject", "withdraw", "ask"):
            add_who_argument(what.choices[name])
        for name in ("resolve", "reject", "withdraw"):
            what.choices[name].add_argument("--why", default="", help="the reason, in a sentence")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say why not; nothing has changed then."""
        work = getattr(self, f"_{options['what']}")
        try:
            work(options)
        except (Refused, NoSuchConflict) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _list(self, options: dict[str, Any]) -> None:
        rows = Conflict.objects.select_related("merchant").filter(status__in=UNDECIDED)
        if options["merchant"]:
            rows = rows.filter(merchant__code=options["merchant"])
        if options["reason"]:
            rows = rows.filter(reason=options["reason"])
        for row in rows.order_by("due_at", "id")[:LIST_MAX]:
            self.stdout.write(
                f"{row.pk:>6}  {row.status:8}  {row.reason:24}  {row.merchant.code:12}  "
                f"due {row.due_at:%Y-%m-%d %H:%M}  {row.received.get('order_no') or ''}"
            )

    def _show(self, options: dict[str, Any]) -> None:
        held = seen.look(options["conflict_id"], target_no=options["order"])
        conflict = held.conflict
        self.stdout.write(f"Conflict {conflict.pk}: {conflict.reason}, {conflict.status}")
        for name, value in held.seen.values.items():
            self.stdout.write(f"  {name:34} {'' if value is None else value!s:.100}")
        self.stdout.write(f"Seen: {held.seen.digest}")
        for choice in fitting(held.facts):
            more = " (--order)" if choice.needs_order_no else ""
            self.stdout.write(f"  {choice.resolution.lower():16}{more} {choice.consequence}")
        waiting = _waiting(conflict.pk)
        if waiting is not None:
            self.stdout.write(
                f"{waiting.proposed_by} proposes until {waiting.expires_at:%Y-%m-%d %H:%M} UTC: "
                f"{waiting.consequence}\nWhy: {waiting.why}\nDigest: {waiting.digest}"
            )
        if conflict.resolution:
            self.stdout.write(f"{conflict.decided_as}: {conflict.resolution}. {conflict.why}")

    def _resolve(self, options: dict[str, Any]) -> None:
        wanted = Wanted(how=options["how"], why=options["why"], order_no=options["order"])
        now, conflict_id = timezone.now(), options["conflict_id"]
        held = _as_seen(conflict_id, options)
        person = who(options)
        try:
            done = resolve.resolve(
                conflict_id,
                wanted,
                seen=held.seen,
                person=person,
                client_for=clients(timezone.now),
                now=now,
            )
        except NeedsTwoPeople as needed:
            proposal = four_eyes.propose(
                conflict_id, wanted, seen=held.seen, person=person, now=now
            )
            self.stdout.write(f"{needed} Proposed: {proposal.consequence}")
            return
        self.stdout.write(f"Conflict {conflict_id} is decided: {done.conflict.resolution}.")

    def _approve(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        done = four_eyes.approve(
            _must_wait(options["conflict_id"]).pk,
            digest=options["digest"],
            person=who(options),
            client_for=clients(timezone.now),
            now=now,
        )
        self.stdout.write(f"Conflict {done.conflict.pk} is decided: {done.conflict.resolution}.")

    def _reject(self, options: dict[str, Any]) -> None:
        self._decline(four_eyes.reject, options)

    def _withdraw(self, options: dict[str, Any]) -> None:
        self._decline(four_eyes.withdraw, options)

    def _decline(self, decline: Any, options: dict[str, Any]) -> None:
        waiting = _must_wait(options["conflict_id"])
        decline(waiting.pk, why=options["why"], person=who(options), now=timezone.now())
        self.stdout.write(f"Conflict {options['conflict_id']} is open again.")

    def _ask(self, options: dict[str, Any]) -> None:
        answer = ask.ask(options["conflict_id"], person=who(options), now=timezone.now())
        self.stdout.write(f"The provider says: {answer}. See `show` for what it changed.")


def _as_seen(conflict_id: int, options: dict[str, Any]) -> Held:
    """The conflict, if it is still as `show` printed it: a digest cannot say what has moved."""
    held = seen.look(conflict_id, target_no=options["order"])
    if held.conflict.status in UNDECIDED and held.seen.digest != options["seen"]:
        raise CommandError("It has moved since: `show` it again, with the same --order.")
    return held


def _waiting(conflict_id: int) -> Proposal | None:
    rows = Proposal.objects.select_related("proposed_by")
    return rows.filter(conflict_id=conflict_id, status=ProposalStatus.PENDING).first()


def _must_wait(conflict_id: int) -> Proposal:
    waiting = _waiting(conflict_id)
    if waiting is None:
        raise CommandError(f"No proposal about conflict {conflict_id} waits.")
    return waiting


def _how(text: str) -> Resolution:
    try:
        return Resolution(text.upper().replace("-", "_"))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be one of: {', '.join(Resolution)}") from error
