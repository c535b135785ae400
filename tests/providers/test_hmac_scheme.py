import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from payments.providers.hmac_scheme import HmacScheme
from payments.providers.hmac_scheme_settings import hmac_scheme
from payments.providers.hmac_verify import verify
from payments.providers.options import Options
from payments.providers.port import Key, Misconfigured, Reason, Rejected, Verified
from tests.signing import an_account, as_request

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "tests-only-6kP0sVbX2mQd"
BODY = b'{"id":1}'
RAW = {"algorithm": "sha256", "signature": {"header": "X-Sig", "encoding": "hex"}}
KV = {
    "algorithm": "sha256",
    "message": "{timestamp}.{body}",
    "signature": {"header": "X-Sig", "format": "kv", "key": "v1", "encoding": "hex"},
    "timestamp": {"source": "signature:t"},
}
VERSIONED = {
    "algorithm": "sha256",
    "message": "{id}.{timestamp}.{body}",
    "signature": {
        "header": "X-Sig",
        "format": "versioned",
        "version": "v1",
        "item_separator": " ",
        "encoding": "base64",
    },
    "timestamp": {"source": "header:X-Time"},
    "id": {"header": "X-Id"},
}


def scheme(settings: Mapping[str, Any]) -> HmacScheme:
    return hmac_scheme(Options(settings, "scheme"))


def mac(message: bytes, secret: bytes = SECRET.encode(), algorithm: str = "sha256") -> str:
    return hmac.digest(secret, message, algorithm).hex()


def verdict(
    settings: Mapping[str, Any], headers: Mapping[str, str], *secrets: str, body: bytes = BODY
) -> Verified | Rejected:
    account = an_account(*(secrets or (SECRET,)))
    return verify(scheme(settings), as_request(body, headers), account, now=NOW)


def with_signature(settings: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {**settings, "signature": {**settings["signature"], **changes}}


BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "static token": ({"scheme": "static_token"}, "a static token does not authenticate"),
    "no algorithm": ({"signature": RAW["signature"]}, "scheme.algorithm is missing"),
    "md5": ({**RAW, "algorithm": "md5"}, "scheme.algorithm must be one of: 'sha256', 'sha512'"),
    "sha1": ({**RAW, "algorithm": "sha1"}, "scheme.algorithm must be one of: 'sha256', 'sha512'"),
    "none": ({**RAW, "algorithm": "none"}, "scheme.algorithm must be one of"),
    "misspelt": ({**RAW, "algoritm": "x"}, "scheme.algoritm is not a known setting"),
    "secrets": ({**RAW, "secrets": ["x"]}, "scheme.secrets is not a known setting"),
    "unsigned is fine": (
        {**RAW, "missing_signature": "accept"},
        "scheme.missing_signature must be one of: 'reject'",
    ),
    "url of the request": ({**RAW, "url": "request"}, "scheme.url must be one of: 'configured'"),
    "no signature": ({"algorithm": "sha256"}, "scheme.signature is missing"),
    "signature is text": ({**RAW, "signature": "X-Sig"}, "scheme.signature must be an object"),
    "no encoding": (
        {"algorithm": "sha256", "signature": {"header": "X"}},
        "scheme.signature.encoding is missing",
    ),
    "no kv key": (with_signature(RAW, format="kv"), "scheme.signature.key is missing"),
    "no version": (with_signature(RAW, format="versioned"), "scheme.signature.version is missing"),
    "header name": (
        with_signature(RAW, header="X Sig"),
        "scheme.signature.header is not the name of a header",
    ),
    "separator": (
        with_signature(KV, item_separator=";"),
        "scheme.signature.item_separator must be one of: ',', ' '",
    ),
    "same separators": (
        with_signature(VERSIONED, item_separator=","),
        "scheme.signature.version_separator must differ from item_separator",
    ),
    "candidates": (
        with_signature(RAW, max_candidates=1000),
        "scheme.signature.max_candidates must be a whole number from 1 to 50",
    ),
    "true as number": (
        with_signature(RAW, max_items=True),
        "scheme.signature.max_items must be a whole number from 1 to 100",
    ),
    "flag": (
        with_signature(RAW, prefix_required="no"),
        "scheme.signature.prefix_required must be true or false",
    ),
    "no body": ({**RAW, "message": "{url}"}, "scheme.message must end with {body}"),
    "empty message": ({**RAW, "message": ""}, "scheme.message must not be empty"),
    "body not last": ({**RAW, "message": "{body}."}, "scheme.message must end with {body}"),
    "body twice": ({**RAW, "message": "{body}{body}"}, "scheme.message repeats a placeholder"),
    "placeholder": (
        {**RAW, "message": "{secret}{body}"},
        "scheme.message has an unknown placeholder '{secret}'",
    ),
    "brace": ({**RAW, "message": "{{body}"}, "scheme.message has an unknown placeholder '{'"),
    "id without separator": (
        {**VERSIONED, "message": "{id}{timestamp}.{body}"},
        "scheme.message needs a separator after {id}",
    ),
    "unsigned timestamp": ({**KV, "message": "{body}"}, "an unsigned timestamp proves nothing"),
    "unsigned id": ({**RAW, "id": {"header": "X-Id"}}, "an unsigned id proves nothing"),
    "timestamp nowhere": ({**RAW, "message": "{timestamp}{body}"}, "need each other"),
    "timestamp in raw": (
        {**RAW, "message": "{timestamp}{body}", "timestamp": {"source": "signature:t"}},
        "timestamp.source signature:<item> needs signature.format kv",
    ),
    "source": (
        {**KV, "timestamp": {"source": "body:t"}},
        "scheme.timestamp.source must be signature:<item> or header:<name>",
    ),
    "source header": (
        {**KV, "timestamp": {"source": "header:a b"}},
        "scheme.timestamp.source does not name a header",
    ),
    "pattern": (
        {**KV, "timestamp": {"source": "signature:t", "pattern": "("}},
        "scheme.timestamp.pattern is not a regular expression",
    ),
    "tolerance": (
        {**KV, "timestamp": {"source": "signature:t", "tolerance_past": 0}},
        "scheme.timestamp.tolerance_past must be a whole number from 1 to 86400",
    ),
    "unit": (
        {**KV, "timestamp": {"source": "signature:t", "unit": "us"}},
        "scheme.timestamp.unit must be one of: 's', 'ms'",
    ),
    "typo in section": (
        {**KV, "timestamp": {"source": "signature:t", "tolerance": 300}},
        "scheme.timestamp.tolerance is not a known setting",
    ),
}


