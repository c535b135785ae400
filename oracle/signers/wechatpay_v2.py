"""WeChat Pay v2: wechatpy (not Tencent's own) signs and verifies; it opens refund notices."""

import base64
from collections.abc import Callable
from dataclasses import replace
from hashlib import md5
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from wechatpy.pay import WeChatPay
from wechatpy.pay.utils import calculate_signature, calculate_signature_hmac, dict_to_xml

from oracle.signers.cases import Case, Chance, Currency, Signer, run

MERCHANT, APP = "10000100", "wx2421b1c4370ec43b"
CURRENCIES = (Currency("CNY", 2, 2), Currency("CNY", 2, 2), Currency("HKD", 2, 2))
HEADERS = [("Content-Type", "text/xml")]


def payment(chance: Chance) -> tuple[dict[str, str], dict[str, Any]]:
    """A payment's fields and what they say."""
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    order, txn, result = (
        chance.word(20),
        chance.digits(28),
        chance.choice(["SUCCESS", "SUCCESS", "FAIL"]),
    )
    note = "".join(
        char for char in chance.text() if char.isprintable() and char != "\u202e"
    ).strip()
    fields = {
        "appid": APP,
        "mch_id": MERCHANT,
        "nonce_str": chance.word(32),
        "out_trade_no": order,
        "transaction_id": txn,
        "total_fee": str(wire),
        "cash_fee": str(wire),
        "fee_type": currency.code,
        "return_code": "SUCCESS",
        "result_code": result,
        "time_end": "20260101080000",
        "trade_type": "JSAPI",
        "bank_type": "CFT",
        "is_subscribe": "Y",
        "attach": note,
    }
    says = {
        "event_id": txn,
        "event_type": "pay",
        "outcome": "paid" if result == "SUCCESS" else "failed",
        "provider_txn_id": txn,
        "merchant_order_no": order,
        "amount": major,
        "currency": currency.code,
        "account": MERCHANT,
    }
    return fields, says


def config_of(chance: Chance, **more: Any) -> dict[str, Any]:
    """An account's configuration."""
    return {"mch_id": MERCHANT, "appid": APP, "api_keys": [chance.word(32)], **more}


def made(
    chance: Chance,
    *,
    by: str = "",
    sign: Callable[..., str] = calculate_signature,
    config: dict[str, Any] | None = None,
    **fields: Any,
) -> Case:
    """A genuine payment by MD5; `fields` are added before it is signed, None removes one."""
    given, says = payment(chance)
    config = config or config_of(chance)
    given = {name: value for name, value in {**given, **fields}.items() if value is not None}
    text = dict_to_xml(given, sign(given, by or config["api_keys"][0]))
    return Case(config, HEADERS, text.encode(), chance.time(), None if fields else says)


def verified(case: Case) -> bool:
    """Whether the SDK takes it, with one of the keys; it knows MD5 only."""
    failure = None
    for key in case.config["api_keys"]:
        try:
            read = WeChatPay(APP, key, MERCHANT).parse_payment_result(case.body.decode())
        except Exception as error:  # noqa: BLE001 - told below, unless another key fits
            failure = error
            continue
        if case.normalized and int(case.normalized["amount"].replace(".", "")) != read["total_fee"]:
            raise AssertionError("the SDK reads another amount")
        return True
    raise failure


