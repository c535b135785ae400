"""What Adyen's notifications mean, and how their signatures are judged."""

import json
from dataclasses import replace
from typing import Any

import pytest

from payments.callback import Callback, Kind, Unreadable
from payments.providers.adyen import Adyen
from payments.providers.port import (
    Account,
    Assurance,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Verified,
)
from tests.providers.weak_senders import ADYEN_ITEM, ADYEN_KEY, NOW, as_json, notification, sender

ADYEN = sender("adyen")
OLD_KEY = b"74F490DD33F7327BAECC88B2947C011FC02D014A473AAA33A8EC93E4DC069174"
PAYMENT, OWN = "PSP0000000000001", "PSP0000000000002"


def told(item: dict[str, Any], **settings: Any) -> Callback:
    (reading,) = ADYEN.read(item, **settings)
    assert isinstance(reading, Callback), reading
    return reading


def judged(body: bytes, *keys: Key, **settings: Any) -> object:
    account = replace(ADYEN.account, settings=settings)
    account = replace(account, keys=keys) if keys else account
    return Adyen().authenticate(as_json(body), account, now=NOW)


# What the eight signed fields may hold.


@pytest.mark.parametrize(
    "reference", ["14-08-2026-09:53:00", ":slashes are fun", "a\\b", "ORDER 1 für Zoë", ""]
)
def test_a_reference_is_signed_as_it_stands_whatever_is_in_it(reference: str) -> None:
    body = notification({**ADYEN_ITEM, "merchantReference": reference})
    assert judged(body) == Verified("k0", Assurance.PARTIAL)


def test_a_reference_with_colons_reaches_its_order() -> None:
    callback = told({"merchantReference": "14-08-2026-09:53:00"})
    assert (callback.kind, callback.order_no) == (Kind.PAID, "14-08-2026-09:53:00")


def test_a_reference_that_no_order_can_have_is_kept_for_a_person() -> None:
    (reading,) = ADYEN.read({"merchantReference": "a\\b"})
    assert isinstance(reading, Unreadable)
    assert reading.event_id == f"{OWN}:CAPTURE:true"


def test_a_colon_moved_into_the_merchant_account_is_not_read() -> None:
    genuine = notification({**ADYEN_ITEM, "merchantReference": "A:B"})
    forged = json.loads(genuine)
    item = forged["notificationItems"][0]["NotificationRequestItem"]
    item |= {"merchantAccountCode": "ShopECOM:A", "merchantReference": "B"}
    request = as_json(json.dumps(forged).encode())

    assert Adyen().authenticate(request, ADYEN.account, now=NOW) == Verified(
        "k0", Assurance.PARTIAL
    )
    (reading,) = Adyen().read(request, ADYEN.account)
    assert isinstance(reading, Unreadable)
    assert "colon" in reading.why


@pytest.mark.parametrize(
    "change",
    [
        {"pspReference": f"{OWN}:{PAYMENT}", "originalReference": ""},
        {"originalReference": "a:b"},
        {"amount": {"value": "1099", "currency": "EUR"}},
        {"amount": {"value": 10.99, "currency": "EUR"}},
        {"amount": {"value": True, "currency": "EUR"}},
        {"amount": {"value": 1099, "currency": "eur"}},
        {"amount": {"value": 1099, "currency": "EU:"}},
        {"amount": {"value": 1099}},
        {"amount": {"currency": "EUR"}},
        {"eventCode": "capture"},
        {"success": True},
        {"success": "True"},
        {"merchantReference": 7},
        {"pspReference": None},
        {"merchantAccountCode": None},
    ],
)
def test_a_field_of_another_form_is_refused_before_its_signature(change: dict[str, Any]) -> None:
    document = json.loads(notification(ADYEN_ITEM))
    document["notificationItems"][0]["NotificationRequestItem"] |= change
    assert judged(json.dumps(document).encode()) == Rejected(Reason.BODY_MALFORMED)


# Batches and keys.


def test_a_batch_is_read_item_by_item_and_one_unreadable_item_hides_no_other() -> None:
    readings = ADYEN.read([{}, {"merchantReference": "no order"}, {"eventCode": "REFUND"}])
    kinds = [reading.kind if isinstance(reading, Callback) else None for reading in readings]
    assert kinds == [Kind.PAID, None, Kind.REFUNDED]


