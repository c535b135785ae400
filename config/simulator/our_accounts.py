"""The accounts that the service has at the simulator, as they are in the database now."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.db import Error, connection

from config.simulator.accounts import Account
from payments.accounts import stored_key
from payments.models import ProviderAccount
from payments.providers.api_access import API_PURPOSE
from payments.providers.hmac_verify import KEY_PURPOSE

PROVIDER: Final = "simulator"


class OurAccounts:
    """Reads them again each time; while the database is away they are what they were."""

    def __init__(self, service_url: str, clock: Callable[[], datetime]) -> None:
        self._service_url = service_url.rstrip("/")
        self._clock = clock
        self._known: Sequence[Account] = ()

    def __call__(self) -> Sequence[Account]:
        """All active accounts in test mode."""
        try:
            self._known = self._read(self._clock())
        except Error:
            pass
        finally:
            connection.close()  # each request has a thread of its own
        return self._known

    def _read(self, now: datetime) -> list[Account]:
        rows = ProviderAccount.objects.filter(provider=PROVIDER, active=True, live=False)
        found = []
        for row in rows.prefetch_related("keys").order_by("pk"):
            ring = [stored_key(key) for key in sorted(row.keys.all(), key=lambda key: -key.pk)]
            valid = [key for key in ring if key.valid_at(now)]
            signing = [key.material for key in valid if key.purpose == KEY_PURPOSE]
            if signing:
                found.append(
                    Account(
                        account_no=row.account_no,
                        name=row.name,
                        callback_url=f"{self._service_url}/callbacks/{row.endpoint}",
                        signing_secret=signing[0],
                        api_keys=tuple(key.material for key in valid if key.purpose == API_PURPOSE),
                    )
                )
        return found
