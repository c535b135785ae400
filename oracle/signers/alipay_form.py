"""Alipay's notifications as a form, for both SDKs: what they say, and ways to spoil them."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote_to_bytes

from oracle.signers import openssl
from oracle.signers.cases import Case, Chance, Currency, Signer

APP, SELLER = "2014072300007148", "2088102119685838"
CNY = Currency("CNY", 2, 2)
ALIPAYS, STRANGER = openssl.RsaKey(), openssl.RsaKey()
CONFIG = {"app_id": APP, "seller_id": SELLER, "alipay_public_key_pem": ALIPAYS.public_pem}
HEADERS = [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")]


def trade(chance: Chance) -> tuple[dict[str, str], dict[str, Any]]:
    """A trade's fields and what they say."""
    _, major = chance.amount(CNY)
    status, refunded = chance.choice(
        [
            ("TRADE_SUCCESS", False),
            ("TRADE_SUCCESS", False),
            ("TRADE_SUCCESS", True),
            ("TRADE_FINISHED", False),
            ("TRADE_CLOSED", False),
            ("TRADE_CLOSED", True),
            ("WAIT_BUYER_PAY", False),
        ]
    )
    outcome = {"TRADE_CLOSED": "closed", "WAIT_BUYER_PAY": "pending"}.get(status, "paid")
    order, txn, number = chance.word(20), chance.digits(28), chance.word(34).lower()
    fields = {
        "notify_time": "2026-01-01 08:00:01",
        "notify_type": "trade_status_sync",
        "notify_id": number,
        "charset": "utf-8",
        "version": "1.0",
        "app_id": APP,
        "trade_no": txn,
        "out_trade_no": order,
        "seller_id": SELLER,
        "buyer_id": chance.digits(16),
        "trade_status": status,
        "total_amount": major,
        "receipt_amount": "0.01",
        "subject": chance.text(),
        "body": chance.text(),
        "gmt_create": "2026-01-01 07:59:00",
        "fund_bill_list": '[{"amount":"1.00","fundChannel":"ALIPAYACCOUNT"}]',
        "passback_params": quote("a=1&b=订单"),
    }
    if refunded:
        outcome, (_, major) = "refunded", chance.amount(CNY)
        fields |= {
            "refund_fee": major,
            "gmt_refund": "2026-01-01 08:00:00.123",
            "out_biz_no": chance.word(12),
        }
    says = {
        "event_id": number,
        "event_type": f"trade_status_sync:{status}",
        "outcome": outcome,
        "provider_txn_id": txn,
        "merchant_order_no": order,
        "amount": major,
        "currency": "CNY",
        "account": APP,
    }
    return fields, says


def form(
    fields: Mapping[str, str], charset: str = "utf-8", escape: Callable[..., str] = quote_plus
) -> bytes:
    """The form of these fields."""
    return "&".join(
        f"{name}={escape(value.encode(charset, 'strict'))}" for name, value in fields.items()
    ).encode()