@pytest.mark.parametrize(("settings", "why"), BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_an_unsafe_or_unknown_setting_is_refused_by_name(
    settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(Misconfigured) as caught:
        scheme(settings)
    assert why in str(caught.value)


def test_sha1_works_only_behind_its_switch() -> None:
    settings = {**RAW, "algorithm": "sha1", "allow_legacy_sha1": True}
    headers = {"X-Sig": mac(BODY, algorithm="sha1")}
    assert verdict(settings, headers) == Verified("k0")
    assert verdict(RAW, headers) == Rejected(Reason.SIGNATURE_WRONG)


WEAK_KEYS = {
    "empty": (b"", "utf8", "is empty"),
    "prefix only": (b"whsec_", "base64", "is empty"),
    "short": (b"changeme", "utf8", "is shorter than 16 bytes"),
    "short when decoded": (b"00112233445566778899aabbccddee", "hex", "is shorter than 16 bytes"),
    "repeated": (b"a" * 40, "utf8", "repeats too few characters"),
    "zeros": (b"00" * 32, "hex", "repeats too few characters"),
    "pasted line break": (SECRET.encode() + b"\n", "utf8", "begins or ends with a space"),
    "not hex": (SECRET.encode(), "hex", "is not hex"),
    "not base64": (b"tests-only-6kP0sVbX2mQd", "base64", "is not base64"),
    "junk in base64": (b"AAECAwQFBgcICQoL*DA0ODxAREhMUFRYXGBkaGxwdHh8=", "base64", "is not base64"),
    "not UTF-8": (b"\xff" * 32, "utf8", "is not utf8"),
}


@pytest.mark.parametrize(("material", "encoding", "why"), WEAK_KEYS.values(), ids=WEAK_KEYS.keys())
def test_a_key_that_could_be_guessed_or_read_wrongly_is_refused(
    material: bytes, encoding: str, why: str
) -> None:
    settings = {**RAW, "secret_encoding": encoding, "secret_prefix": "whsec_"}
    with pytest.raises(Misconfigured, match=f"^key 'k0' {why}") as caught:
        scheme(settings).check_key(Key("k0", "signature", material))
    if material.strip():
        assert material.decode("latin-1").strip() not in str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf8", "0123456789abcdef0123456789abcdef"),
        ("hex", b"0123456789abcdef0123456789abcdef".hex()),
        ("base64", base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()),
        ("base64", base64.b64encode(b"0123456789abcdef0123456789abcdef").decode().rstrip("=")),
    ],
)
def test_a_secret_is_decoded_as_configured(encoding: str, written: str) -> None:
    settings = {**RAW, "secret_encoding": encoding}
    headers = {"X-Sig": mac(BODY, b"0123456789abcdef0123456789abcdef")}
    scheme(settings).check_key(Key("k0", "signature", written.encode()))
    assert verdict(settings, headers, written) == Verified("k0")


