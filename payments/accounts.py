"""Find the account a callback is addressed to, and what verifies it."""

import json
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from payments import vault
from payments.models import AccountKey
from payments.providers import registry
from payments.providers.port import Account, Key, Provider

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


def stored_key(row: AccountKey) -> Key:
    """The key in a row. Raises Undecryptable."""
    return _key((row.key_id, row.purpose, row.material, row.not_before, row.not_after))


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
