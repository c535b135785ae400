"""Ask providers about payments, and receive what they answer like a callback.

A reconciliation is a callback that we went to fetch: there is one path for the truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import structlog

from payments.accounts import Endpoint, find_endpoint
from payments.callback import Callback, Kind
from payments.clients.choice import choose
from payments.clients.port import Answer, Client
from payments.deliveries import API_KEY_ID, Intake
from payments.models import ProviderAccount
from payments.providers.port import Assurance, SignedRequest
from payments.receive import Verdict, receive

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """An account whose provider can be asked."""

    endpoint: Endpoint
    client: Client


def reachable(*, now: datetime) -> Mapping[int, Reached]:
    """The accounts that have a client, by their ids."""
    found: dict[int, Reached] = {}
    for provider, name in ProviderAccount.objects.filter(active=True).values_list(
        "provider", "name"
    ):
        endpoint = find_endpoint(provider, name)
        client = endpoint and choose(provider, endpoint.account, now=now).client
        if endpoint and client:
            found[endpoint.account_id] = Reached(endpoint=endpoint, client=client)
    return found


def ask(reached: Reached, *, txn_no: str, order_no: str, now: datetime) -> Answer:
    """Ask for a payment; one that was made is received before this returns.

    Anything but a clear answer is UNKNOWN. Raises OperationalError as `receive` does.
    """
    try:
        said = reached.client.query_payment(txn_no=txn_no, order_no=order_no)
    except Exception as error:  # noqa: BLE001 - a client that breaks has told us nothing
        log.error(  # noqa: TRY400 - a trace would hold values
            "provider's client failed", endpoint=reached.endpoint.name, error=type(error).__name__
        )
        return Answer.UNKNOWN
    callback = said.callback
    if said.answer is not Answer.SUCCEEDED:
        return said.answer
    if callback is None or callback.kind is not Kind.PAID or callback.money is None:
        return Answer.UNKNOWN
    verdict = received(reached.endpoint, callback, raw=said.raw, now=now)
    log.info(
        "payment fetched",
        endpoint=reached.endpoint.name,
        outcome=verdict.outcome,
        reason=verdict.reason,
        order_no=verdict.order_no,
    )
    return Answer.SUCCEEDED


def received(endpoint: Endpoint, answer: Callback, *, raw: bytes, now: datetime) -> Verdict:
    """Receive what the provider's API said, with its raw answer as the evidence."""
    intake = Intake(
        endpoint=endpoint,
        request=SignedRequest(headers=(), body=raw),
        key_id=API_KEY_ID,
        assurance=Assurance.WHOLE,
        from_api=True,
        received_at=now,
    )
    (verdict,) = receive(intake, [answer])
    return verdict