@dataclass(frozen=True)
class Sdk:
    """One SDK: `sign` gives the base64 of the fields but sign and sign_type."""

    tool: str
    sign: Callable[[Mapping[str, str], openssl.RsaKey, str], str]
    verify: Callable[[dict[str, str], str, str], object]

    def made(
        self,
        chance: Chance,
        *,
        by: openssl.RsaKey = ALIPAYS,
        charset: str = "utf-8",
        escape: Callable[..., str] = quote_plus,
        **fields: str | None,
    ) -> Case:
        """A genuine notification; `fields` are added before it is signed, None removes one."""
        given, says = trade(chance)
        if charset != "utf-8":
            given |= {"charset": charset, "subject": "大乐透 订单", "body": "a&b=c%20+d"}
        given = {name: value for name, value in {**given, **fields}.items() if value is not None}
        signature = self.sign(given, by, charset)
        items = [*given.items(), ("sign", signature), ("sign_type", "RSA2")]
        chance.shuffle(items)
        return Case(
            CONFIG,
            HEADERS,
            form(dict(items), charset, escape),
            chance.time(),
            None if fields else says,
        )

    def verified(self, case: Case) -> object:
        """The SDK's verdict on the decoded form."""
        charset = "gbk" if b"charset=gbk" in case.body else "utf-8"
        pairs = parse_qsl(
            case.body.decode(), keep_blank_values=True, strict_parsing=True, encoding=charset
        )
        fields = dict(pairs)
        signature = fields.pop("sign", "")
        return self.verify(fields, signature, charset)

    def spoiled(self, change: Callable[[Chance, dict[str, str]], Any]) -> Callable[[Chance], Case]:
        """A kind with fields changed after it was signed."""

        def kind(chance: Chance) -> Case:
            case = self.made(chance)
            fields = dict(parse_qsl(case.body.decode(), keep_blank_values=True))
            change(chance, fields)
            return replace(case, body=form(fields))

        return kind

    def of_body(self, change: Callable[[Chance, bytes], bytes]) -> Callable[[Chance], Case]:
        """A kind with the bytes changed."""

        def kind(chance: Chance) -> Case:
            case = self.made(chance)
            return replace(case, body=change(chance, case.body))

        return kind

    def sha1(self, chance: Chance) -> Case:
        """Signed by the algorithm that RSA2 has replaced."""
        given, _ = trade(chance)
        text = "&".join(f"{name}={given[name]}" for name in sorted(given))
        fields = {**given, "sign": ALIPAYS.sign(text.encode(), "sha1"), "sign_type": "RSA2"}
        return Case(CONFIG, HEADERS, form(fields), chance.time())

    def signer(self) -> Signer:
        """The signer."""
        spoiled, of_body, made = self.spoiled, self.of_body, self.made

        def signature(change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
            return spoiled(
                lambda chance, fields: fields.update(sign=change(chance, fields["sign"]))
            )

        kinds = {
            "gbk": lambda chance: made(chance, charset="gbk"),
            "other_key": lambda chance: made(chance, by=STRANGER),
            "sha1": self.sha1,
            "empty_field": lambda chance: made(chance, buyer_logon_id=""),
            "unknown_field": lambda chance: made(chance, x_new_field=chance.text()),
            "foreign_app": lambda chance: made(chance, app_id=chance.digits(16)),
            "escaped_spaces": lambda chance: made(chance, escape=quote),
            "escaped_all": of_body(escaped_all),
            "amount_other": spoiled(
                lambda _, fields: fields.update(total_amount="0.01" + fields["total_amount"])
            ),
            "status_other": spoiled(lambda _, fields: fields.update(trade_status="TRADE_SUCCESS.")),
            "field_added": spoiled(lambda _, fields: fields.update(x="1")),
            "empty_field_added": spoiled(lambda _, fields: fields.update(x="")),
            "field_removed": spoiled(lambda _, fields: fields.pop("receipt_amount")),
            "field_twice": of_body(lambda _, body: body + b"&total_amount=00.01"),
            "field_twice_first": of_body(lambda _, body: b"total_amount=00.01&" + body),
            "bit": of_body(signed_bit),
            "signature_missing": spoiled(lambda _, fields: fields.pop("sign")),
            "signature_empty": signature(lambda *_: ""),
            "signature_other": signature(lambda chance, made: chance.other(made)),
            "signature_decoded_twice": signature(lambda _, made: made.replace("+", " ")),
            "signature_unpadded": signature(lambda _, made: made.rstrip("=")),
            "signature_wrapped": signature(lambda _, made: made[:76] + "\n" + made[76:]),
            "signature_urlsafe": signature(
                lambda _, made: made.translate(str.maketrans("+/", "-_"))
            ),
            "signature_not_ascii": signature(lambda _, made: "é" + made[1:]),
            "signature_of_other_length": signature(
                lambda *_: base64.b64encode(b"x" * 128).decode()
            ),
            "sign_type_rsa": spoiled(lambda _, fields: fields.update(sign_type="RSA")),
            "sign_type_missing": spoiled(lambda _, fields: fields.pop("sign_type")),
            "decoded_twice": spoiled(lambda _, fields: fields.update(passback_params="a=1&b=订单")),
        }
        return Signer("alipay", self.tool, made, self.verified, kinds)


def signed_bit(chance: Chance, body: bytes) -> bytes:
    """The same but for one bit of what is signed."""
    pieces = body.split(b"&")
    return chance.flip(body, *(piece for piece in pieces if piece.startswith(b"sign")))


def escaped_all(_chance: Chance, body: bytes) -> bytes:
    """The same form with every byte of its values escaped, in small letters."""
    pieces = []
    for piece in body.split(b"&"):
        name, _, value = piece.partition(b"=")
        plain = unquote_to_bytes(value.replace(b"+", b" "))
        pieces.append(name + b"=" + b"".join(b"%%%02x" % byte for byte in plain))
    return b"&".join(pieces)
