"""Show when each key last verified something, which may be retired, and which unknown keys came."""

from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from payments.key_report import report
from payments.models import ProviderAccount

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py keys [ENDPOINT]`."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("endpoint", nargs="?", help="<provider>/<name>; all if left out")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a block for each account."""
        accounts = ProviderAccount.objects.order_by("provider", "name")
        if options["endpoint"]:
            provider, _, name = options["endpoint"].partition("/")
            accounts = accounts.filter(provider=provider, name=name)
            if not accounts:
                raise CommandError(f"There is no account {options['endpoint']!r}.")
        for account in accounts.prefetch_related("sightings"):
            self._show(account)

    def _show(self, account: ProviderAccount) -> None:
        self.stdout.write(f"{account} ({'live' if account.live else 'test'})")
        for line in report(account, now=timezone.now()):
            used = line.key.last_used_at
            when = f"last used {used:%Y-%m-%d %H:%M} UTC" if used else "never used"
            end = line.key.not_after
            until = f"until {end:%Y-%m-%d %H:%M} UTC; " if end else ""
            self.stdout.write(
                f"  {line.key.purpose:12} {line.key.key_id:24} {when:32} {until}{line.advice}"
            )
        for sighting in account.sightings.order_by("-last_seen_at"):
            self.stdout.write(
                f"  unknown key  {sighting.key_id:24} named {sighting.count} times, last "
                f"{sighting.last_seen_at:%Y-%m-%d %H:%M} UTC: add it if it is the provider's"
            )
