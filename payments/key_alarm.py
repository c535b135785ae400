"""Ask a person about a key that callbacks name and that is not configured.

Anybody may name a key, so there is one question for each key and day, for as many keys as are
remembered of an account, and one a day for all others together.
"""

from datetime import datetime
from typing import Final

from django.db import transaction

from payments import conflicts
from payments.accounts import Endpoint
from payments.models import Conflict, ConflictReason, ConflictStatus, ProviderAccount

#: Stands for the keys that are too many to be remembered.
OTHERS: Final = "(others)"


@transaction.atomic(durable=True)
def ask(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Open the day's question about this key, unless it was asked."""
    known = sorted({f"{key.purpose} {key.key_id}" for key in endpoint.account.keys})
    conflicts.open_conflict(
        conflicts.Case(
            reason=ConflictReason.UNKNOWN_KEY,
            subject=_subject(endpoint.account_id, key_id, now),
            expected={
                "merchant": endpoint.merchant_code,
                "account_no": endpoint.account.account_no,
                "known_keys": ", ".join(known),
            },
            received={"endpoint": endpoint.name, "key_id": key_id},
        ),
        merchant_id=endpoint.merchant_id,
        merchant_code=endpoint.merchant_code,
        now=now,
    )


def _subject(account_id: int, key_id: str, now: datetime) -> str:
    return f"key:{account_id}:{key_id}:{now:%Y-%m-%d}"


def answered(account: ProviderAccount, key_id: str, *, now: datetime) -> None:
    """The key was added: what was asked about it is answered, in the caller's transaction."""
    asked = Conflict.objects.filter(
        reason=ConflictReason.UNKNOWN_KEY,
        subject__startswith=f"key:{account.pk}:",
        received__key_id=key_id,
        status__in=(ConflictStatus.OPEN, ConflictStatus.PROPOSED),
    )
    for subject in asked.order_by("pk").values_list("subject", flat=True):
        conflicts.answered_by_fact(
            ConflictReason.UNKNOWN_KEY,
            subject,
            resolution="the key was added",
            merchant_code=account.merchant.code,
            now=now,
        )
