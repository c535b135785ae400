"""What all declared providers have in common: their settings, signer and facts."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from payments.callback import Callback
from payments.providers import custom
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.hmac_sign import sign
from payments.providers.port import Key, Misconfigured, Verified
from payments.providers.registry import PROVIDERS
from payments.providers.standardwebhooks import StandardWebhooks
from payments.providers.stripe import Stripe
from tests import signing
from tests.providers.hmac_senders import NOW, SENDERS, Sender, read_one

DECLARED = {name: known for name, known in PROVIDERS.items() if isinstance(known, HmacProvider)}


@pytest.fixture(params=sorted(DECLARED))
def sender(request: pytest.FixtureRequest) -> Sender:
    return SENDERS[request.param]


def declared(sender: Sender) -> HmacProvider:
    return DECLARED[sender.name]


def scheme_of(sender: Sender) -> HmacScheme:
    if isinstance(sender.provider, HmacProvider | Stripe | StandardWebhooks):
        return sender.provider.scheme
    return custom.scheme_of(sender.account)


def test_there_are_declared_providers() -> None:
    assert len(DECLARED) >= 9


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"ordre": "/a"}, "ordre is not a known setting"),
        ({"order": "data.id"}, "order must be a JSON pointer"),
        ({"order": 7}, "order must be a JSON pointer"),
        ({"order": ["/a", 7]}, "order must be a JSON pointer"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(
    sender: Sender, settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(Misconfigured, match=problem):
        sender.provider.check_settings(replace(sender.account, settings=settings))


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("coinbase_business", "usdc_is_usd"),
        ("paystack", "customer_bears_fee"),
        ("razorpay", "customer_bears_fee"),
    ],
)
def test_a_flag_is_true_or_false(name: str, flag: str) -> None:
    account = replace(SENDERS[name].account, settings={flag: "yes"})
    with pytest.raises(Misconfigured, match=f"{flag} must be true or false"):
        PROVIDERS[name].check_settings(account)


@pytest.mark.parametrize(
    "material", [b"", b"short", b"aaaaaaaaaaaaaaaaaaaaaaaa", b" spaced-secret-0123 "]
)
def test_a_key_that_could_be_guessed_or_cannot_work_is_refused(
    sender: Sender, material: bytes
) -> None:
    account = replace(sender.account, keys=(Key("k0", "signature", material),))
    with pytest.raises(Misconfigured, match="k0"):
        sender.provider.check_settings(account)


def test_an_order_setting_replaces_the_default_place(sender: Sender) -> None:
    event = json.loads(sender.body)
    for holder in event.get("events", [event]):
        holder["mine"] = {"a/b": "M-7"}
    assert read_one(sender, event, order="/mine/a~1b").order_no == "M-7"
    assert read_one(sender, event, order=["/nowhere", "/mine/a~1b"]).order_no == "M-7"


@pytest.mark.parametrize("name", sorted(SENDERS))
def test_what_is_signed_by_the_declaration_is_what_others_sign(name: str) -> None:
    sender = SENDERS[name]
    signed = sign(
        scheme_of(sender),
        sender.secret.encode(),
        sender.body,
        now=NOW,
        message_id="msg_1",
        url=sender.url,
    )
    assert signed == dict(sender.genuine().headers)
    assert sender.authenticate(signing.as_request(sender.body, signed, sender.url)) == Verified(
        "k0"
    )


def test_the_signer_writes_milliseconds_where_they_are_signed() -> None:
    scheme = replace(
        scheme_of(SENDERS["standardwebhooks"]),
        timestamp=TimestampRule(header="webhook-timestamp", unit="ms"),
    )
    headers = sign(scheme, signing.STANDARD_SECRET.encode(), b"{}", now=NOW, message_id="m")
    assert headers["webhook-timestamp"] == f"{int(NOW.timestamp())}000"


def test_a_key_and_value_signature_without_a_time_has_one_item() -> None:
    scheme = HmacScheme(signature=SignatureRule(header="x-sig", format="kv", key="v1"))
    headers = sign(scheme, b"a-secret-of-some-length", b"{}", now=NOW)
    assert headers["x-sig"].startswith("v1=")
    assert "," not in headers["x-sig"]


def test_nothing_is_read_from_headers(sender: Sender) -> None:
    request = sender.genuine()
    forged = {"x-event-id": "1", "x-shopify-topic": "a", "x-razorpay-event-id": "b", "date": "c"}
    bare = signing.as_request(sender.body, {}, sender.url)
    loaded = signing.as_request(sender.body, {**dict(request.headers), **forged}, sender.url)
    assert sender.provider.read(bare, sender.account) == sender.provider.read(
        loaded, sender.account
    )


def test_the_genuine_event_states_when_it_happened(sender: Sender) -> None:
    (reading,) = sender.provider.read(sender.genuine(), sender.account)
    assert isinstance(reading, Callback)
    assert reading.occurred_at is not None


def test_the_facts_name_each_setting_there_is(sender: Sender) -> None:
    settings = {"order", *declared(sender).events.flags}
    settings |= {"api_url"} if declared(sender).facts.api_keys else set()
    assert set(declared(sender).facts.settings.split(", ")) == settings


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_the_facts_of_every_provider_are_complete_and_name_their_source(name: str) -> None:
    facts = PROVIDERS[name].facts
    words = {field.name: getattr(facts, field.name) for field in fields(facts)}
    assert all(said.strip() for said in words.values() if isinstance(said, str)), words
    assert facts.tier.split(";")[0] in {"first class", "second tier", "hint"}
    assert facts.source.startswith("https://")


def test_each_provider_has_a_title_of_its_own() -> None:
    assert len({known.facts.title for known in PROVIDERS.values()}) == len(PROVIDERS)