def spoiled(change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
    """A kind with the text changed after it was signed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return replace(case, body=change(chance, case.body.decode()).encode())

    return kind


def signature(change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
    """A kind with another signature."""

    def apply(chance: Chance, text: str) -> str:
        head, _, rest = text.partition("<sign><![CDATA[")
        made, _, tail = rest.partition("]]></sign>")
        return f"{head}<sign><![CDATA[{change(chance, made)}]]></sign>{tail}"

    return spoiled(apply)


def refund(chance: Chance, *, by: str = "", **more: str) -> Case:
    """A refund notice: encrypted as the documentation says, which the SDK opens."""
    config, refund_id, order = config_of(chance), chance.digits(29), chance.word(20)
    wire, major = chance.amount(CURRENCIES[0])
    status, outcome = chance.choice(
        [("SUCCESS", "refunded"), ("CHANGE", "refund_failed"), ("REFUNDCLOSE", "refund_failed")]
    )
    inside = {
        "transaction_id": chance.digits(28),
        "out_trade_no": order,
        "refund_id": refund_id,
        "out_refund_no": chance.word(20),
        "total_fee": str(wire + 5),
        "refund_fee": str(wire),
        "settlement_refund_fee": str(wire),
        "refund_status": status,
        "success_time": "2026-01-01 08:00:00",
    }
    text = dict_to_xml(inside).replace("xml>", "root>").encode()
    key = md5((by or config["api_keys"][0]).encode(), usedforsecurity=False).hexdigest().encode()
    padding = 16 - len(text) % 16
    sealer = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - the protocol
    sealed = base64.b64encode(
        sealer.update(text + bytes([padding] * padding)) + sealer.finalize()
    ).decode()
    outer = {
        "return_code": "SUCCESS",
        "appid": APP,
        "mch_id": MERCHANT,
        "nonce_str": chance.word(32),
        "req_info": sealed,
    }
    body = dict_to_xml({**outer, **more}).encode()
    client = WeChatPay(APP, config["api_keys"][0], MERCHANT)
    try:
        verdict = (
            "valid"
            if client.parse_refund_notify_result(body.decode())["refund_fee"] == wire
            else "invalid"
        )
    except Exception as error:  # noqa: BLE001 - the SDK raises what it likes
        verdict = f"error:{type(error).__name__}"
    says = {
        "event_type": "refund",
        "outcome": outcome,
        "provider_txn_id": refund_id,
        "merchant_order_no": order,
        "amount": major,
        "currency": "CNY",
        "account": MERCHANT,
    }
    return Case(config, HEADERS, body, chance.time(), says, verdict=verdict)


def two_keys(chance: Chance) -> Case:
    """Signed with either of two configured keys."""
    case = made(chance)
    keys = [*case.config["api_keys"], chance.word(32)]
    chance.shuffle(keys)
    return replace(case, config={**case.config, "api_keys": keys})


def pinned_md5(chance: Chance) -> Case:
    """MD5, where the account takes only HMAC-SHA256."""
    return made(chance, config=config_of(chance, sign_type="HMAC-SHA256"))


def hmac(chance: Chance) -> Case:
    """HMAC-SHA256, which the SDK signs and cannot verify."""
    config = config_of(chance, sign_type=chance.choice(["HMAC-SHA256", "MD5"]))
    return made(chance, sign=calculate_signature_hmac, config=config)


KINDS = {
    "refund": refund,
    "refund_2": refund,
    "refund_of_other_key": lambda chance: refund(chance, by=chance.word(32)),
    "refund_with_sign": lambda chance: refund(chance, sign="0" * 32),
    "hmac": hmac,
    "md5_where_hmac_is_pinned": pinned_md5,
    "two_keys": two_keys,
    "other_key": lambda chance: made(chance, by=chance.word(32)),
    "empty_field": lambda chance: made(chance, device_info=""),
    "unknown_fields": lambda chance: made(chance, x_new="1", coupon_fee_0="3", coupon_count="1"),
    "without_currency": lambda chance: made(chance, fee_type=None),
    "markup_in_value": lambda chance: made(chance, attach="<b>&amp;</b> a=1&b=2"),
    "amount_other": spoiled(
        lambda chance, text: text.replace("<total_fee>", f"<total_fee>{chance.randint(1, 9)}")
    ),
    "order_other": spoiled(
        lambda _, text: text.replace("<out_trade_no><![CDATA[", "<out_trade_no><![CDATA[x")
    ),
    "field_added": spoiled(lambda _, text: text.replace("</xml>", "<x>1</x></xml>")),
    "field_emptied": spoiled(lambda _, text: text.replace("JSAPI", "")),
    "empty_field_added": spoiled(lambda _, text: text.replace("</xml>", "<x></x></xml>")),
    "field_twice": spoiled(
        lambda _, text: text.replace("</xml>", "<total_fee>1</total_fee></xml>")
    ),
    "field_nested": spoiled(lambda _, text: text.replace("JSAPI", "]]><a>1</a><![CDATA[")),
    "rewritten": spoiled(
        lambda _, text: text.replace("<![CDATA[JSAPI]]>", "JSAPI").replace("\n", "")
    ),
    "reordered": spoiled(
        lambda _, text: "<xml>\n" + "\n".join(reversed(text.split("\n")[1:-1])) + "\n</xml>"
    ),
    "comment": spoiled(lambda _, text: text.replace("<xml>", "<xml><!-- x -->")),
    "doctype": spoiled(lambda _, text: '<!DOCTYPE xml [<!ENTITY e "x">]>' + text),
    "declaration": spoiled(lambda _, text: '<?xml version="1.0" encoding="UTF-8"?>' + text),
    "attribute": spoiled(lambda _, text: text.replace("<trade_type>", '<trade_type a="1">')),
    "other_root": spoiled(lambda _, text: text.replace("xml>", "root>")),
    "tail": spoiled(lambda _, text: text + "x"),
    "not_xml": spoiled(lambda *_: "{}"),
    "signature_other": signature(lambda chance, made: chance.other(made)),
    "signature_in_small_letters": signature(lambda _, made: made.lower()),
    "signature_empty": signature(lambda *_: ""),
    "signature_not_ascii": signature(lambda _, made: made[:-1] + "É"),
    "signature_missing": spoiled(lambda _, text: text.partition("<sign>")[0] + "</xml>"),
}

if __name__ == "__main__":
    run(Signer("wechatpay_v2", "wechatpy", made, verified, KINDS))
