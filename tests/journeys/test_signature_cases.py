"""What was signed, by whom, and for which mode."""

import hashlib

import pytest

from payments.models import Delivery
from tests.factories import STRIPE_SECRET, OrderFactory
from tests.journeys.shop import Shop, events, outcomes, transactions
from tests.payments.over_http import custom_body, signed, standard_paid, stripe_paid

#: Spaces, an escaped slash, an escape, a trailing zero and a line break: no writer of JSON
#: would write it so again.
ODD_BYTES = rb'{"id": "e1",  "url":"a\/b","n":"\u00e9","amt":1.50,"z":1,"a":2}' + b"\n"


@pytest.mark.parametrize(
    "content_type",
    [
        *("application/json", "application/x-www-form-urlencoded", "text/plain"),
        *("multipart/form-data; boundary=x", "multipart/form-data"),
    ],
)
def test_the_signature_is_over_the_very_bytes_and_these_are_kept(
    shop: Shop, content_type: str
) -> None:
    headers = signed(shop.custom, ODD_BYTES) | {"Content-Type": content_type}

    one_space_less = ODD_BYTES.replace(b"  ", b" ")
    assert shop.post(one_space_less, shop.custom, headers=headers).status_code == 401
    assert outcomes() == []
    assert shop.post(ODD_BYTES, shop.custom, headers=headers).status_code == 200

    delivery = Delivery.objects.get()
    assert bytes(delivery.body or b"") == ODD_BYTES
    assert bytes(delivery.body_sha256) == hashlib.sha256(ODD_BYTES).digest()
    # It says nothing about a payment, but it is authentic: somebody must see it.
    assert outcomes() == ["QUARANTINED UNREADABLE"]


def test_a_multipart_body_is_evidence_as_any_other(shop: Shop) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    headers = signed(shop.custom, body) | {"Content-Type": "multipart/form-data; boundary=x"}

    assert shop.post(body, shop.custom, headers=headers).status_code == 200
    assert bytes(Delivery.objects.get().body or b"") == body


def _odd_signatures(right: str) -> dict[str, str | None]:
    return {
        "no header": None,
        "an empty header": "",
        "empty items": "t=,v1=",
        "no time": right.partition(",")[2],
        "no signature": right.partition(",")[0],
        "an empty signature": "v1=",
        "10 kB": right + "," + "x" * 10_240,
        "beyond ASCII": right[:-1] + "\xe9",
        "capitals": right.upper().replace("V1=", "v1=").replace("T=", "t="),
        "twice": f"{right},{right}",
    }


def test_an_odd_signature_is_refused_with_the_same_few_words(shop: Shop) -> None:
    body = stripe_paid("1001")
    right = signed(shop.stripe, body)["Stripe-Signature"]
    answers = {}
    for oddity, header in _odd_signatures(right).items():
        headers = {} if header is None else {b"Stripe-Signature": header.encode("latin-1")}
        answer = shop.post(body, headers=headers)
        answers[oddity] = answer.status_code, answer.content

    assert answers == dict.fromkeys(answers, (401, b"not authentic"))
    assert (outcomes(), transactions()) == ([], [])


def test_base64_without_its_padding_is_refused(shop: Shop) -> None:
    body = standard_paid("1001")
    headers = signed(shop.standard, body)
    headers["webhook-signature"] = headers["webhook-signature"].rstrip("=")

    assert shop.post(body, shop.standard, headers=headers).status_code == 401
    assert outcomes() == []


def test_a_test_event_never_pays_a_live_order(shop: Shop) -> None:
    test_secret = "whsec_tests_of_test_mode_8Jd2"
    shop.account("stripe", live=False, account_no="acct_1", secret=test_secret)
    shop.place("O-61")
    test_event = stripe_paid("O-61", livemode=False)

    by_test_secret = shop.post(
        test_event, headers=signed(shop.stripe, test_event, secret=test_secret)
    )
    assert (by_test_secret.status_code, outcomes()) == (401, [])
    assert shop.tell(test_event) == "QUARANTINED WRONG_MODE"
    assert shop.tell(custom_body("O-61", mode="test"), shop.custom) == "QUARANTINED WRONG_MODE"
    assert (shop.status("O-61"), transactions(), events()) == ("WAIT_PAY", [], [])


def test_one_number_in_test_and_live_is_two_transactions(shop: Shop) -> None:
    live = shop.account("stripe", live=True, account_no="acct_both")
    test = shop.account("stripe", live=False, account_no="acct_both")
    OrderFactory.create(merchant=shop.merchant, order_no="O-LIVE")

    assert shop.tell(stripe_paid("O-LIVE", txn_no="pi_same"), live) == "APPLIED"
    assert shop.tell(stripe_paid("O-TEST", txn_no="pi_same", livemode=False), test) == "PARKED"
    assert [row[0] for row in transactions()] == ["pi_same", "pi_same"]


def test_the_secret_of_one_account_proves_nothing_to_another(shop: Shop) -> None:
    other = shop.account("stripe", secret="whsec_tests_of_the_other_7Hq0")
    body = stripe_paid("O-1")

    assert (
        shop.post(body, other, headers=signed(other, body, secret=STRIPE_SECRET)).status_code == 401
    )
    assert outcomes() == []
