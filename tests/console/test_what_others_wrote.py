"""Text that a stranger may have written is shown as text, and secrets are not shown at all."""

import base64
import html

import pytest
from django.test import Client

from config.console import text
from config.console.evidence import masked
from orders.models import ApiKey, Merchant
from payments import vault
from payments.models import AccountKey, Delivery
from tests import factories
from tests.console import hostile
from tests.console.hostile import MARKUP, SCRIPT_END, TEMPLATE
from tests.console.rooms import Rows, furnish, list_of, page_of, pages


@pytest.fixture
def hostile_rows(db: None) -> Rows:
    return hostile.hostile_rows()


def test_hostile_text_is_text_on_every_page(superuser: Client, hostile_rows: Rows) -> None:
    seen = 0
    for page in pages(hostile_rows):
        shown = superuser.get(page).content.decode()
        assert MARKUP not in shown, page
        assert f"{TEMPLATE}{SCRIPT_END}" not in shown, page
        if page != page_of(hostile_rows[Merchant]):  # there it stands in a field to be edited
            assert "\u202e" not in shown, page
        seen += html.escape(MARKUP) in shown

    # All but the lists of accounts' and merchants' codes and the like have such a column.
    assert seen >= 14


def test_a_long_body_is_shown_up_to_its_limit(superuser: Client) -> None:
    body = b"B" * (text.TEXT_BYTES_MAX + 1)
    delivery = factories.DeliveryFactory.create(body=body)

    shown = superuser.get(page_of(delivery)).content.decode()

    assert "16385 bytes, the first 16384 are shown" in shown
    assert shown.count("B" * text.TEXT_BYTES_MAX) == 1
    assert "B" * (text.TEXT_BYTES_MAX + 1) not in shown


def test_a_body_that_is_no_text_is_shown_in_hex(superuser: Client) -> None:
    delivery = factories.DeliveryFactory.create(body=b"\x00\xff<b>")

    shown = superuser.get(page_of(delivery)).content.decode()

    assert "5 bytes, not text, shown in hex" in shown
    assert "00000000  00 ff 3c 62 3e" in shown


def test_an_item_of_a_batch_leads_to_the_bytes(superuser: Client) -> None:
    first = factories.DeliveryFactory.create()
    second = factories.DeliveryFactory.create(
        account=first.account, batch_id=first.batch_id, item_no=1, body=None
    )

    assert f'href="{page_of(first)}"' in superuser.get(page_of(second)).content.decode()


def test_no_page_shows_a_secret(superuser: Client) -> None:
    secret, proof = "canary-of-key-material", "v1=canary-of-a-signature"
    rows = furnish(
        account_secret=secret,
        delivery_headers=[["webhook-signature", proof], ["x-api-key", secret]],
    )
    sealed = bytes(AccountKey.objects.get().material)
    digest = bytes(rows[ApiKey].secret_sha256)
    telling = [
        secret,
        proof,
        sealed.decode(),
        digest.hex(),
        base64.b64encode(digest).decode(),
        repr(digest),
    ]
    assert vault.unseal(sealed).decode() == secret

    for page in pages(rows):
        shown = html.unescape(superuser.get(page).content.decode())
        assert [canary for canary in telling if canary in shown] == [], page
    assert "v1=canar... (24 characters)" in superuser.get(page_of(rows[Delivery])).content.decode()


def test_an_api_key_cannot_be_guessed_at_by_its_digest(superuser: Client) -> None:
    key = factories.ApiKeyFactory.create()
    digest = bytes(key.secret_sha256).hex()

    assert superuser.get(f"{list_of(ApiKey)}?secret_sha256={digest}").status_code == 400


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("stripe-signature", "abcdefgh... (10 characters)"),
        ("X-Hub-Signature-256", "abcdefgh... (10 characters)"),
        ("paypal-transmission-sig", "abcdefgh... (10 characters)"),
        ("x-hmac", "abcdefgh... (10 characters)"),
        ("x-callback-token", "abcdefgh... (10 characters)"),
        ("content-type", "abcdefghij"),
    ],
)
def test_what_a_header_proves_is_cut_short(name: str, shown: str) -> None:
    assert masked(name, "abcdefghij") == shown


def test_a_short_proof_is_cut_to_nothing_less_than_it_is() -> None:
    assert masked("x-signature", "abcdefgh") == "abcdefgh"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b'{"a": 1}', ('{"a": 1}', "text")),
        ("caf\u00e9 \u6843".encode(), ("caf\u00e9 \u6843", "text")),
        (b"a\r\nb\tc\r", ("a\nb\tc[U+000D]", "text")),
        ("a\u202eb\u200b".encode(), ("a[U+202E]b[U+200B]", "text")),
        (b"", ("", "text")),
        (b"\xff", ("00000000  ff                                               .", "hex")),
        (b"a\0", ("00000000  61 00                                            a.", "hex")),
    ],
)
def test_bytes_are_shown_as_what_they_are(raw: bytes, shown: tuple[str, str]) -> None:
    assert text.from_bytes(raw) == shown


@pytest.mark.parametrize("before", range(4))
def test_a_cut_within_a_letter_leaves_text(before: int) -> None:
    raw = (b"a" * before) + "\U0001f4b0".encode() * (text.TEXT_BYTES_MAX // 4 + 1)

    shown, form = text.from_bytes(raw)

    assert form == "text"
    assert shown == "a" * before + "\U0001f4b0" * ((text.TEXT_BYTES_MAX - before) // 4)


def test_a_hex_dump_has_sixteen_bytes_a_line() -> None:
    assert text.hex_dump(bytes(range(0x30, 0x42))) == (
        "00000000  30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?\n"
        "00000010  40 41                                            @A"
    )


@pytest.mark.parametrize(
    "guess", ["headers__0__1__startswith=v1", "body__contains=x", "account__keys__material=x"]
)
def test_a_list_answers_only_what_its_filters_ask(superuser: Client, guess: str) -> None:
    factories.DeliveryFactory.create()

    assert superuser.get(f"{list_of(Delivery)}?{guess}").status_code == 400
