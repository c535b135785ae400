"""How an account's keys are used: which still verify, and which may be retired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from payments.models import AccountKey, ProviderAccount
from payments.providers.api_access import API_PURPOSES

#: Longer than almost every provider repeats a callback with the key it first signed it with.
QUIET_FOR: Final = timedelta(days=7)
#: Adyen repeats for up to thirty days.
QUIET_FOR_PROVIDER: Final = {"adyen": timedelta(days=31)}


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One key, and what may be said of it now."""

    key: AccountKey
    advice: str


def report(account: ProviderAccount, *, now: datetime) -> list[KeyLine]:
    """The account's keys, newest first for each purpose, each with one sentence of advice."""
    keys = list(account.keys.order_by("purpose", "-id"))
    return [KeyLine(key, advice(key, keys, now=now)) for key in keys]


def advice(key: AccountKey, keys: Sequence[AccountKey], *, now: datetime) -> str:
    """What may be said of a key now, in one sentence; `keys` are all of its account."""
    if key.not_after is not None and key.not_after < now:
        return _("ended")
    if key.not_before is not None and key.not_before > now:
        return _("begins later")
    if key.purpose in API_PURPOSES:
        return _advice_on_api_key(key, keys, now)
    newer = [other for other in keys if other.purpose == key.purpose and other.pk > key.pk]
    if newer:
        return _advice_on_old(key, newer, now)
    return _("in use") if key.last_used_at else _("has verified nothing yet")


def _advice_on_api_key(key: AccountKey, keys: Sequence[AccountKey], now: datetime) -> str:
    """It verifies nothing: of those that are valid, the newest is used."""
    newer = [
        other
        for other in keys
        if other.purpose == key.purpose
        and other.pk > key.pk
        and (other.not_before is None or other.not_before <= now)
        and (other.not_after is None or now <= other.not_after)
    ]
    return _("safe to retire: a newer key is used") if newer else _("used for the provider's API")


def _advice_on_old(key: AccountKey, newer: Sequence[AccountKey], now: datetime) -> str:
    if not any(other.last_used_at for other in newer):
        return _("keep: no newer key has verified anything yet")
    quiet_for = QUIET_FOR_PROVIDER.get(key.account.provider, QUIET_FOR)
    if key.last_used_at is not None and now - key.last_used_at < quiet_for:
        return _("keep: used within the last %(days)s days") % {"days": quiet_for.days}
    if min(other.created_at for other in newer) > now - quiet_for:
        return _("keep: the newer key is not %(days)s days old") % {"days": quiet_for.days}
    return _("safe to retire")