def test_a_batch_with_one_forged_item_is_refused_whole() -> None:
    document = json.loads(notification(ADYEN_ITEM, ADYEN_ITEM, ADYEN_ITEM))
    for forged in range(3):
        altered = json.loads(json.dumps(document))
        item = altered["notificationItems"][forged]["NotificationRequestItem"]
        item["amount"]["value"] = 1
        assert judged(json.dumps(altered).encode()) == Rejected(Reason.SIGNATURE_WRONG)
        del item["additionalData"]
        assert judged(json.dumps(altered).encode()) == Rejected(Reason.SIGNATURE_MISSING)


def test_more_items_than_adyen_sends_are_refused() -> None:
    assert judged(notification(*[ADYEN_ITEM] * 101)) == Rejected(Reason.BODY_MALFORMED)


def test_queued_notifications_keep_the_old_key() -> None:
    keys = (Key("new", "signature", ADYEN_KEY), Key("old", "signature", OLD_KEY))
    body = notification(ADYEN_ITEM, key=OLD_KEY)
    assert judged(body, *keys) == Verified("old", Assurance.PARTIAL)
    assert judged(body, keys[0]) == Rejected(Reason.SIGNATURE_WRONG)


# The mode and the account.


@pytest.mark.parametrize(("live", "read_as"), [("true", True), ("false", False), (None, None)])
def test_the_mode_is_read_though_it_is_not_signed(live: str | None, read_as: bool | None) -> None:
    (reading,) = Adyen().read(as_json(notification(ADYEN_ITEM, live=live)), ADYEN.account)
    assert isinstance(reading, Callback)
    assert reading.live is read_as


@pytest.mark.parametrize("live", ["True", "", "1"])
def test_another_mode_than_live_or_not_is_kept_for_a_person(live: str) -> None:
    (reading,) = Adyen().read(as_json(notification(ADYEN_ITEM, live=live)), ADYEN.account)
    assert isinstance(reading, Unreadable)


def test_the_merchant_account_is_one_of_the_accounts_or_foreign() -> None:
    assert told({}).account_no == "ShopECOM"
    assert told({"merchantAccountCode": "ShopPOS"}).account_no == "ShopPOS"
    ours = told({"merchantAccountCode": "ShopPOS"}, merchant_accounts=["ShopPOS"])
    assert ours.account_no == "ShopECOM"


# Meaning.


def test_an_authorisation_is_paid_only_where_the_account_captures_automatically() -> None:
    item = {"eventCode": "AUTHORISATION", "pspReference": PAYMENT, "originalReference": None}
    assert told(item).kind is Kind.AUTHORIZED
    paid = told(item, auto_capture=True)
    assert (paid.kind, paid.txn_no, str(paid.money)) == (Kind.PAID, PAYMENT, "10.99 EUR")
    refused = told({**item, "success": "false"}, auto_capture=True)
    assert (refused.kind, refused.txn_no) == (Kind.FAILED, PAYMENT)


def test_an_authorisation_of_nothing_stores_a_card_and_pays_nothing() -> None:
    item = {"eventCode": "AUTHORISATION", "amount": {"currency": "EUR", "value": 0}}
    assert told(item, auto_capture=True).kind is Kind.AUTHORIZED


def test_an_authorisation_and_its_capture_are_one_transaction() -> None:
    authorised = told(
        {"eventCode": "AUTHORISATION", "pspReference": PAYMENT, "originalReference": None},
        auto_capture=True,
    )
    captured = told({})
    assert (authorised.txn_no, captured.txn_no) == (PAYMENT, PAYMENT)
    assert (authorised.money, captured.linked_nos) == (captured.money, (OWN,))


