"""The way from an account to its provider's API."""

from datetime import datetime

from payments.accounts import find_endpoint
from payments.clients.choice import Choice, choose
from payments.models import ProviderAccount


def client_for(account: ProviderAccount, *, now: datetime) -> Choice:
    """The account's client, or why it has none."""
    endpoint = find_endpoint(account.provider, account.name)
    if endpoint is None:
        return Choice(None, "the account or its merchant is not active")
    return choose(account.provider, endpoint.account, now=now)
