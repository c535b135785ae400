"""Intents for tests, and work that counts."""

import hashlib
from uuid import UUID

from idempotency.keys import Intent, Scope, intent
from idempotency.lifecycle import Claim, Result
from idempotency.models import Record

CREATED = Result(201, b'{"order_no": "A"}', "A")


def an_intent(
    key: str = "k", meaning: bytes = b"A", tenant: str = "1", operation: str = "place_order"
) -> Intent:
    """An attempt with an owner of its own."""
    digest = hashlib.sha256(meaning).digest()
    return intent(scope=Scope(tenant, operation), key=key, digest=digest)


def the_claim() -> Claim:
    """What the only record says about its owner."""
    record = Record.objects.get()
    return Claim(
        row_id=record.pk,
        owner=UUID(str(record.owner_token)),
        fence=record.fence,
        retry_count=record.retry_count,
    )
