"""Which client an account gets, which hosts it talks to, and why it may get none."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from payments.clients.choice import FOREVER, choose
from payments.clients.port import Answer, FoundBy
from payments.providers.port import Account, Key, Misconfigured
from payments.providers.registry import PROVIDERS
from tests.clients.cases import CASES, NOW, Case
from tests.providers.rsa_senders import private_key, public_pem

BY_NAME: Final = {case.name: case for case in CASES}
LIVE_CASES: Final = [case for case in CASES if case.name != "simulator"]
LIVE_SETTINGS: Final = {"adyen": {"live_prefix": "1797a841fbb37ca7-AdyenDemo"}}


def wire_of(name: str, account: Account) -> str:
    """The address at which the chosen client would ask."""
    seen = [choose(name, account, now=NOW).client]
    while seen:
        thing = seen.pop()
        base_url = getattr(thing, "base_url", None)
        if isinstance(base_url, str):
            return base_url
        seen += [
            value
            for attribute, value in vars(thing).items()
            if attribute in {"_client", "_wire", "_gateway"}
        ]
    raise AssertionError


def live(case: Case) -> Account:
    settings = {**case.settings, **LIVE_SETTINGS.get(case.name, {})}
    return replace(case.account(""), live=True, settings=settings)


def test_a_live_account_talks_to_its_provider_whatever_its_settings_say() -> None:
    hosts = {}
    for case in LIVE_CASES:
        account = live(case)
        evil = {**account.settings, "api_url": "http://169.254.169.254"}
        hosts[case.name] = wire_of(case.name, replace(account, settings=evil))
    assert hosts == {
        "adyen": "https://1797a841fbb37ca7-AdyenDemo-checkout-live.adyenpayments.com/checkout",
        "alipay": "https://openapi.alipay.com",
        "paypal": "https://api-m.paypal.com",
        "stripe": "https://api.stripe.com",
        "wechatpay_v3": "https://api.mch.weixin.qq.com",
    }


def test_an_account_in_test_mode_talks_to_the_sandbox_or_to_the_address_that_is_set() -> None:
    sandboxes = {
        case.name: wire_of(case.name, case.account(""))
        for case in CASES
        if case.name not in {"simulator", "wechatpay_v3"}
    }
    assert sandboxes == {
        "adyen": "https://checkout-test.adyen.com",
        "alipay": "https://openapi-sandbox.dl.alipaydev.com",
        "paypal": "https://api-m.sandbox.paypal.com",
        "stripe": "https://api.stripe.com",
    }
    for case in CASES:
        assert wire_of(case.name, case.account("http://127.0.0.1:9")) == "http://127.0.0.1:9"
    for name in ("simulator", "wechatpay_v3"):
        none = choose(name, BY_NAME[name].account(""), now=NOW)
        why = "in test mode the account needs the setting api_url"
        assert (none.client, none.why) == (None, why)


def test_the_simulator_has_no_live_accounts() -> None:
    case = BY_NAME["simulator"]
    chosen = choose("simulator", replace(case.account("http://h"), live=True), now=NOW)
    assert (chosen.client, chosen.why) == (None, "the simulator has no live accounts")


def test_a_live_account_at_adyen_needs_its_prefix_and_no_host_fits_in_one() -> None:
    case = BY_NAME["adyen"]
    for prefix in ("", "evil.example/x", "1797a841fbb37ca7-A.evil.example", "1797a841fbb37ca7-A/"):
        account = replace(live(case), settings={"live_prefix": prefix})
        assert choose("adyen", account, now=NOW).client is None


def test_a_provider_without_a_client_and_an_account_without_keys_say_so(case: Case) -> None:
    assert choose("paystack", case.account(""), now=NOW).why == (
        "there is no client for paystack's API"
    )
    keys = tuple(key for key in case.keys if not key.purpose.startswith("api"))
    account = case.account("http://127.0.0.1:9", keys=keys)
    none = choose(case.name, account, now=NOW)
    purpose = "api-private" if case.name in {"wechatpay_v3", "alipay"} else "api"
    assert none.client is None
    assert none.why == f"the account has no key with purpose {purpose} that is valid now"


def test_the_newest_key_that_is_valid_now_is_used(case: Case) -> None:
    ended = tuple(replace(key, not_after=NOW - timedelta(seconds=1)) for key in case.keys)
    assert choose(case.name, case.account("http://h", keys=ended), now=NOW).client is None
    assert choose(case.name, case.account("http://h", keys=ended + case.keys), now=NOW).client


def test_how_long_a_refund_may_be_repeated_is_known_for_each_provider() -> None:
    told = {case.name: choose(case.name, live(case), now=NOW)[2:4] for case in LIVE_CASES}
    assert told == {
        "adyen": (timedelta(days=31), False),
        "alipay": (FOREVER, True),
        "paypal": (timedelta(days=45), True),
        "stripe": (timedelta(hours=24), True),
        "wechatpay_v3": (FOREVER, True),
    }


def test_each_client_says_by_what_it_finds_payments_and_answers_by_nothing_else(
    case: Case,
) -> None:
    chosen = choose(case.name, case.account("http://127.0.0.1:9"), now=NOW)
    assert chosen.found_by == {
        "adyen": frozenset(),
        "paypal": {FoundBy.TXN_NO},
    }.get(case.name, {FoundBy.TXN_NO, FoundBy.ORDER_NO})
    assert chosen.client is not None
    if FoundBy.ORDER_NO not in chosen.found_by:
        said = chosen.client.query_payment(txn_no="", order_no="A-1")
        assert said.answer is Answer.UNKNOWN


@pytest.mark.parametrize("number", ["A.1", "A:1", "A_1-b", "x" * 64])
def test_each_client_says_which_refund_numbers_it_takes(case: Case, number: str) -> None:
    chosen = choose(case.name, case.account("http://127.0.0.1:9"), now=NOW)
    is_odd = case.name == "wechatpay_v3" and not {".", ":"}.isdisjoint(number)
    assert chosen.refund_no.allows(number) == (not is_odd)


def test_what_the_cases_use_is_what_an_account_may_be_given(case: Case) -> None:
    provider = PROVIDERS[case.name]
    purposes = {fact.purpose for fact in (*provider.facts.keys, *provider.facts.api_keys)}
    assert {key.purpose for key in case.keys} <= purposes
    provider.check_settings(case.account("http://127.0.0.1:8000/simulator"))
    if case.name != "simulator":
        provider.check_settings(live(case))


def test_a_live_account_may_not_be_given_an_address(case: Case) -> None:
    account = replace(case.account("https://sandbox.example.com"), live=True)
    with pytest.raises(Misconfigured, match=r"in test mode"):
        PROVIDERS[case.name].check_settings(account)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h",
        "https://",
        "//h/path",
        "https://user:secret@h",
        "https://h?x=1",
        "https://h#x",
        "https://h/a b",
        "https://h:port",
        "https://[::1",
        "javascript:alert(1)",
    ],
)
def test_an_address_that_is_none_is_refused(case: Case, url: str) -> None:
    with pytest.raises(Misconfigured, match=r"settings\.api_url must be"):
        PROVIDERS[case.name].check_settings(case.account(url))


@pytest.mark.parametrize("purpose", ["api", "api-private"])
def test_a_key_that_could_open_nothing_is_refused_and_not_shown(case: Case, purpose: str) -> None:
    public = public_pem(private_key("somebody"))
    for material in (b"two\nlines-of-secret", public):
        key = Key("odd", purpose, material)
        account = case.account("", keys=(key, *case.keys))
        with pytest.raises(Misconfigured) as refused:
            PROVIDERS[case.name].check_settings(account)
        assert "'odd'" in str(refused.value)
        assert "secret" not in str(refused.value)


def test_a_private_key_that_is_none_gives_no_client(case: Case) -> None:
    if "api-private" in {key.purpose for key in case.keys}:
        keys = (Key("odd", "api-private", b"none"), *case.keys)
        chosen = choose(case.name, case.account("http://h", keys=keys), now=NOW)
        assert chosen.client is None
        assert chosen.why == "not a private key in PEM without a password"
