"""Ask providers about payments, and receive what they answer like a callback.

A reconciliation is a callback that we went to fetch: there is one path for the truth.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from payments.accounts import Endpoint, find_endpoint
from payments.callback import Callback, Kind
from payments.clients.choice import EVERY_WAY, choose
from payments.clients.port import Answer, Client, FoundBy, PaymentAnswer
from payments.deliveries import API_KEY_ID, Intake
from payments.models import ProviderAccount
from payments.providers.port import Assurance, SignedRequest
from payments.receive import Verdict, receive

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """An account whose provider can be asked; `found_by` says how.

    `client` makes one for each question: a run may take longer than a signed time stays good.
    """

    endpoint: Endpoint
    client: Callable[[], Client | None]
    found_by: frozenset[FoundBy] = EVERY_WAY


#: The accounts whose providers can be asked, by their ids.
Reachable = Mapping[int, Reached]


def reachable(*, clock: Callable[[], datetime]) -> Reachable:
    """The accounts whose provider answers questions about payments."""
    found: dict[int, Reached] = {}
    for provider, name in ProviderAccount.objects.filter(active=True).values_list(
        "provider", "name"
    ):
        endpoint = find_endpoint(provider, name)
        if endpoint is None:
            continue
        choice = choose(provider, endpoint.account, now=clock())
        if choice.client and choice.found_by:
            found[endpoint.account_id] = Reached(
                endpoint=endpoint,
                client=partial(_client, provider, endpoint, clock),
                found_by=choice.found_by,
            )
    return found


def finding(reachable: Reachable, by: FoundBy) -> Reachable:
    """Those that find payments that way."""
    return {key: reached for key, reached in reachable.items() if by in reached.found_by}


def _client(provider: str, endpoint: Endpoint, clock: Callable[[], datetime]) -> Client | None:
    return choose(provider, endpoint.account, now=clock()).client


def ask(reached: Reached, *, txn_no: str, order_no: str, now: datetime) -> PaymentAnswer:
    """Ask for a payment; one that was made is received before this returns.

    Anything but a clear answer is UNKNOWN. Raises OperationalError as `receive` does.
    """
    try:
        client = reached.client()
        if client is None:
            return PaymentAnswer(answer=Answer.UNKNOWN, why="there is no client any more")
        said = client.query_payment(txn_no=txn_no, order_no=order_no)
    except Exception as error:  # noqa: BLE001 - a client that breaks has told us nothing
        log.error(  # noqa: TRY400 - a trace would hold values
            "provider's client failed", endpoint=reached.endpoint.name, error=type(error).__name__
        )
        return PaymentAnswer(answer=Answer.UNKNOWN, why=f"client failed: {type(error).__name__}")
    callback = said.callback
    if said.answer is not Answer.SUCCEEDED:
        return said
    if callback is None or callback.kind is not Kind.PAID or callback.money is None:
        return replace(said, answer=Answer.UNKNOWN, why="it states no payment")
    verdict = received(reached.endpoint, callback, raw=said.raw, now=now)
    log.info(
        "payment fetched",
        endpoint=reached.endpoint.name,
        outcome=verdict.outcome,
        reason=verdict.reason,
        order_no=verdict.order_no,
    )
    return said


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
