"""The way from an account to its provider's API."""

from collections.abc import Callable
from datetime import datetime

from django.utils.translation import gettext_noop as _

from payments.accounts import find_endpoint
from payments.clients.choice import Choice, choose
from payments.models import ProviderAccount
from payments.refunds.asking import ClientFor
from payments.saying import says


def client_for(account: ProviderAccount, *, now: datetime) -> Choice:
    """The account's client, or why it has none."""
    endpoint = find_endpoint(account.provider, account.name)
    if endpoint is None:
        return Choice(None, says(_("the account or its merchant is not active")))
    return choose(account.provider, endpoint.account, now=now)


def clients(clock: Callable[[], datetime]) -> ClientFor:
    """The clients of a run, each of its own time: a run takes longer than a signed time is good."""
    return lambda account: client_for(account, now=clock())
