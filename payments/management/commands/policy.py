"""See, try out and change what rules decide about a merchant's conflicts.

    manage.py policy show shop
    manage.py policy try shop --rules rules.json [--days 30]      reads only
    manage.py policy propose shop --rules rules.json --as alice --why ".."
    manage.py policy approve shop --as bob
    manage.py policy decline shop --as bob --why ".."             (or the proposer himself)

The rules are JSON: docs/conflicts.md. A version that moves money where the one before did not
counts when a second person has approved it.
"""

import argparse
import json
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from orders.models import Merchant
from payments.conflicts.facts import shown
from payments.conflicts.refusals import Refused
from payments.management.people_arguments import add_who_argument, who
from payments.models import ConflictPolicy, PolicyStatus
from payments.policies import changing, document
from payments.policies.dry_run import dry_run

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""
DAYS_MAX: Final = 400


class Command(BaseCommand):
    """`manage.py policy`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        what = parser.add_subparsers(dest="what", required=True)
        for name in ("show", "try", "propose", "approve", "decline"):
            what.add_parser(name).add_argument("merchant", help="the merchant's code")
        for name in ("try", "propose"):
            what.choices[name].add_argument("--rules", type=Path, required=True)
        what.choices["try"].add_argument("--days", type=int, default=30)
        for name in ("propose", "approve", "decline"):
            add_who_argument(what.choices[name])
        for name in ("propose", "decline"):
            what.choices[name].add_argument("--why", required=True, help="the reason")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say why not; nothing has changed then."""
        merchant = Merchant.objects.filter(code=options["merchant"]).first()
        if merchant is None:
            raise CommandError(f"There is no merchant {options['merchant']!r}.")
        work = getattr(self, f"_{options['what']}")
        try:
            work(merchant, options)
        except (Refused, document.BadPolicy) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _show(self, merchant: Merchant, _: dict[str, Any]) -> None:
        rows = ConflictPolicy.objects.filter(merchant=merchant).order_by("-version")
        for row in rows.select_related("proposed_by", "decided_by")[:20]:
            by = f", {row.decided_by} decided" if row.decided_by else ""
            self.stdout.write(f"{row.version} {row.status}: {row.proposed_by} proposed{by}")
            self.stdout.write(f"  {json.dumps(row.rules, sort_keys=True)}\n  {row.why}")
        if not rows:
            self.stdout.write("No policy: people decide everything, two of them above 0.")

    def _try(self, merchant: Merchant, options: dict[str, Any]) -> None:
        days = options["days"]
        if not 0 < days <= DAYS_MAX:
            raise CommandError(f"--days must be from 1 to {DAYS_MAX}.")
        wanted = document.read(_document(options["rules"]))
        found = dry_run(merchant, wanted, now=timezone.now(), since=timedelta(days=days))
        for line in found.lines:
            money = shown(line.amount_minor, line.currency)
            self.stdout.write(
                f"{line.conflict_id:>6}  {line.opened_at:%Y-%m-%d %H:%M}  {line.reason:20}  "
                f"{line.how:16}  {money}"
            )
        for (how, currency), total in sorted(found.sums.items()):
            money = shown(total.amount_minor, currency)
            self.stdout.write(f"{how}: {total.number} conflicts, {money}")
        self.stdout.write(
            f"Of {found.looked_at} conflicts in {days} days it would have decided {found.decided}; "
            f"a person would have been asked about {found.asked}."
        )

    def _propose(self, merchant: Merchant, options: dict[str, Any]) -> None:
        policy = changing.propose(
            merchant,
            _document(options["rules"]),
            why=options["why"],
            person=who(options),
            now=timezone.now(),
        )
        self._say(policy)

    def _approve(self, merchant: Merchant, options: dict[str, Any]) -> None:
        waiting = _waiting(merchant)
        self._say(changing.approve(waiting.pk, person=who(options), now=timezone.now()))

    def _decline(self, merchant: Merchant, options: dict[str, Any]) -> None:
        waiting = _waiting(merchant)
        why = options["why"]
        self._say(changing.decline(waiting.pk, why=why, person=who(options), now=timezone.now()))

    def _say(self, policy: ConflictPolicy) -> None:
        more = "; a second person must approve it" if policy.status == "PROPOSED" else ""
        self.stdout.write(f"Version {policy.version} is {policy.status}{more}.")


def _waiting(merchant: Merchant) -> ConflictPolicy:
    found = ConflictPolicy.objects.filter(merchant=merchant, status=PolicyStatus.PROPOSED).first()
    if found is None:
        raise CommandError(f"No policy of {merchant} waits for approval.")
    return found


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}") from error
