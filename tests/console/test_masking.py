"""What of a callback is shown: all that decides, nothing of the payer."""

import json

import pytest

from config.console.masking import masked

SHOWN = {"id": "pi_1", "amount": 1099, "currency": "usd", "metadata": {"order": "1001"}}
HIDDEN = {
    "receipt_email": "ann@example.com",
    "billing_details": {"name": "Ann", "phone": "+15550100", "address": {"line1": "1 High St"}},
    "card": {"last4": "4242", "exp_month": 12},
    "note": "write to ann@example.com, card 4242424242424242",
    "payer_ids": [{"openid": "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o"}],
}
#: The same person, as other providers write about her.
ANN: dict[str, bytes] = {
    "a form of fields in fields": b"customer%5Bemail%5D=ann%40example.com&customer%5Bid%5D=Ann",
    "JSON as a field of a form": b"data=%7B%22payer%22%3A%7B%22given%22%3A%22Ann%22%7D%7D",
    "JSON as a text of JSON": rb'{"extra": "{\"payer\":{\"given\":\"Ann\"}}"}',
    "a name that is spelled out": rb'{"\u0065mail": "Ann"}',
    "a list": b'{"emails": ["Ann"]}',
    "below a personal name": b'{"phone": {"national_number": "15550100", "code": 15550100}}',
    "a number": b'{"last4": 4242}',
    "attributes": b'<paid buyer="Ann"><email type="home">Ann</email></paid>',
    "elements in elements": b'<a:buyer xmlns:a="x"><a:given>Ann</a:given></a:buyer>',
    "JSON in an element": b'<data>{"payer": "Ann"}</data>',
    "a remark": b"<a><!-- ann@example.com --></a>",
}
LEAKS = ("ann@", "Ann", "15550100", "4242", "High", "oUpF8")


def test_json_keeps_its_shape_and_what_decides() -> None:
    shown = masked(json.dumps({**SHOWN, **HIDDEN}).encode())

    assert json.loads(shown).items() >= SHOWN.items()
    assert json.loads(shown)["note"] == "write to ***, card ***"
    assert not [leak for leak in LEAKS if leak in shown]


@pytest.mark.parametrize("number", ["10.10", "1e2", "-0.50", "0", "12345678901234567890", "NaN"])
def test_a_number_stays_as_it_was_written(number: str) -> None:
    assert f'"amount": {number}' in masked(f'{{"amount": {number}}}'.encode())
    within = f'{{"amount": {number}}}'
    assert json.loads(masked(json.dumps({"data": within}).encode()))["data"] == within


def test_a_name_that_is_told_twice_is_not_shown_once() -> None:
    assert masked(b'{"amount": 1000, "amount": 1}') == ""


@pytest.mark.parametrize("how", ANN)
def test_nothing_of_the_payer_is_left_however_it_is_written(how: str) -> None:
    shown = masked(ANN[how])

    assert "***" in shown
    assert not [leak for leak in LEAKS if leak in shown]


def test_a_long_number_that_is_no_cards_stays() -> None:
    body = {"trade_no": "4242424242424243", "text": "card 4242424242424242"}

    assert json.loads(masked(json.dumps(body).encode())) == {**body, "text": "card ***"}


def test_a_long_body_is_looked_through_to_its_end() -> None:
    body = {"filler": "x" * 20_000, "email": "ann@example.com", "order": "1001"}

    assert json.loads(masked(json.dumps(body).encode())) == {**body, "email": "***"}


def test_a_form_is_a_line_a_field_and_json_within_is_looked_through() -> None:
    body = b"out_trade_no=1001&total_amount=10.99&buyer_logon_id=ann%40example.com&sign=Zm9v"
    inner = b'data={"order": "1001", "payer_email": "ann@example.com"}'

    assert masked(body).splitlines() == [
        "out_trade_no=1001",
        "total_amount=10.99",
        "buyer_logon_id=***",
        "sign=***",
    ]
    assert '"order": "1001"' in masked(inner)
    assert "ann@" not in masked(inner)


def test_xml_keeps_its_elements() -> None:
    body = (
        b"<xml><out_trade_no>1001</out_trade_no><openid><![CDATA[oUpF8uMuAJO]]></openid>"
        b"<total_fee>1099</total_fee></xml>"
    )

    assert masked(body) == (
        "<xml><out_trade_no>1001</out_trade_no><openid>***</openid><total_fee>1099</total_fee></xml>"
    )


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"no form and no JSON", b'"ann"', b"{" * 5000, b"a" * 20_000]
)
def test_what_cannot_be_looked_through_is_not_shown(body: bytes) -> None:
    assert masked(body) == ""


def test_what_would_hide_or_reorder_text_is_spelled_out() -> None:
    assert "[U+202E]" in masked('{"order": "1001\u202e"}'.encode())


def test_what_is_nested_without_end_is_cut() -> None:
    deep = b'{"a":' * 60 + b'"ann@example.com"' + b"}" * 60

    assert "ann" not in masked(deep)
