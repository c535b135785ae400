"""What nobody may read in a log or an answer: secrets, signatures, and who paid with what."""

import json

import pytest
from django.db import connection

from payments.models import ProviderAccount
from tests import wire
from tests.factories import (
    STRIPE_SECRET,
    ApiKeyFactory,
    OrderFactory,
    ProviderAccountFactory,
    api_token,
)
from tests.payments.over_http import call, custom_body, custom_paid, number, signed, stripe_paid
from tests.processes import Web
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS

PAN = "4111111111111111"
BUYER = "Cornelia Canary-Vogel"
ADDRESS = "canary@buyer.example"
CVV = "cvv-canary-737"
COOKIE = "canarysession0123456789abcdef"
BEARER = "canary-bearer-token-5512"
QUERY = "canary-in-the-query"
BUYER_FIELDS = {"payer": BUYER, "email": ADDRESS, "card": {"number": PAN, "cvc": CVV}, "note": PAN}


@pytest.fixture
def account(transactional_db: None) -> ProviderAccount:
    return ProviderAccountFactory.create(
        provider="custom", account_no="m-1", settings=CUSTOM_SETTINGS, secret=CUSTOM_SECRET
    )


def _requests(account: ProviderAccount, order_no: str) -> list[bytes]:
    """Every kind of fate, with the canaries in every place."""
    marked = {
        "extra": [
            ("Cookie", f"sessionid={COOKIE}"),
            ("Authorization", f"Bearer {BEARER}"),
            ("X-Buyer", BUYER),
            ("User-Agent", ADDRESS),
        ]
    }
    endpoint = f"/callbacks/{account.endpoint}"
    applied = custom_body(order_no, **BUYER_FIELDS)
    bodies = [
        applied,
        applied,
        custom_body(order_no, amount=1, **BUYER_FIELDS),
        custom_body("NONE", **BUYER_FIELDS),
        custom_body(order_no, type="ping", **BUYER_FIELDS),
        custom_body(order_no, type="failed", **BUYER_FIELDS),
        *(custom_body(order_no, **{field: BUYER}) for field in custom_paid(order_no)),
        *(custom_body(order_no, **{field: {"a": PAN}}) for field in custom_paid(order_no)),
        f'{{"{PAN}": "{BUYER}", "{PAN}": 1'.encode(),
        json.dumps([BUYER, PAN, ADDRESS]).encode(),
        f"{BUYER} {PAN}".encode("utf-16"),
    ]
    return [
        *(call(account, body, path=f"{endpoint}?q={QUERY}", **marked) for body in bodies),  # type: ignore[arg-type]
        *(
            call(account, applied, headers={"X-Signature": signature}, **marked)  # type: ignore[arg-type]
            for signature in ("", "0" * 64, PAN, BUYER, "\xe9" * 64)
        ),
        call(account, applied, path=f"/callbacks/custom/none?q={QUERY}"),
        call(account, applied, path=f"/nowhere?q={QUERY}"),
        call(account, applied, method="GET"),
        call(account, applied, headers={"Host": "evil.test"}),
        call(account, applied, headers={"Content-Encoding": "gzip"}),
        call(account, b"x" * 300_000),
    ]


def test_no_secret_and_no_person_is_in_any_log_line_or_answer(
    live_web: Web, account: ProviderAccount
) -> None:
    order = OrderFactory.create(merchant=account.merchant)
    token = api_token(ApiKeyFactory.create(merchant=account.merchant))
    raws = _requests(account, order.order_no)
    headers = [("Host", "localhost"), ("Connection", "close"), ("Authorization", f"Bearer {token}")]
    order_body = json.dumps({"order_no": BUYER, "amount": {"amount_minor": PAN}}).encode()
    as_json = [("Content-Type", "application/json"), ("Content-Length", str(len(order_body)))]
    as_json.append(("Idempotency-Key", BUYER))
    raws.append(wire.request("POST", "/v1/orders", [*headers, *as_json], order_body))
    written_before = len(live_web.output())

    answers = [wire.send(live_web.url, raw) for raw in raws]

    written = live_web.output()[written_before:]
    told = b"".join(answer.body for answer in answers[:-1]).decode()
    signatures = [signed(account, raw.partition(b"\r\n\r\n")[2])["X-Signature"] for raw in raws]
    canaries = [
        *(PAN, BUYER, ADDRESS, CVV, COOKIE, BEARER, QUERY, CUSTOM_SECRET, token, *signatures),
        *(word.encode().hex() for word in (PAN, BUYER, ADDRESS)),
    ]
    assert [word for word in canaries if word in written] == []
    assert [word for word in canaries if word in told] == []
    assert len(written.splitlines()) >= len(raws)
    assert all(json.loads(line) for line in written.splitlines())


@pytest.mark.parametrize(
    "refusal",
    [
        "ADD CONSTRAINT hinder CHECK (false) NOT VALID",
        "ADD CONSTRAINT hinder CHECK (octet_length(body) = 0) NOT VALID",
    ],
)
def test_a_fault_of_ours_is_traced_without_what_was_sent(
    live_web: Web, account: ProviderAccount, refusal: str
) -> None:
    stripe = ProviderAccountFactory.create()
    body = stripe_paid("1001", thing={"receipt_email": ADDRESS, "description": f"{BUYER} {PAN}"})
    raw = call(stripe, body, extra=[("X-Buyer", BUYER)])
    written_before = len(live_web.output())
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE payments_delivery {refusal}")
        try:
            answer = wire.send(live_web.url, raw)
        finally:
            cursor.execute("ALTER TABLE payments_delivery DROP CONSTRAINT hinder")

    assert (answer.status, answer.body) == (503, b"try again later")
    written = live_web.output()[written_before:]
    (fault,) = [
        line
        for line in map(json.loads, written.splitlines())
        if line["event"] == "callback not stored"
    ]
    assert "violates check constraint" in fault["exception"]
    signature = signed(stripe, body)["Stripe-Signature"].partition("v1=")[2]
    words = (ADDRESS, BUYER, PAN, STRIPE_SECRET, signature)
    assert [word for word in words if word in written or word.encode().hex() in written] == []
    assert wire.send(live_web.url, raw).status == 200


def test_settings_and_keys_do_not_show_their_secrets(account: ProviderAccount) -> None:
    from payments.accounts import find_endpoint  # noqa: PLC0415

    endpoint = find_endpoint(account.provider, account.name)
    shown = f"{endpoint!r} {account!r} {account.keys.get()!r} {number()}"

    assert CUSTOM_SECRET not in shown
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(k::text, ' ') FROM payments_accountkey k")
        (kept,) = cursor.fetchone()
    assert CUSTOM_SECRET not in kept
    assert CUSTOM_SECRET.encode().hex() not in kept