@pytest.mark.parametrize(
    ("event_code", "success", "kind", "txn_no"),
    [
        ("CAPTURE", "true", Kind.PAID, PAYMENT),
        ("CAPTURE", "false", Kind.FAILED, PAYMENT),
        ("CAPTURE_FAILED", "true", Kind.FAILED, PAYMENT),
        ("CANCELLATION", "true", Kind.CLOSED, PAYMENT),
        ("TECHNICAL_CANCEL", "true", Kind.CLOSED, PAYMENT),
        ("EXPIRE", "true", Kind.CLOSED, PAYMENT),
        ("OFFER_CLOSED", "true", Kind.CLOSED, PAYMENT),
        ("REFUND", "true", Kind.REFUNDED, OWN),
        ("REFUND", "false", Kind.REFUND_FAILED, OWN),
        ("REFUND_FAILED", "true", Kind.REFUND_FAILED, OWN),
        ("REFUNDED_REVERSED", "true", Kind.REFUND_FAILED, OWN),
        ("CANCEL_OR_REFUND", "true", Kind.REFUNDED, OWN),
        ("REQUEST_FOR_INFORMATION", "true", Kind.PENDING, OWN),
        ("NOTIFICATION_OF_CHARGEBACK", "true", Kind.DISPUTED, OWN),
        ("CHARGEBACK", "true", Kind.DISPUTED, OWN),
        ("CHARGEBACK_REVERSED", "true", Kind.DISPUTE_WON, OWN),
        ("SECOND_CHARGEBACK", "true", Kind.DISPUTE_LOST, OWN),
    ],
)
def test_what_happens_to_a_payment_names_it(
    event_code: str, success: str, kind: Kind, txn_no: str
) -> None:
    callback = told({"eventCode": event_code, "success": success})
    assert (callback.kind, callback.txn_no) == (kind, txn_no)
    assert {callback.txn_no, *callback.linked_nos} == {PAYMENT, OWN}
    assert callback.event_id == f"{OWN}:{event_code}:{success}"


@pytest.mark.parametrize("event_code", ["REPORT_AVAILABLE", "CANCELLATION", "NEW_ONE"])
def test_what_moves_nothing_is_ignored(event_code: str) -> None:
    item = {"eventCode": event_code, "success": "false", "amount": {"value": 0, "currency": "XXX"}}
    assert told(item).kind is Kind.IGNORED


def test_which_of_a_cancel_and_a_refund_it_was_is_not_signed_so_no_amount_is_read() -> None:
    callback = told({"eventCode": "CANCEL_OR_REFUND"})
    assert (callback.money, callback.stated_amount) == (None, "")


def test_the_unsigned_date_is_not_used() -> None:
    assert told({}).occurred_at is None


@pytest.mark.parametrize(
    ("currency", "value", "money"),
    [
        ("EUR", 1130, "11.30 EUR"),
        ("JPY", 500, "500 JPY"),
        ("CLP", 50000, "500 CLP"),
        ("ISK", 50000, "500 ISK"),
        ("CVE", 500, "500.00 CVE"),
        ("IDR", 50000, "50000.00 IDR"),
        ("KWD", 1234, "1.234 KWD"),
    ],
)
def test_amounts_are_in_adyens_own_minor_units(currency: str, value: int, money: str) -> None:
    assert str(told({"amount": {"currency": currency, "value": value}}).money) == money


def test_a_fraction_of_a_minor_unit_is_stated_and_never_rounded() -> None:
    callback = told({"amount": {"currency": "CLP", "value": 50050}})
    assert (callback.money, callback.stated_amount) == (None, "50050 CLP")


# The webhooks of platforms and management.


def test_a_platform_webhook_is_verified_whole_and_tells_no_payment() -> None:
    body = b'{"type":"merchant.created","data":{"status":"PreActive"}}'
    account = replace(ADYEN.account, settings={"webhooks": "platform"})
    assert judged(body, webhooks="platform") == Rejected(Reason.SIGNATURE_MISSING)
    assert judged(notification(ADYEN_ITEM), webhooks="platform") == Rejected(
        Reason.SIGNATURE_MISSING
    )
    (reading,) = Adyen().read(as_json(body), account)
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.event_type) == (Kind.IGNORED, "merchant.created")


# Settings.


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"auto_capture": "yes"}, "auto_capture must be true or false"),
        ({"merchant_accounts": "Shop"}, "merchant_accounts must be a list"),
        ({"merchant_accounts": ["Shop:A"]}, "'Shop:A' is not the code of a merchant account"),
        ({"webhooks": "all"}, "webhooks must be one of"),
        ({"autocapture": True}, "autocapture is not a known setting"),
    ],
)
def test_settings_that_could_not_work_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(Misconfigured, match=says):
        Adyen().check_settings(replace(ADYEN.account, settings=settings))


@pytest.mark.parametrize("material", [b"not hex", b"", b"A1B2", b"00" * 32])
def test_a_key_that_is_not_the_hex_of_a_secret_is_refused(material: bytes) -> None:
    key = Key("k0", "signature", material)
    account = Account(account_no="ShopECOM", live=True, settings={}, keys=(key,))
    with pytest.raises(Misconfigured, match="'k0'"):
        Adyen().check_settings(account)
