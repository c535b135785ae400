"""Find the account a callback is addressed to, and what verifies it."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from orders.models import Merchant
from payments import vault
from payments.models import AccountKey, ProviderAccount
from payments.providers import registry
from payments.providers.port import Account, Key, Misconfigured, Provider

# One statement for the account and all its keys: this runs for every request, signed or not.
_FIND_SQL: Final = """
    SELECT a.id, a.merchant_id, m.code, a.account_no, a.live, a.settings, a.confirm,
           k.key_id, k.purpose, k.material, k.not_before, k.not_after
      FROM payments_provideraccount a
      JOIN orders_merchant m ON m.id = a.merchant_id
      LEFT JOIN payments_accountkey k ON k.account_id = a.id
     WHERE a.provider = %s AND a.name = %s AND a.active AND m.active
  ORDER BY k.id DESC
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that callbacks come to: the account behind it and how to read its provider."""

    account_id: int
    merchant_id: int
    merchant_code: str
    name: str
    provider: Provider
    account: Account
    confirm: bool


def find_endpoint(provider_name: str, name: str) -> Endpoint | None:
    """The active account at this address, or None.

    The newest key comes first. Raises OperationalError when the database is away.
    """
    # Asked also for a provider that does not exist: addresses cannot be told apart by time.
    with connection.cursor() as cursor:
        cursor.execute(_FIND_SQL, [provider_name, name])
        rows = cursor.fetchall()
    provider = registry.find(provider_name)
    if provider is None or not rows:
        return None
    account_id, merchant_id, merchant_code, account_no, live, settings, confirm = rows[0][:7]
    return Endpoint(
        account_id=account_id,
        merchant_id=merchant_id,
        merchant_code=merchant_code,
        name=f"{provider_name}/{name}",
        provider=provider,
        confirm=provider.confirmation_by_default if confirm is None else confirm,
        account=Account(
            account_no=account_no,
            live=live,
            settings=_decoded(settings),
            keys=tuple(_key(row[7:]) for row in rows if row[7] is not None),
        ),
    )


@transaction.atomic(durable=True)
def open_account(
    *,
    merchant: Merchant,
    provider_name: str,
    name: str,
    account_no: str,
    live: bool,
    settings: dict[str, Any],
    secret: bytes,
    key_id: str,
) -> ProviderAccount:
    """Create an account with its first key.

    Raises Misconfigured if the provider refuses the settings or the secret, or a name could
    not be called; IntegrityError if the endpoint or the account exists already.
    """
    provider = registry.find(provider_name)
    if provider is None:
        known = ", ".join(registry.names())
        raise Misconfigured(f"unknown provider {provider_name!r}; known are: {known}")
    key = Key(key_id=key_id, purpose="signature", material=secret)
    provider.check_settings(
        Account(account_no=account_no, live=live, settings=settings, keys=(key,))
    )
    account = ProviderAccount(
        merchant=merchant,
        provider=provider_name,
        name=name,
        account_no=account_no,
        live=live,
        settings=settings,
    )
    _save(account)
    _save(AccountKey(account=account, key_id=key_id, material=vault.seal(secret)))
    return account


def add_key(
    account: ProviderAccount,
    *,
    key_id: str,
    secret: bytes,
    not_before: datetime | None = None,
    not_after: datetime | None = None,
) -> AccountKey:
    """Give an account one more key, so that secrets can be rotated without a gap.

    Raises Misconfigured if the provider refuses the secret.
    """
    provider = registry.find(account.provider)
    if provider is None:
        raise Misconfigured(f"unknown provider {account.provider!r}")
    key = Key(key_id=key_id, purpose="signature", material=secret)
    provider.check_settings(
        Account(
            account_no=account.account_no,
            live=account.live,
            settings=account.settings,
            keys=(key,),
        )
    )
    added = AccountKey(
        account=account,
        key_id=key_id,
        material=vault.seal(secret),
        not_before=not_before,
        not_after=not_after,
    )
    _save(added)
    return added


def _save(row: ProviderAccount | AccountKey) -> None:
    try:
        # What is unique is decided by the insert.
        row.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        problems = [f"{name}: {' '.join(words)}" for name, words in error.message_dict.items()]
        raise Misconfigured(" ".join(problems)) from error
    row.save(force_insert=True)


def _key(columns: tuple[Any, ...]) -> Key:
    key_id, purpose, material, not_before, not_after = columns
    return Key(
        key_id=key_id,
        purpose=purpose,
        material=vault.unseal(bytes(material)),
        not_before=not_before,
        not_after=not_after,
    )


def _decoded(settings: Any) -> dict[str, Any]:
    # Django's cursors leave jsonb as text.
    decoded: dict[str, Any] = json.loads(settings)
    return decoded