def test_base64url_differs_from_base64_only_in_its_alphabet() -> None:
    digest = next(
        digest
        for number in range(100)
        if b"/"
        in base64.b64encode(digest := hmac.digest(SECRET.encode(), b"%d" % number, "sha256"))
        and (body := b"%d" % number)
    )
    url_safe = base64.urlsafe_b64encode(digest).decode()
    settings = with_signature(RAW, encoding="base64url")
    assert verdict(settings, {"X-Sig": url_safe}, body=body) == Verified("k0")
    plain = base64.b64encode(digest).decode()
    assert verdict(settings, {"X-Sig": plain}, body=body) == Rejected(Reason.SIGNATURE_WRONG)


def test_the_key_that_signed_is_named_wherever_it_stands() -> None:
    others = ("tests-only-aaaBBBcccDDD", "tests-only-eeeFFFgggHHH")
    headers = {"X-Sig": mac(BODY)}
    assert verdict(RAW, headers, SECRET, *others) == Verified("k0")
    assert verdict(RAW, headers, *others, SECRET) == Verified("k2")
    assert verdict(RAW, headers, *others) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_key_holds_from_its_first_to_its_last_moment() -> None:
    hour = timedelta(hours=1)
    key = Key("old", "signature", SECRET.encode(), not_before=NOW - hour, not_after=NOW)
    account = replace(an_account(), keys=(key,))
    request = as_request(BODY, {"X-Sig": mac(BODY)})
    at_times = {
        seconds: verify(scheme(RAW), request, account, now=NOW + timedelta(seconds=seconds))
        for seconds in (-3601, -3600, 0, 1)
    }
    assert at_times == {
        -3601: Rejected(Reason.NO_KEY),
        -3600: Verified("old"),
        0: Verified("old"),
        1: Rejected(Reason.NO_KEY),
    }


def test_a_key_for_another_purpose_verifies_nothing() -> None:
    account = replace(an_account(), keys=(Key("k0", "encryption", SECRET.encode()),))
    request = as_request(BODY, {"X-Sig": mac(BODY)})
    assert verify(scheme(RAW), request, account, now=NOW) == Rejected(Reason.NO_KEY)


def test_an_unusable_key_does_not_keep_the_good_one_from_verifying() -> None:
    settings = {**RAW, "secret_encoding": "hex"}
    good = SECRET.encode().hex()
    assert verdict(settings, {"X-Sig": mac(BODY)}, "not hex", good) == Verified("k1")


def test_the_configured_url_is_signed_and_not_the_requests() -> None:
    settings = {**RAW, "message": "{url}{body}"}
    url = "https://pay.example/callbacks/custom/a"
    headers = {"X-Sig": mac(url.encode() + BODY), "Host": "evil.example"}
    account = an_account(SECRET)
    for configured, expected in (
        (url, Verified("k0")),
        (url + "/", Rejected(Reason.SIGNATURE_WRONG)),
        ("", Rejected(Reason.SIGNATURE_WRONG)),
    ):
        request = as_request(BODY, headers, configured)
        assert verify(scheme(settings), request, account, now=NOW) == expected


@pytest.mark.parametrize(("required", "bare"), [(True, False), (False, True)])
def test_a_prefix_may_be_obligatory(required: bool, bare: bool) -> None:
    settings = with_signature(RAW, prefix="sha256=", prefix_required=required)
    assert verdict(settings, {"X-Sig": "sha256=" + mac(BODY)}) == Verified("k0")
    assert (verdict(settings, {"X-Sig": mac(BODY)}) == Verified("k0")) is bare
    assert isinstance(verdict(settings, {"X-Sig": "sha1=" + mac(BODY)}), Rejected)


def timed(text: str) -> dict[str, str]:
    return {"X-Sig": f"t={text},v1={mac(text.encode() + b'.' + BODY)}"}


@pytest.mark.parametrize(
    "text",
    [
        "1_767_225_600",
        " 1767225600",
        "1767225600 ",
        "+1767225600",
        "-1",
        "1767225600.0",
        "1e9",
        "NaN",
        "Infinity",
        "\uff11\uff17\uff16\uff17\uff12\uff12\uff15\uff16\uff10\uff10",
        "1767225600\n",
        "17672256000000",
        "",
    ],
)
def test_a_timestamp_is_plain_digits_even_when_it_is_signed(text: str) -> None:
    assert verdict(KV, timed(text)) == Rejected(Reason.TIMESTAMP_MALFORMED)


def test_the_signature_is_judged_before_the_age() -> None:
    old = {"X-Sig": f"t=1,v1={'0' * 64}"}
    assert verdict(KV, old) == Rejected(Reason.SIGNATURE_WRONG)
    assert verdict(KV, timed("1")) == Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)
    assert verdict(KV, timed("9999999999999")) == Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)


