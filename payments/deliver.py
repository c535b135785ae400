"""Deliver one request to an account: is it authentic, what does it say, what becomes of it."""

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Final

import httpx2
import structlog
from django.db import InterfaceError, OperationalError

from payments import certificates, key_use
from payments.accounts import Endpoint
from payments.deliveries import Intake
from payments.held import TooManyHeld
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    CertificateNeeded,
    Key,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    UnknownKey,
    Verdict,
    Verified,
)
from payments.receive import receive

log = structlog.get_logger(__name__)

#: What a former primary says after a failover; Django does not count it as operational.
READ_ONLY: Final = "25006"


def deliver(
    request: SignedRequest,
    endpoint: Endpoint,
    *,
    now: datetime,
    client: httpx2.Client | None = None,
) -> Reply:
    """Take one request, and say what to tell the provider; `client` fetches certificates.

    Raises whatever prevented storing it: OperationalError, CertificateUnavailable and the like;
    the provider is then told to send it again.
    """
    verdict, account = _authenticate(request, endpoint, now, client)
    match verdict:
        case Rejected():
            _log_refusal(request, endpoint, reason=verdict.reason)
            return Reply.REJECTED
        case UnknownKey():
            key_use.sighted(endpoint, verdict.key_id, now=now)
            _log_refusal(request, endpoint, reason="unknown key", key_id=verdict.key_id)
            return Reply.UNKNOWN_KEY
        case CertificateNeeded():
            # It was just fetched: an adapter that asks twice would ask for ever.
            _log_refusal(request, endpoint, reason=Reason.MISCONFIGURED)
            return Reply.REJECTED
        case Verified():
            _take(request, endpoint, account, verdict, now)
            return Reply.ACCEPTED


def _authenticate(
    request: SignedRequest, endpoint: Endpoint, now: datetime, client: httpx2.Client | None
) -> tuple[Verdict, Account]:
    account = endpoint.account
    verdict = endpoint.provider.authenticate(request, account, now=now)
    if isinstance(verdict, CertificateNeeded):
        pem = certificates.fetch(verdict.url, now=now, client=client)
        key = Key(key_id=verdict.url, purpose=CERTIFICATE_PURPOSE, material=pem)
        account = replace(account, keys=(*account.keys, key))
        verdict = endpoint.provider.authenticate(request, account, now=now)
    return verdict, account


def _take(
    request: SignedRequest, endpoint: Endpoint, account: Account, verdict: Verified, now: datetime
) -> None:
    intake = Intake(
        endpoint=endpoint,
        request=request,
        key_id=verdict.key_id,
        assurance=verdict.assurance,
        received_at=now,
    )
    for done in receive(intake, endpoint.provider.read(request, account)):
        log.info(
            "callback",
            endpoint=endpoint.name,
            outcome=done.outcome,
            reason=done.reason,
            delivery_id=done.delivery_id,
            order_no=done.order_no,
        )
    key_use.verified(endpoint, verdict.key_id, now=now)
    if verdict.opened_by:
        key_use.opened(endpoint, verdict.opened_by, now=now)


def _log_refusal(request: SignedRequest, endpoint: Endpoint, **why: str) -> None:
    # A provider that uses a key we do not know is an alarm: every payment waits until we do.
    level = log.error if "key_id" in why else log.warning
    level(
        "callback refused",
        endpoint=endpoint.name,
        body_length=len(request.body),
        body_sha256=hashlib.sha256(request.body).hexdigest(),
        source=request.source,
        **why,
    )


def log_failure(error: Exception) -> None:
    """A database that is away and a flood are expected weather; the rest are faults to find."""
    read_only = getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    expected = (
        *(OperationalError, InterfaceError),
        *(certificates.CertificateUnavailable, TooManyHeld),
    )
    if read_only or isinstance(error, expected):
        log.error("callback not stored", error=type(error).__name__, detail=str(error)[:200])
    else:
        log.error("callback not stored", error=type(error).__name__, exc_info=error)
