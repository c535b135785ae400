"""Where we judge or read otherwise than an SDK on purpose, each with its reason.

A difference that is not listed here fails the run, and so does one in the other direction than
its entry says. An entry of which a run that makes every kind has no example fails too: what is
no difference any more must not be excused.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from tests.providers.vectors import Sample

#: A provider, and the kind of its callback or the word of its samples.
Entry = tuple[str, str]


class Value(NamedTuple):
    """Another value than the SDK's: why, and which, given what the SDK or its signer says."""

    reason: str
    ours: Callable[[Sample, Mapping[str, Any]], Any]


def _each(providers: str, kind: str, reason: str) -> dict[Entry, str]:
    return {(provider, kind): reason for provider in providers.split()}


_EMPTY: Final = "an empty body says nothing"
_BYTES: Final = "the signature is of bytes and holds; the text is then unreadable, and says so"
_EXACT: Final = "a time or number is taken as it is written, not as int() and float() guess"
_BASE64: Final = "one base64 text for one signature: spaces and stray characters are refused"
_CANDIDATES: Final = "more signatures than anybody has secrets"
_ADDRESS: Final = "fetched only from PayPal's own addresses of the account's mode; the SDK asks any"
_ADDRESSES: Final = (
    "of_stranger",
    "other_path",
    "plain",
    "sandbox",
    "with_port",
    "with_query",
    "with_user",
    "without_dot",
)
_AMBIGUOUS: Final = "the signed text could be cut otherwise, or read in two ways"

#: What the SDK takes and we refuse.
STRICTER: Final[Mapping[Entry, str]] = {
    **_each(
        "stripe standardwebhooks svix razorpay paystack gocardless shopify mollie_nextgen paypal"
        " checkoutcom flutterwave_v4",
        "body_empty",
        _EMPTY,
    ),
    **_each("stripe standardwebhooks svix", "many_signatures", _CANDIDATES),
    **_each("stripe standardwebhooks svix", "time_odd", _EXACT),
    ("wechatpay_v3", "time_text"): _EXACT,
    ("stripe", "ahead_301"): "the SDK lets a signature be as far in the future as it likes",
    ("stripe", "signature_with_tail"): "what follows a second = is part of the signature",
    ("stripe", "time_twice"): _AMBIGUOUS,
    **_each("standardwebhooks svix", "id_with_dot", "the specification wants no full stop in ids"),
    **_each("standardwebhooks svix", "id_with_space", "an id is printable ASCII without spaces"),
    **_each("standardwebhooks svix", "id_not_ascii", "an id is printable ASCII without spaces"),
    **_each("standardwebhooks svix", "id_long", "an id is at most 128 characters"),
    **_each("standardwebhooks svix", "signature_lenient", _BASE64),
    ("svix", "families_mixed"): "the three headers are of one family",
    ("adyen", "second_item_forged"): "the SDK looks at the first item only",
    ("adyen", "second_item_unsigned"): "the SDK looks at the first item only",
    ("adyen", "reference_with_colon"): _AMBIGUOUS,
    ("adyen", "success_boolean"): "success is one of the texts true and false",
    ("adyen", "success_capital"): "success is one of the texts true and false",
    ("adyen", "value_text"): "an amount is a whole JSON number",
    ("adyen", "value_fraction"): "an amount is a whole JSON number",
    ("adyen", "currency_lower"): "a currency is three capitals",
    ("adyen", "event_lower"): "an eventCode is capitals",
    ("adyen", "original_null"): "the SDK signs the word None; Adyen signs nothing for null",
    ("braintree", "several_pairs"): "a piece without a bar is no pair, and no such header is sent",
    ("alipay", "sha1"): "RSA2 is SHA-256; Alipay's own SDK takes what the signature says",
    ("alipay", "field_twice_first"): _AMBIGUOUS,
    ("alipay", "signature_wrapped"): _BASE64,
    ("wechatpay_v3", "age_301"): "older than 300 seconds; the SDK does not look at the time",
    ("wechatpay_v3", "age_days"): "older than 300 seconds; the SDK does not look at the time",
    ("wechatpay_v3", "ahead_301"): "from the future; the SDK does not look at the time",
    ("wechatpay_v3", "nonce_with_line_feed"): _AMBIGUOUS,
    ("wechatpay_v3", "signature_spaced"): _BASE64,
    ("wechatpay_v2", "comment"): "flat XML only: neither comments nor anything else to read twice",
    ("wechatpay_v2", "md5_where_hmac_is_pinned"): "the account says HMAC-SHA256 only",
    ("wechatpay_v2", "refund_with_sign"): "a refund notice is never signed: " + _AMBIGUOUS,
    ("paypal", "age_4_days"): "PayPal tries for three days; the SDK does not look at the time",
    ("paypal", "ahead"): "from the future; the SDK does not look at the time",
    ("paypal", "name_other"): "not the name that signs webhooks; the SDK takes any .paypal.com",
    ("paypal", "sha1"): "SHA-256 only; the SDK takes what the header says",
    ("paypal", "signature_spaced"): _BASE64,
    **{("paypal", f"address_{name}"): _ADDRESS for name in _ADDRESSES},
    ("midtrans", "amount_number"): "gross_amount is a text, signed as it is written",
    ("midtrans", "cut_otherwise"): _AMBIGUOUS,
    ("midtrans", "order_not_ascii"): "Midtrans allows letters, digits and a few signs",
    ("midtrans", "pending_told_as_settled"): "the status is not signed, so it must fit the code",
}

#: What the SDK refuses and we take.
BROADER: Final[Mapping[Entry, str]] = {
    **_each("stripe razorpay shopify square mollie_nextgen paypal", "body_not_utf8", _BYTES),
    ("shopify", "body_deep"): "the signature holds; what is nested too deep is then unreadable",
    **_each("standardwebhooks svix", "two_spaces", "an empty piece between two is passed over"),
    ("braintree", "ours_twice_first_wrong"): "each pair is tried; the SDK looks at the first",
    ("braintree", "xml_broken"): _BYTES,
    ("braintree", "xml_with_entity"): _BYTES,
    ("alipay", "gbk"): "python-alipay-sdk verifies UTF-8 only; Alipay's own SDK agrees with us",
    ("alipay", "sign_type_rsa"): "sign_type is not signed and chooses nothing",
    ("wechatpay_v2", "hmac"): "wechatpy signs by HMAC-SHA256 and cannot verify it",
    ("wechatpay_v3", "ciphertext_cut"): "signed by WeChat; what is sealed is then unreadable",
    ("wechatpay_v3", "type_missing"): "before there were two types there was no header for it",
}


def _digest(sample: Sample, _: Mapping[str, Any]) -> str:
    return sha256(sample.request.body).hexdigest()


def _body_type(_: Sample, says: Mapping[str, Any]) -> str:
    return str(says["event_type"]).replace("refunds/create", "refunds/success")


#: What is read otherwise, by provider and word.
VALUES: Final[Mapping[Entry, Value]] = {
    ("midtrans", "provider_txn_id"): Value(
        "transaction_id is not signed: a replay with another one would be news",
        lambda _, says: says["merchant_order_no"],
    ),
    ("razorpay", "event_id"): Value("its header is not signed: the body's digest", _digest),
    ("shopify", "event_id"): Value("its header is not signed: the body's digest", _digest),
    ("shopify", "event_type"): Value("the topic is not signed: what the body shows", _body_type),
}
#: Every entry's reason.
REASONS: Final[Mapping[Entry, str]] = {
    **STRICTER,
    **BROADER,
    **{entry: value.reason for entry, value in VALUES.items()},
}
