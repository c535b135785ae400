"""The record of every authentic delivery: raw bytes, what was read, and what became of it."""

import hashlib
import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from django.db import connection

from payments.accounts import Endpoint
from payments.callback import Callback, Outcome, Reading
from payments.providers.port import Assurance, SignedRequest

#: Headers that are no evidence of what the provider said, and may carry somebody's secrets.
HEADERS_NOT_KEPT: Final = frozenset(
    {"authorization", "cookie", "proxy-authorization", "forwarded", "connection", "accept"}
)
HEADERS_KEPT_MAX: Final = 40
HEADER_LENGTH_MAX: Final = 4096
#: Of all together: where nothing is signed, a stranger chooses what is kept.
HEADERS_LENGTH_MAX: Final = 16 * 1024
DETAIL_LENGTH_MAX: Final = 300
#: What stands for the key where we asked the provider ourselves.
API_KEY_ID: Final = "api"

_INSERT_SQL: Final = """
    INSERT INTO payments_delivery
           (account_id, merchant_id, batch_id, item_no, body, body_sha256, headers, key_id,
            assurance, event_id, event_type, kind, txn_no, order_no, linked_nos, transaction_id,
            outcome, reason, detail, received_at, replay_of_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s::jsonb, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
            %s)
 RETURNING id
"""


@dataclass(frozen=True, kw_only=True)
class Intake:
    """An authentic request, as it arrived at an endpoint; `batch_id` is new for each.

    `from_api` says that we fetched it from the provider's API: then it confirms itself.
    `replay_of` is the first delivery of a stored request that is taken once more.
    """

    endpoint: Endpoint
    request: SignedRequest
    key_id: str
    received_at: datetime
    assurance: Assurance = Assurance.WHOLE
    from_api: bool = False
    replay_of: int | None = None
    batch_id: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def is_confirmed(self) -> bool:
        """Whether what it says may move money; where nothing vouches, no setting can make it so."""
        vouched = self.assurance is not Assurance.NONE and not self.endpoint.confirm
        return self.from_api or vouched

    @cached_property
    def body_sha256(self) -> bytes:
        """The digest of the raw bytes."""
        return hashlib.sha256(self.request.body).digest()

    @cached_property
    def kept_headers(self) -> str:
        """The headers worth keeping, as JSON pairs in the order they came."""
        secrets = {key.material for key in self.endpoint.account.keys}
        return json.dumps(_kept(self.request.headers, secrets))


def record(
    intake: Intake,
    item_no: int,
    reading: Reading,
    *,
    outcome: Outcome,
    reason: str = "",
    transaction_id: int | None = None,
) -> int:
    """Write one delivery, and return its id.

    Repeats write too: an answer without a write could be given by a server that has lost, or
    will lose, the first one.
    """
    callback = reading if isinstance(reading, Callback) else None
    detail = "" if callback else reading.why[:DETAIL_LENGTH_MAX]  # type: ignore[union-attr]
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                intake.endpoint.account_id,
                intake.endpoint.merchant_id,
                intake.batch_id,
                item_no,
                intake.request.body if item_no == 0 else None,
                intake.body_sha256,
                intake.kept_headers,
                intake.key_id,
                intake.assurance,
                reading.event_id,
                callback.event_type if callback else "",
                callback.kind if callback else "",
                callback.txn_no if callback else "",
                (callback.order_no or "") if callback else "",
                list(callback.linked_nos) if callback else [],
                transaction_id,
                outcome,
                reason,
                detail,
                intake.received_at,
                intake.replay_of,
            ],
        )
        row = cursor.fetchone()
    assert row is not None  # noqa: S101 - INSERT .. RETURNING gives a row or raises
    return int(row[0])


def _kept(headers: Sequence[tuple[str, str]], secrets: Collection[bytes]) -> list[tuple[str, str]]:
    kept, room = [], HEADERS_LENGTH_MAX
    for name, value in headers:
        # Some providers send the secret itself; it is at rest in the vault only.
        if name in HEADERS_NOT_KEPT or value.encode(errors="replace") in secrets:
            continue
        kept.append((name, value[:HEADER_LENGTH_MAX].replace("\0", "\ufffd")))
        room -= len(name) + len(kept[-1][1])
        if room < 0 or len(kept) > HEADERS_KEPT_MAX:
            return kept[:-1]
    return kept
