"""Give keys to accounts, and end their validity."""

from datetime import datetime

from django.db import transaction

from audit import chain
from audit.actors import Actor, command_line
from payments import key_alarm, whole
from payments.accounts import stored_key
from payments.models import AccountKey, ProviderAccount
from payments.providers.port import Account, Key


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
    whole.check(
        whole.known(account.provider),
        Account(
            account_no=account.account_no,
            live=account.live,
            settings=account.settings,
            keys=(key, *ring),
        ),
    )
    added = whole.row(account, key)
    whole.save(added)
    key_alarm.answered(account, key.key_id, now=now)
    chain.record(
        by=by or command_line(),
        action="key.added",
        object_type="account",
        object_id=account.endpoint,
        after={"key": whole.named(key), "not_before": key.not_before, "not_after": key.not_after},
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
