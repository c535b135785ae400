"""Open accounts at providers, and say whether their payments wait for the provider's API."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from audit import chain
from audit.actors import Actor, command_line
from orders.models import Merchant
from payments import whole
from payments.models import ProviderAccount
from payments.providers.port import Account, Key, Misconfigured, Provider


@transaction.atomic(durable=True)
def open_account(
    *,
    merchant: Merchant,
    provider_name: str,
    name: str,
    account_no: str,
    live: bool,
    settings: dict[str, Any],
    keys: Sequence[Key],
    confirm: bool | None = None,
    by: Actor | None = None,
) -> ProviderAccount:
    """Create an account with its keys; `confirm` None leaves it to the provider's default.

    `by` None: whoever runs this program.

    Raises Misconfigured if the provider refuses the settings or the keys, or a name could
    not be called; IntegrityError if the endpoint or the account exists already.
    """
    provider = whole.known(provider_name)
    whole.check(
        provider,
        Account(account_no=account_no, live=live, settings=settings, keys=tuple(keys)),
    )
    _check_confirm(provider, provider_name, confirm)
    account = ProviderAccount(
        merchant=merchant,
        provider=provider_name,
        name=name,
        account_no=account_no,
        live=live,
        settings=settings,
        confirm=confirm,
    )
    whole.save(account)
    for key in keys:
        whole.save(whole.row(account, key))
    chain.record(
        by=by or command_line(),
        action="account.opened",
        object_type="account",
        object_id=account.endpoint,
        after={
            "merchant": merchant.code,
            "account_no": account_no,
            "live": live,
            "confirm": confirm,
            "keys": [whole.named(key) for key in keys],
        },
    )
    return account


@transaction.atomic(durable=True)
def set_confirm(
    account: ProviderAccount,
    confirm: bool | None,  # noqa: FBT001
    *,
    by: Actor | None = None,
) -> None:
    """Say anew whether payments wait for the provider's API; None is the provider's default.

    Raises Misconfigured where nothing is signed, so that they must wait.
    """
    _check_confirm(whole.known(account.provider), account.provider, confirm)
    before = {"confirm": account.confirm}
    account.confirm = confirm
    account.save(update_fields=["confirm"])
    chain.record(
        by=by or command_line(),
        action="account.changed",
        object_type="account",
        object_id=account.endpoint,
        before=before,
        after={"confirm": confirm},
    )


def _check_confirm(provider: Provider, provider_name: str, confirm: bool | None) -> None:  # noqa: FBT001
    if confirm is False and provider.facts.tier == "hint":
        raise Misconfigured(
            f"{provider_name} signs nothing, so nothing moves before its API has confirmed it"
        )
