import json
from datetime import UTC, datetime
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Unreadable
from payments.providers.port import Misconfigured, Reason, Rejected, Verified
from payments.providers.registry import PROVIDERS
from tests.signing import STANDARD_SECRET, an_account, as_request, signed_standard_webhooks

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVENT: dict[str, Any] = {
    "type": "payment.succeeded",
    "timestamp": "2025-12-31T23:59:54Z",
    "data": {"id": "pay_1", "amount": "10.99", "currency": "EUR", "reference": "ORDER-7"},
}
BODY = json.dumps(EVENT).encode()
STANDARD, SVIX = PROVIDERS["standardwebhooks"], PROVIDERS["svix"]


def test_the_default_map_reads_the_usual_envelope() -> None:
    request = as_request(BODY, signed_standard_webhooks(BODY, STANDARD_SECRET, NOW))
    assert STANDARD.read(request, an_account(STANDARD_SECRET)) == [
        Callback(
            event_id="msg_1",
            event_type="payment.succeeded",
            kind=Kind.PAID,
            txn_no="pay_1",
            order_no="ORDER-7",
            money=Money(1099, "EUR"),
            occurred_at=datetime(2025, 12, 31, 23, 59, 54, tzinfo=UTC),
        )
    ]


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("payment.authorized", Kind.AUTHORIZED),
        ("payment.pending", Kind.PENDING),
        ("payment.failed", Kind.FAILED),
        ("payment.canceled", Kind.CLOSED),
        ("payment.expired", Kind.CLOSED),
        ("refund.succeeded", Kind.REFUNDED),
        ("refund.failed", Kind.REFUND_FAILED),
        ("dispute.created", Kind.DISPUTED),
        ("dispute.won", Kind.DISPUTE_WON),
        ("dispute.lost", Kind.DISPUTE_LOST),
        ("contact.created", Kind.IGNORED),
    ],
)
def test_a_type_has_its_usual_meaning(event_type: str, kind: Kind) -> None:
    body = json.dumps({**EVENT, "type": event_type}).encode()
    (reading,) = STANDARD.read(as_request(body, {"webhook-id": "m"}), an_account())
    assert isinstance(reading, Callback)
    assert reading.kind is kind


def test_an_account_replaces_parts_of_the_map() -> None:
    settings = {
        "fields": {
            "amount": {"at": "/data/cents", "unit": "minor"},
            "kinds": {"invoice.settled": "PAID"},
        }
    }
    account = an_account(STANDARD_SECRET, settings=settings)
    STANDARD.check_settings(account)
    body = json.dumps({"type": "invoice.settled", "data": {**EVENT["data"], "cents": 500}}).encode()
    (reading,) = STANDARD.read(as_request(body, {"webhook-id": "m"}), account)
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.money, reading.order_no) == (
        Kind.PAID,
        Money(500, "EUR"),
        "ORDER-7",
    )


def test_svix_takes_both_families_of_headers_and_the_standard_only_its_own() -> None:
    account = an_account(STANDARD_SECRET)
    for family in ("svix", "webhook"):
        headers = signed_standard_webhooks(BODY, STANDARD_SECRET, NOW, family=family)
        request = as_request(BODY, headers)
        assert SVIX.authenticate(request, account, now=NOW) == Verified("k0")
        (reading,) = SVIX.read(request, account)
        assert reading.event_id == "msg_1"
    svix_only = as_request(
        BODY, signed_standard_webhooks(BODY, STANDARD_SECRET, NOW, family="svix")
    )
    assert STANDARD.authenticate(svix_only, account, now=NOW) == Rejected(Reason.SIGNATURE_MISSING)


def test_the_id_that_is_read_is_the_one_that_was_signed() -> None:
    genuine = signed_standard_webhooks(BODY, STANDARD_SECRET, NOW)
    mixed = as_request(BODY, {**genuine, "svix-id": "msg_forged"})
    assert SVIX.authenticate(mixed, an_account(STANDARD_SECRET), now=NOW) == Rejected(
        Reason.SIGNATURE_MISSING
    )


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"field": {}}, "settings.field is not a known setting"),
        ({"fields": []}, "settings.fields must be an object"),
        ({"fields": {"ordr": "/x"}}, "settings.fields.ordr is not a known setting"),
    ],
)
def test_settings_that_cannot_work_are_refused_and_never_raise_on_a_callback(
    settings: dict[str, Any], why: str
) -> None:
    account = an_account(STANDARD_SECRET, settings=settings)
    with pytest.raises(Misconfigured, match=f"^{why}$"):
        STANDARD.check_settings(account)
    request = as_request(BODY, {"webhook-id": "msg_1"})
    assert STANDARD.read(request, account) == [Unreadable(why, "msg_1")]


@pytest.mark.parametrize(
    ("secret", "why"),
    [
        ("whsec_", "is empty"),
        ("whsec_AAECAwQFBgc=", "is shorter than 16 bytes"),
        ("whsec_not*base64*at*all*at*all", "is not base64"),
    ],
)
def test_a_weak_or_misspelt_secret_is_refused(secret: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        STANDARD.check_settings(an_account(secret))
