"""Open accounts at providers, and give them keys: the whole of it must be able to work."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from audit import chain
from audit.actors import Actor, command_line
from orders.models import Merchant
from payments import key_alarm, vault
from payments.accounts import stored_key
from payments.models import AccountKey, ProviderAccount
from payments.providers import registry
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
    provider = _known(provider_name)
    _check(
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
    _save(account)
    for key in keys:
        _save(_row(account, key))
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
            "keys": [_named(key) for key in keys],
        },
    )
    return account


@transaction.atomic(durable=True)
def add_key(
    account: ProviderAccount, key: Key, *, now: datetime, by: Actor | None = None
) -> AccountKey:
    """Give an account one more key, so that secrets can be rotated without a gap.

    What was asked about a key of this id, because callbacks named it, is answered by it.

    Raises Misconfigured if the provider refuses the keys that the account then has, and
    IntegrityError if it has this one already.
    """
    ring = [stored_key(row) for row in account.keys.order_by("-id")]
    _check(
        _known(account.provider),
        Account(
            account_no=account.account_no,
            live=account.live,
            settings=account.settings,
            keys=(key, *ring),
        ),
    )
    added = _row(account, key)
    _save(added)
    key_alarm.answered(account, key.key_id, now=now)
    chain.record(
        by=by or command_line(),
        action="key.added",
        object_type="account",
        object_id=account.endpoint,
        after={"key": _named(key), "not_before": key.not_before, "not_after": key.not_after},
    )
    return added


@transaction.atomic(durable=True)
def retire_key(
    account: ProviderAccount,
    key_id: str,
    *,
    purpose: str = "",
    not_after: datetime,
    by: Actor | None = None,
) -> int:
    """End the validity of the account's keys of that name; how many there are."""
    keys = account.keys.filter(key_id=key_id)
    if purpose:
        keys = keys.filter(purpose=purpose)
    ends = list(keys.values_list("not_after", flat=True))
    if keys.update(not_after=not_after):
        chain.record(
            by=by or command_line(),
            action="key.retired",
            object_type="account",
            object_id=account.endpoint,
            before={"key": f"{purpose or 'any'}:{key_id}", "not_after": ends},
            after={"not_after": not_after},
        )
    return len(ends)


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
    _check_confirm(_known(account.provider), account.provider, confirm)
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


def _named(key: Key) -> str:
    """A key without what is secret in it."""
    return f"{key.purpose}:{key.key_id}"


def _known(provider_name: str) -> Provider:
    provider = registry.find(provider_name)
    if provider is None:
        known = ", ".join(registry.names())
        raise Misconfigured(f"unknown provider {provider_name!r}; known are: {known}")
    return provider


def _check(provider: Provider, account: Account) -> None:
    """Refuse what could not work as a whole: an odd key would silently verify nothing."""
    facts = {fact.purpose: fact for fact in (*provider.facts.keys, *provider.facts.api_keys)}
    given = {key.purpose for key in account.keys}
    for purpose in sorted(given - facts.keys()):
        known = ", ".join(facts) or "none"
        raise Misconfigured(f"this provider has no keys with purpose {purpose!r}; it has: {known}")
    for purpose, fact in facts.items():
        if fact.needed and purpose not in given:
            raise Misconfigured(f"a key with purpose {purpose} is missing: {fact.what}")
    provider.check_settings(account)


def _check_confirm(provider: Provider, provider_name: str, confirm: bool | None) -> None:  # noqa: FBT001
    if confirm is False and provider.facts.tier == "hint":
        raise Misconfigured(
            f"{provider_name} signs nothing, so nothing moves before its API has confirmed it"
        )


def _row(account: ProviderAccount, key: Key) -> AccountKey:
    return AccountKey(
        account=account,
        purpose=key.purpose,
        key_id=key.key_id,
        material=vault.seal(key.material),
        not_before=key.not_before,
        not_after=key.not_after,
    )


def _save(row: ProviderAccount | AccountKey) -> None:
    try:
        # What is unique is decided by the insert.
        row.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        problems = [f"{name}: {' '.join(words)}" for name, words in error.message_dict.items()]
        raise Misconfigured(" ".join(problems)) from error
    row.save(force_insert=True)