@pytest.mark.parametrize(
    ("seconds", "accepted"), [(-61, False), (-60, True), (120, True), (121, False)]
)
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_tolerances_are_inclusive_and_apart(
    seconds: int,
    accepted: bool,
    unit: str,
) -> None:
    rule = {
        "source": "signature:t",
        "unit": unit,
        "tolerance_past": 120,
        "tolerance_future": 60,
    }
    signed_at = int(NOW.timestamp()) - seconds
    text = str(signed_at * 1000 if unit == "ms" else signed_at)
    expected = Verified("k0") if accepted else Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)
    assert verdict({**KV, "timestamp": rule}, timed(text)) == expected


def test_a_pattern_can_only_narrow_what_a_timestamp_may_be() -> None:
    rule = {"source": "signature:t", "pattern": r".{10}"}
    settings = {**KV, "timestamp": rule}
    assert verdict(settings, timed("1767225600")) == Verified("k0")
    for text in ("0001767225600", "1767_25600", "\uff11767225600"):
        assert verdict(settings, timed(text)) == Rejected(Reason.TIMESTAMP_MALFORMED)


def test_no_pattern_makes_a_timestamp_longer_than_any_is() -> None:
    settings = {**KV, "timestamp": {"source": "signature:t", "pattern": ".*"}}
    for length in (14, 4000):
        assert verdict(settings, timed("1" * length)) == Rejected(Reason.TIMESTAMP_MALFORMED)


def test_a_signature_without_a_value_is_malformed_and_not_merely_wrong() -> None:
    for header in ("t=1767225600,v1=", "t=1767225600,v1", "t=1767225600"):
        assert verdict(KV, {"X-Sig": header}) == Rejected(Reason.SIGNATURE_MALFORMED)


def test_a_right_signature_with_something_foreign_inside_is_wrong() -> None:
    good = mac(BODY)
    for foreign in ("\u00e9", "\ud800", "\x00", " ", "?"):
        altered = good[:20] + foreign + good[20:]
        assert verdict(RAW, {"X-Sig": altered}) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_second_timestamp_makes_the_header_ambiguous() -> None:
    header = timed("1767225600")["X-Sig"]
    for twice in (f"t=1767225600,{header}", f"{header},t=1767225600"):
        assert verdict(KV, {"X-Sig": twice}) == Rejected(Reason.TIMESTAMP_MALFORMED)


def versioned(message_id: str, timestamp: str, body: bytes) -> dict[str, str]:
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.digest(SECRET.encode(), signed, hashlib.sha256)
    return {
        "X-Sig": "v1," + base64.b64encode(digest).decode(),
        "X-Time": timestamp,
        "X-Id": message_id,
    }


def test_a_signed_message_cannot_be_read_as_another_one() -> None:
    headers = versioned("msg", "1767225600", b"1767225601.{}")
    assert verdict(VERSIONED, headers, body=b"1767225601.{}") == Verified("k0")
    # The same signed bytes, cut at another separator.
    moved = {**headers, "X-Id": "msg.1767225600", "X-Time": "1767225601"}
    assert verdict(VERSIONED, moved, body=b"{}") == Rejected(Reason.ID_MALFORMED)


@pytest.mark.parametrize("message_id", ["", " ", "a b", "a\x00", "é", "x" * 129, "a.b"])
def test_a_message_id_is_short_printable_and_unambiguous(message_id: str) -> None:
    headers = versioned(message_id, "1767225600", BODY)
    assert verdict(VERSIONED, headers) == Rejected(Reason.ID_MALFORMED)


def test_the_limits_are_exact() -> None:
    good = mac(BODY)
    settings = with_signature(RAW, max_candidates=3, max_header_bytes=300)
    account = an_account(SECRET)

    def raw(count: int, padding: int = 0) -> Verified | Rejected:
        request = as_request(BODY, {})
        values = [*["0" * 64] * (count - 1), good, *(["x" * padding] if padding else [])]
        request = replace(request, headers=tuple(("x-sig", value) for value in values))
        return verify(scheme(settings), request, account, now=NOW)

    assert raw(3) == Verified("k0")
    assert raw(4) == Rejected(Reason.TOO_LARGE)
    assert raw(2, padding=300 - 128) == Verified("k0")
    assert raw(2, padding=301 - 128) == Rejected(Reason.TOO_LARGE)

    kv = with_signature(KV, max_candidates=2, max_items=4)
    header = timed("1767225600")["X-Sig"]
    assert verdict(kv, {"X-Sig": f"{header},v1=0,x=1"}) == Verified("k0")
    assert verdict(kv, {"X-Sig": f"{header},v1=0,v1=1"}) == Rejected(Reason.TOO_LARGE)
    assert verdict(kv, {"X-Sig": f"{header},v1=0,x=1,y=2"}) == Rejected(Reason.TOO_LARGE)
