import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Unreadable
from payments.providers.custom import Custom
from payments.providers.port import Misconfigured, Reason, Rejected, Verified
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS, an_account, as_request, signed_custom

NOW = datetime(2026, 1, 1, tzinfo=UTC)
# Odd but legal spelling: it must be verified as these bytes and not as its value.
BODY = (
    b'{"id": "e1",  "type":"paid","payment_id":90071992547409931,"order":"O-1","url":"a\\/b",'
    b'"n":"\\u00e9","amt":1.50,"amount":1050,"currency":"EUR","merchant":"m1","mode":"live"}\n'
)


def test_a_callback_is_verified_and_read_by_configuration_alone() -> None:
    account = an_account(CUSTOM_SECRET, settings=CUSTOM_SETTINGS)
    Custom().check_settings(account)
    request = as_request(BODY, signed_custom(BODY))
    assert Custom().authenticate(request, account, now=NOW) == Verified("k0")
    assert Custom().read(request, account) == [
        Callback(
            event_id="e1",
            event_type="paid",
            kind=Kind.PAID,
            txn_no="90071992547409931",
            order_no="O-1",
            money=Money(1050, "EUR"),
            account_no="m1",
            live=True,
        )
    ]


def test_the_signed_id_names_an_event_that_has_no_id_of_its_own() -> None:
    scheme = {
        **CUSTOM_SETTINGS["scheme"],
        "message": "{id}.{body}",
        "id": {"header": "X-Message-Id"},
    }
    fields = {name: at for name, at in CUSTOM_SETTINGS["fields"].items() if name != "event_id"}
    for given, expected in (
        ({"scheme": scheme, "fields": fields}, "msg_9"),
        ({"scheme": scheme, "fields": CUSTOM_SETTINGS["fields"]}, "e1"),
        (
            {"scheme": CUSTOM_SETTINGS["scheme"], "fields": fields},
            hashlib.sha256(BODY).hexdigest(),
        ),
    ):
        request = as_request(BODY, {"X-Message-Id": "msg_9"})
        (reading,) = Custom().read(request, an_account(settings=given))
        assert reading.event_id == expected


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "settings.scheme is missing"),
        ({"scheme": CUSTOM_SETTINGS["scheme"]}, "settings.fields is missing"),
        ({**CUSTOM_SETTINGS, "feilds": {}}, "settings.feilds is not a known setting"),
        (
            {**CUSTOM_SETTINGS, "scheme": {"scheme": "static_token"}},
            "settings.scheme.scheme: a static token does not authenticate what the body says",
        ),
    ],
)
def test_settings_that_are_not_safe_are_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(Misconfigured, match=f"^{why}"):
        Custom().check_settings(an_account(CUSTOM_SECRET, settings=settings))


def test_broken_settings_accept_nothing_and_raise_nothing() -> None:
    request = as_request(BODY, signed_custom(BODY))
    account = an_account(CUSTOM_SECRET, settings={"scheme": "x"})
    assert Custom().authenticate(request, account, now=NOW) == Rejected(Reason.MISCONFIGURED)
    (reading,) = Custom().read(request, account)
    assert reading == Unreadable(
        "settings.scheme must be an object", hashlib.sha256(BODY).hexdigest()
    )


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(Misconfigured, match=r"^key 'k0' is shorter than 16 bytes"):
        Custom().check_settings(an_account("changeme", settings=CUSTOM_SETTINGS))
