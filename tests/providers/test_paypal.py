"""PayPal: whose certificate is believed, what is signed, and what its events mean."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.paypal import PayPal
from payments.providers.port import (
    Account,
    Assurance,
    CertificateNeeded,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    SignedRequest,
    Verified,
)
from tests.providers.rsa_senders import private_key
from tests.providers.weak_senders import (
    CERTIFICATE_URL,
    NOW,
    PAYPAL_EVENT,
    WEBHOOK_ID,
    paypal,
    sender,
    web_certificate,
    web_root,
)

PINNED = sender("paypal")
#: An account that fetches certificates, and trusts the authority of these tests.
FETCHING = replace(
    PINNED.account,
    keys=(),
    settings={"webhook_ids": [WEBHOOK_ID], "trust_root_pem": web_root().decode()},
)
PARTIAL = Verified(CERTIFICATE_URL, Assurance.PARTIAL)


def judged(
    request: SignedRequest, pem: bytes | None = None, account: Account = FETCHING, **later: Any
) -> object:
    """The verdict; with a PEM, after it was fetched from the address in the request."""
    keys = account.keys
    if pem is not None:
        keys = (*keys, Key(request.header("paypal-cert-url") or "", "certificate", pem))
    account = replace(account, keys=keys)
    return PayPal().authenticate(request, account, now=NOW + timedelta(**later))


def with_header(request: SignedRequest, name: str, value: str) -> SignedRequest:
    headers = {**dict(request.headers), name: value}
    return replace(request, headers=tuple(headers.items()))


# The certificate.


def test_a_certificate_is_asked_for_at_paypals_address_and_then_believed() -> None:
    request = paypal(PAYPAL_EVENT)
    assert judged(request) == CertificateNeeded(CERTIFICATE_URL)
    assert judged(request, web_certificate()) == PARTIAL


PATH = "/v1/notifications/certs/CERT-1"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.paypal.com.evil.test/c",
        "http://api.paypal.com/c",
        "https://evil.test/?api.paypal.com",
        "https://api.paypal.com@evil.test/",
        "https://127.0.0.1/",
        f"http://api.paypal.com{PATH}",
        f"https://api.paypal.com.evil.test{PATH}",
        f"https://api.paypal.com@evil.test{PATH}",
        f"https://evil.test{PATH}#.paypal.com",
        f"https://evilpaypal.com{PATH}",
        f"https://forgotten.paypal.com{PATH}",
        f"https://api.paypal.com:443{PATH}",
        f"https://api.paypal.com:8443{PATH}",
        f"https://user@api.paypal.com{PATH}",
        f"https://api.paypal.com{PATH}?x=1",
        f"https://api.paypal.com{PATH}#x",
        f"https://api.paypal.com{PATH}/../../x",
        "https://api.paypal.com/v1/notifications/certs/",
        "https://api.paypal.com/v1/notifications/certs/../x",
        "https://api.paypal.com/v1/notifications/certs/%2e%2e",
        "https://api.paypal.com/v1/oauth2/CERT-1",
        f"https://API.PAYPAL.COM{PATH}",
        f"https://api.paypal.com{PATH}\n",
        f"https://api.paypal.com\\{PATH}",
        f" https://api.paypal.com{PATH}",
        f"https://api.sandbox.paypal.com{PATH}",
        f"https://api-m.sandbox.paypal.com{PATH}",
        f"https://api.paypal.com/v1/notifications/certs/{'C' * 65}",
        "file:///etc/passwd",
        "https://api.paypal.com",
        "",
    ],
)
def test_no_certificate_is_asked_for_anywhere_else(url: str) -> None:
    request = with_header(paypal(PAYPAL_EVENT), "paypal-cert-url", url)
    assert judged(request) == Rejected(Reason.CERTIFICATE_UNTRUSTED)


def test_each_mode_has_addresses_of_its_own() -> None:
    sandbox = replace(FETCHING, live=False)
    for host, account, other in (
        ("api.paypal.com", FETCHING, sandbox),
        ("api-m.paypal.com", FETCHING, sandbox),
        ("api.sandbox.paypal.com", sandbox, FETCHING),
        ("api-m.sandbox.paypal.com", sandbox, FETCHING),
    ):
        request = paypal(PAYPAL_EVENT, certificate_url=f"https://{host}{PATH}")
        assert judged(request, account=account) == CertificateNeeded(f"https://{host}{PATH}")
        assert judged(request, account=other) == Rejected(Reason.CERTIFICATE_UNTRUSTED)


@pytest.mark.parametrize(
    "pem",
    [
        web_certificate("www.evil.test"),
        web_certificate("messageverificationcerts.paypal.com.evil.test"),
        web_certificate(years=(2024, 2025)),
        web_certificate(years=(2027, 2035)),
        web_certificate(issuer="another root"),
        web_certificate(issuer="another root") + web_root("another root"),
        web_certificate(issuer="paypal"),
        web_certificate(usage=ExtendedKeyUsageOID.EMAIL_PROTECTION),
        web_root(),
        b"",
        b"<html>",
        b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        web_certificate() + web_root() * 9,
    ],
    ids=[
        "another name",
        "a longer name",
        "ended",
        "not begun",
        "another root",
        "a root that it brings itself",
        "self-signed",
        "not for servers",
        "the root itself",
        "empty",
        "a page",
        "not a certificate",
        "too many",
    ],
)
def test_a_certificate_that_no_root_vouches_for_is_not_believed(pem: bytes) -> None:
    verdict = judged(paypal(PAYPAL_EVENT), pem)
    assert verdict == Rejected(Reason.CERTIFICATE_UNTRUSTED)


def test_a_believed_certificate_proves_only_what_its_key_signed() -> None:
    assert judged(paypal(PAYPAL_EVENT, key="another"), web_certificate()) == Rejected(
        Reason.SIGNATURE_WRONG
    )


def test_without_a_root_of_its_own_an_account_trusts_public_authorities_only() -> None:
    account = replace(FETCHING, settings={"webhook_ids": [WEBHOOK_ID]})
    PayPal().check_settings(account)
    verdict = judged(paypal(PAYPAL_EVENT), web_certificate(), account)
    assert verdict == Rejected(Reason.CERTIFICATE_UNTRUSTED)


def test_an_account_with_a_pinned_certificate_asks_for_none() -> None:
    request = paypal(PAYPAL_EVENT)
    pins = (
        Key("2025", "certificate", web_certificate(key="another")),
        Key("pinned", "certificate", web_certificate("any name", issuer="paypal")),
    )
    account = replace(PINNED.account, keys=pins)
    assert judged(request, account=account) == Verified("pinned", Assurance.PARTIAL)
    assert judged(paypal(PAYPAL_EVENT, key="third"), account=account) == Rejected(
        Reason.SIGNATURE_WRONG
    )


def test_a_pinned_certificate_ends() -> None:
    pin = Key("pinned", "certificate", web_certificate(years=(2024, 2025)))
    account = replace(PINNED.account, keys=(pin,))
    assert judged(paypal(PAYPAL_EVENT), account=account) == Rejected(Reason.SIGNATURE_WRONG)


# What is signed.


@pytest.mark.parametrize("algorithm", ["SHA1withRSA", "none", "sha256withrsa", "SHA512withRSA"])
def test_only_one_algorithm_is_accepted(algorithm: str) -> None:
    request = with_header(paypal(PAYPAL_EVENT), "paypal-auth-algo", algorithm)
    assert judged(request) == Rejected(Reason.METHOD_UNSUPPORTED)


def test_the_webhook_must_be_ours() -> None:
    elsewhere = paypal(PAYPAL_EVENT, webhook_id="ANOTHER")
    assert judged(elsewhere, web_certificate()) == Rejected(Reason.SIGNATURE_WRONG)
    both = replace(FETCHING, settings={**FETCHING.settings, "webhook_ids": [WEBHOOK_ID, "ANOTHER"]})
    assert judged(elsewhere, web_certificate(), both) == PARTIAL


@pytest.mark.parametrize("transmission_id", ["", "a|b", "a b", "ü", "x" * 65])
def test_a_transmission_id_of_another_form_is_refused(transmission_id: str) -> None:
    request = with_header(paypal(PAYPAL_EVENT), "paypal-transmission-id", transmission_id)
    assert judged(request) == Rejected(Reason.ID_MALFORMED)


@pytest.mark.parametrize("time", ["", "1767225600", "2026-01-01", "2026-01-01T00:00:00", "now"])
def test_a_time_of_another_form_is_refused(time: str) -> None:
    request = with_header(paypal(PAYPAL_EVENT), "paypal-transmission-time", time)
    assert judged(request) == Rejected(Reason.TIMESTAMP_MALFORMED)


def test_retries_may_come_for_three_days_but_a_replay_not_for_ever() -> None:
    request, pem = paypal(PAYPAL_EVENT), web_certificate()
    late, early = Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE), timedelta(minutes=5)
    assert judged(request, pem, days=3) == PARTIAL
    assert judged(request, pem, days=4) == PARTIAL
    assert judged(request, pem, days=4, seconds=1) == late
    assert judged(paypal(PAYPAL_EVENT, now=NOW + early), pem) == PARTIAL
    assert judged(paypal(PAYPAL_EVENT, now=NOW + early + timedelta(seconds=1)), pem) == late


def test_what_is_forged_by_its_checksum_is_partly_vouched_for_and_so_confirmed_by_default() -> None:
    assert PayPal.confirmation_by_default
    assert judged(paypal(PAYPAL_EVENT), web_certificate()) == PARTIAL


# Meaning.


def told(event_type: str, resource: dict[str, Any], **settings: Any) -> Callback:
    reading = read(event_type, resource, **settings)
    assert isinstance(reading, Callback), reading
    return reading


def read(event_type: str, resource: dict[str, Any], **settings: Any) -> Reading:
    event = {**PAYPAL_EVENT, "event_type": event_type, "resource": resource}
    (reading,) = PINNED.read(event, **settings)
    return reading


CAPTURE = PAYPAL_EVENT["resource"]


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("PAYMENT.CAPTURE.COMPLETED", Kind.PAID),
        ("PAYMENT.CAPTURE.PENDING", Kind.PENDING),
        ("PAYMENT.CAPTURE.DENIED", Kind.FAILED),
        ("PAYMENT.CAPTURE.DECLINED", Kind.FAILED),
        ("PAYMENT.AUTHORIZATION.CREATED", Kind.AUTHORIZED),
        ("PAYMENT.AUTHORIZATION.VOIDED", Kind.CLOSED),
    ],
)
def test_a_capture_is_the_payment(event_type: str, kind: Kind) -> None:
    callback = told(event_type, CAPTURE)
    assert (callback.kind, callback.txn_no) == (kind, "42311647XV020574X")
    assert (callback.order_no, str(callback.money)) == ("O-1", "10.99 EUR")
    assert callback.account_no == "MERCHANT1"


@pytest.mark.parametrize("event_type", ["CHECKOUT.ORDER.APPROVED", "CHECKOUT.ORDER.COMPLETED"])
def test_an_order_is_never_the_payment(event_type: str) -> None:
    unit = {"amount": {"currency_code": "EUR", "value": "10.99"}, "custom_id": "O-1"}
    callback = told(event_type, {"id": "ORDER1", "purchase_units": [unit]})
    assert callback.kind in {Kind.PENDING, Kind.IGNORED}


def test_an_approval_that_is_taken_back_is_closed() -> None:
    unit = {"custom_id": "O-1"}
    resource = {"order_id": "ORDER1", "purchase_units": [unit]}
    callback = told("CHECKOUT.PAYMENT-APPROVAL.REVERSED", resource)
    assert (callback.kind, callback.txn_no, callback.order_no) == (Kind.CLOSED, "ORDER1", "O-1")


def test_the_invoice_number_stands_in_for_the_merchants_own() -> None:
    resource = {**CAPTURE, "custom_id": None, "invoice_id": "INV-1"}
    assert told("PAYMENT.CAPTURE.COMPLETED", resource).order_no == "INV-1"
    both = {**CAPTURE, "invoice_id": "INV-1"}
    assert told("PAYMENT.CAPTURE.COMPLETED", both, order="/resource/invoice_id").order_no == "INV-1"


def test_a_sale_of_the_older_api_is_a_payment() -> None:
    sale = {
        "id": "SALE1",
        "amount": {"total": "10.99", "currency": "EUR"},
        "custom": "O-1",
        "parent_payment": "PAY-1",
    }
    callback = told("PAYMENT.SALE.COMPLETED", sale)
    assert (callback.kind, callback.txn_no, callback.order_no) == (Kind.PAID, "SALE1", "O-1")
    assert (str(callback.money), callback.linked_nos) == ("10.99 EUR", ("PAY-1",))
    refund = told("PAYMENT.SALE.REFUNDED", {**sale, "id": "REFUND1", "sale_id": "SALE1"})
    assert (refund.kind, refund.txn_no) == (Kind.REFUNDED, "REFUND1")
    assert refund.linked_nos == ("SALE1", "PAY-1")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("COMPLETED", Kind.REFUNDED),
        ("PENDING", Kind.PENDING),
        ("FAILED", Kind.REFUND_FAILED),
        ("CANCELLED", Kind.REFUND_FAILED),
    ],
)
def test_a_refund_has_a_number_of_its_own_and_links_its_capture(status: str, kind: Kind) -> None:
    up = "https://api.paypal.com/v2/payments/captures/42311647XV020574X"
    resource = {
        **CAPTURE,
        "id": "REFUND1",
        "status": status,
        "amount": {"currency_code": "JPY", "value": "500"},
        "links": [{"rel": "self", "href": "https://x/y"}, {"rel": "up", "href": up}],
    }
    callback = told("PAYMENT.CAPTURE.REFUNDED", resource)
    assert (callback.kind, callback.txn_no, str(callback.money)) == (kind, "REFUND1", "500 JPY")
    assert callback.linked_nos == ("42311647XV020574X",)


@pytest.mark.parametrize("links", [None, "x", [None, {"rel": "up"}], [{"rel": "up", "href": "/ü"}]])
def test_a_refund_without_a_readable_link_is_still_a_refund(links: object) -> None:
    callback = told("PAYMENT.CAPTURE.REFUNDED", {**CAPTURE, "id": "REFUND1", "links": links})
    assert (callback.kind, callback.linked_nos) == (Kind.REFUNDED, ())


def test_money_that_paypal_takes_back_is_refunded() -> None:
    assert told("PAYMENT.CAPTURE.REVERSED", CAPTURE).kind is Kind.REFUNDED


@pytest.mark.parametrize(
    ("event_type", "outcome", "kind"),
    [
        ("CUSTOMER.DISPUTE.CREATED", None, Kind.DISPUTED),
        ("CUSTOMER.DISPUTE.UPDATED", None, Kind.DISPUTED),
        ("CUSTOMER.DISPUTE.RESOLVED", "RESOLVED_SELLER_FAVOUR", Kind.DISPUTE_WON),
        ("CUSTOMER.DISPUTE.RESOLVED", "CANCELED_BY_BUYER", Kind.DISPUTE_WON),
        ("CUSTOMER.DISPUTE.RESOLVED", "RESOLVED_BUYER_FAVOUR", Kind.DISPUTE_LOST),
        ("CUSTOMER.DISPUTE.RESOLVED", "ACCEPTED", Kind.DISPUTE_LOST),
        ("CUSTOMER.DISPUTE.RESOLVED", "NEW_ONE", Kind.PENDING),
        ("CUSTOMER.DISPUTE.RESOLVED", None, Kind.PENDING),
    ],
)
def test_a_dispute_has_a_number_of_its_own_and_links_the_payment(
    event_type: str, outcome: str | None, kind: Kind
) -> None:
    disputed = {"seller_transaction_id": "42311647XV020574X", "custom": "O-1"}
    resource = {
        "dispute_id": "PP-D-27803",
        "dispute_amount": {"currency_code": "EUR", "value": "10.99"},
        "disputed_transactions": [disputed],
        "dispute_outcome": {"outcome_code": outcome},
    }
    callback = told(event_type, resource)
    assert (callback.kind, callback.txn_no, callback.order_no) == (kind, "PP-D-27803", "O-1")
    assert callback.linked_nos == ("42311647XV020574X",)


@pytest.mark.parametrize(
    ("currency", "value", "money"),
    [
        ("EUR", "10.99", "10.99 EUR"),
        ("JPY", "500", "500 JPY"),
        ("HUF", "1099", "1099.00 HUF"),
        ("TWD", "1099", "1099.00 TWD"),
    ],
)
def test_amounts_are_exact_texts_in_major_units(currency: str, value: str, money: str) -> None:
    resource = {**CAPTURE, "amount": {"currency_code": currency, "value": value}}
    assert str(told("PAYMENT.CAPTURE.COMPLETED", resource).money) == money


@pytest.mark.parametrize("value", ["10,99", "1e3", "", None, "ten", " 10.99", "10.99 "])
def test_an_amount_that_is_none_is_kept_for_a_person(value: object) -> None:
    resource = {**CAPTURE, "amount": {"currency_code": "EUR", "value": value}}
    assert isinstance(read("PAYMENT.CAPTURE.COMPLETED", resource), Unreadable)


def test_too_many_decimals_are_stated_and_never_rounded() -> None:
    resource = {**CAPTURE, "amount": {"currency_code": "JPY", "value": "10.99"}}
    callback = told("PAYMENT.CAPTURE.COMPLETED", resource)
    assert (callback.money, callback.stated_amount) == (None, "10.99 JPY")


# Settings.


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "webhook_ids must name the ids"),
        ({"webhook_ids": []}, "webhook_ids must name the ids"),
        ({"webhook_ids": "W1"}, "webhook_ids must be a list"),
        ({"webhook_ids": ["W1"], "trust_root_pem": "x"}, "trust_root_pem has no certificate"),
        ({"webhook_ids": ["W1"], "webhook_id": "W1"}, "webhook_id is not a known setting"),
        ({"webhook_ids": ["W1"], "order": "custom"}, "order"),
    ],
)
def test_settings_that_could_not_work_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(Misconfigured, match=says):
        PayPal().check_settings(replace(FETCHING, settings=settings))


def test_a_pin_that_is_no_certificate_is_refused() -> None:
    with pytest.raises(Misconfigured, match="'k0'"):
        PayPal().check_settings(
            replace(FETCHING, keys=(Key("k0", "certificate", json.dumps({}).encode()),))
        )


def test_an_account_without_a_webhook_id_accepts_nothing() -> None:
    account = replace(FETCHING, settings={})
    assert judged(paypal(PAYPAL_EVENT), web_certificate(), account) == Rejected(
        Reason.MISCONFIGURED
    )


def test_the_keys_of_these_tests_differ() -> None:
    assert private_key("paypal").public_key() != private_key("another").public_key()
