"""What the simulator's events mean, and which accounts it takes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind
from payments.providers.port import Key, Misconfigured
from payments.providers.registry import PROVIDERS
from tests.providers.hmac_senders import SIMULATOR, read_one

REFUND = {
    "id": "ref_1",
    "refund_no": "R-1",
    "payment": "pay_1",
    "amount_minor": 500,
    "currency": "EUR",
    "status": "succeeded",
}
DISPUTE = {"id": "dsp_1", "payment": "pay_1", "amount_minor": 1099, "currency": "EUR"}


def told(event_type: str, **about: Any) -> Callback:
    event = json.loads(SIMULATOR.body)
    del event["payment"]
    return read_one(SIMULATOR, {**event, "type": event_type, **about})


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("refund.pending", Kind.PENDING),
        ("refund.succeeded", Kind.REFUNDED),
        ("refund.failed", Kind.REFUND_FAILED),
    ],
)
def test_a_refund_names_its_payment_and_the_merchants_number(event_type: str, kind: Kind) -> None:
    refund = told(event_type, refund=REFUND)
    assert (refund.kind, refund.txn_no, refund.money) == (kind, "ref_1", Money(500, "EUR"))
    assert (refund.reverses, refund.refund_no) == ("pay_1", "R-1")


def test_a_refund_by_hand_has_no_number_of_the_merchants() -> None:
    assert told("refund.succeeded", refund={**REFUND, "refund_no": None}).refund_no == ""


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("dispute.opened", Kind.DISPUTED),
        ("dispute.won", Kind.DISPUTE_WON),
        ("dispute.lost", Kind.DISPUTE_LOST),
    ],
)
def test_a_dispute_names_its_payment(event_type: str, kind: Kind) -> None:
    dispute = told(event_type, dispute=DISPUTE)
    assert (dispute.kind, dispute.txn_no, dispute.reverses) == (kind, "dsp_1", "pay_1")
    assert dispute.money == Money(1099, "EUR")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"live": True}, "test mode"),
        ({"settings": {"api_url": "ftp://127.0.0.1"}}, "api_url"),
        ({"settings": {"api_urls": "http://127.0.0.1:8010"}}, "api_urls is not a known setting"),
        ({"keys": (Key("k1", "api", b"two\nlines"),)}, "k1"),
    ],
)
def test_an_account_that_could_not_work_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(Misconfigured, match=problem):
        PROVIDERS["simulator"].check_settings(replace(SIMULATOR.account, **changes))


def test_an_account_may_name_the_address_of_the_api() -> None:
    settings = {"api_url": "http://127.0.0.1:8010"}
    PROVIDERS["simulator"].check_settings(replace(SIMULATOR.account, settings=settings))
