"""Every provider, both ways: told as the provider would, signed, verified, read, and the same."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from orders.money import Money
from payments.callback import Callback, Kind
from payments.providers.port import Account, Key, Misconfigured, Rejected, Verified
from payments.providers.registry import PROVIDERS
from payments.providers.rsa_sign import private_key
from payments.providers.samples.demo_keys import PROVIDERS as WITH_DEMO_KEYS
from payments.providers.samples.demo_keys import DemoKeys, demo_keys
from payments.providers.samples.make import sample
from payments.providers.samples.occurrence import REVERSALS, CannotTell, Hand, Occurrence
from payments.providers.samples.tamper import TAMPERINGS
from tests.signing import CUSTOM_SETTINGS, STANDARD_SECRET, STRIPE_SECRET

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL: Final = "https://pay.example.org/callbacks/p/main"
API_KEY: Final = "192006250b4c09247ec02edce69f6a2d"
SECRETS: Final = {
    "adyen": "A1B2C3D4E5F60718293A4B5C6D7E8F90112233445566778899AABBCCDDEEFF00",
    "standardwebhooks": STANDARD_SECRET,
    "stripe": STRIPE_SECRET,
    "svix": STANDARD_SECRET,
    "wechatpay_v2": API_KEY,
}
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "custom": dict(CUSTOM_SETTINGS),
    "paypal": {"webhook_ids": ["WH-1"]},
}
YUAN: Final = frozenset({"alipay", "unionpay", "wechatpay_v2", "wechatpay_v3"})
#: One pair each: making RSA keys is slow.
PAIRS: Final[dict[str, DemoKeys]] = {name: demo_keys(name, now=NOW) for name in WITH_DEMO_KEYS}

_STAGES = {Kind.AUTHORIZED, Kind.PENDING, Kind.FAILED, Kind.CLOSED}
_REFUNDS = {Kind.REFUNDED, Kind.REFUND_FAILED}
_DISPUTES = {Kind.DISPUTED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST}
KINDS: Final = frozenset({Kind.PAID} | _STAGES | _REFUNDS | _DISPUTES)
#: What each provider has no event for; those that are not here have one for everything.
UNTOLD: Final[dict[str, set[Kind]]] = {
    "alipay": {Kind.AUTHORIZED, Kind.FAILED, Kind.REFUND_FAILED} | _DISPUTES,
    "braintree": {Kind.AUTHORIZED, Kind.PENDING, Kind.CLOSED, Kind.REFUNDED},
    "coinbase_business": {Kind.AUTHORIZED} | _DISPUTES,
    "custom": {Kind.AUTHORIZED, Kind.PENDING} | _REFUNDS | _DISPUTES,
    "flutterwave_v3": {Kind.AUTHORIZED, Kind.CLOSED} | _REFUNDS | _DISPUTES,
    "flutterwave_v4": {Kind.AUTHORIZED} | _DISPUTES,
    "gocardless": {Kind.AUTHORIZED},
    "midtrans": {Kind.REFUND_FAILED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST},
    "mollie_classic": _STAGES | _REFUNDS | _DISPUTES,
    "mollie_nextgen": {Kind.DISPUTE_LOST},
    "paystack": {Kind.AUTHORIZED, Kind.CLOSED},
    "simulator": {Kind.AUTHORIZED, Kind.CLOSED},
    "unionpay": {Kind.CLOSED} | _DISPUTES,
    "wechatpay_v2": {Kind.AUTHORIZED, Kind.PENDING, Kind.CLOSED} | _DISPUTES,
    "wechatpay_v3": {Kind.AUTHORIZED} | _DISPUTES,
    "xendit": _DISPUTES,
}
#: Whose events state no amount, and which ones no order: the payment's number links them.
WITHOUT_MONEY: Final = {"gocardless", "mollie_classic"}
WITHOUT_ORDER: Final[dict[str, set[Kind]]] = {
    "flutterwave_v4": _REFUNDS,
    "mollie_classic": {Kind.PAID},
    "shopify": {Kind.FAILED} | _REFUNDS | _DISPUTES,
    "simulator": _REFUNDS | _DISPUTES,
    "square": _REFUNDS | _DISPUTES,
    "xendit": _REFUNDS,
}


def hand_of(name: str) -> Hand:
    """An account of that provider, and what is needed to sign for it."""
    pair = PAIRS.get(name)
    secret = SECRETS.get(name, "tests-only-Jq8zT4mWn2Lc").encode()
    keys = pair.keys if pair else (Key("k0", "signature", secret),)
    account = Account(
        account_no="acct_1",
        live=False,
        settings=SETTINGS.get(name, {}),
        keys=() if name == "mollie_classic" else keys,
    )
    PROVIDERS[name].check_settings(account)
    return Hand(account=account, url=URL, private_key=pair and private_key(pair.private_pem))


def occurrence(name: str, kind: Kind = Kind.PAID) -> Occurrence:
    currency = "IDR" if name == "midtrans" else "CNY" if name in YUAN else "EUR"
    return Occurrence(
        kind=kind,
        order_no="O-1",
        money=Money(1099, currency),
        txn_no="REFUND1" if kind in REVERSALS else "PAYMENT1",
        payment_no="PAYMENT1",
        event_id="EVENT1",
        at=NOW,
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_what_is_told_is_what_is_read_or_the_provider_has_no_such_event(
    name: str, kind: Kind
) -> None:
    told, hand, provider = occurrence(name, kind), hand_of(name), PROVIDERS[name]
    if kind in UNTOLD.get(name, ()):
        with pytest.raises(CannotTell, match=f"this provider has no event for {kind}"):
            sample(name, told, hand)
        return

    request = sample(name, told, hand)

    verdict = provider.authenticate(request, hand.account, now=NOW)
    assert isinstance(verdict, Verified)
    assert verdict.assurance in provider.facts.assurance
    (callback,) = provider.read(request, hand.account)
    assert isinstance(callback, Callback)
    silent = kind in WITHOUT_ORDER.get(name, ())
    assert (callback.kind, callback.order_no, callback.money) == (
        kind,
        None if silent else "O-1",
        None if name in WITHOUT_MONEY else told.money,
    )
    assert callback.live in {None, False}
    assert callback.account_no in {None, "acct_1"}
    # What links it to its payment, whatever this provider calls its transaction.
    linked = {callback.order_no, *callback.linked_nos, callback.reverses}
    ids = {callback.txn_no.removeprefix("tr_"), *linked}
    assert ids & {"PAYMENT1", "O-1"}


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_the_same_occurrence_is_the_same_transaction_whenever_it_is_sent(name: str) -> None:
    told, hand, provider = occurrence(name), hand_of(name), PROVIDERS[name]
    later = replace(told, at=NOW + timedelta(minutes=1))

    readings = [provider.read(sample(name, each, hand), hand.account) for each in (told, later)]

    numbers = {reading.txn_no for (reading,) in readings if isinstance(reading, Callback)}
    assert len(numbers) == 1


#: Which spoilt requests pass: nothing that a hint says is signed.
PASSES: Final = {("flutterwave_v3", "amount"), ("xendit", "amount")}
#: Which cannot be made: no amount in the open, no signature, no signed time.
UNMADE: Final = {
    "amount": {"braintree", "gocardless", "mollie_classic", "wechatpay_v3"},
    "signature": {"mollie_classic"},
    "timestamp": set(PROVIDERS)
    - {
        "coinbase_business",
        "paypal",
        "simulator",
        "standardwebhooks",
        "stripe",
        "svix",
        "wechatpay_v3",
    },
}


@pytest.mark.parametrize("how", TAMPERINGS)
@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_a_spoilt_request_is_refused_or_cannot_be_made(name: str, how: str) -> None:
    told, hand = occurrence(name), hand_of(name)
    if name in UNMADE[how]:
        with pytest.raises(CannotTell):
            TAMPERINGS[how](name, told, hand)
        return

    spoilt = TAMPERINGS[how](name, told, hand)

    verdict = PROVIDERS[name].authenticate(spoilt, hand.account, now=NOW)
    assert isinstance(verdict, Verified if (name, how) in PASSES else Rejected)


def test_an_amount_that_the_provider_cannot_state_is_no_sample() -> None:
    shillings = replace(occurrence("stripe"), money=Money(1099, "UGX"))
    assert sample("stripe", shillings, hand_of("stripe")).body.count(b'"amount": 109900') == 1
    unidad = replace(occurrence("checkoutcom"), money=Money(10_999_999, "CLF"))
    with pytest.raises(CannotTell, match="is no whole number of this provider's units"):
        sample("checkoutcom", unidad, hand_of("checkoutcom"))
    for name in ("alipay", "midtrans", "unionpay", "wechatpay_v2"):
        yen = replace(occurrence(name), money=Money(1099, "JPY"))
        with pytest.raises(CannotTell, match="amounts are"):
            sample(name, yen, hand_of(name))


@pytest.mark.parametrize("name", WITH_DEMO_KEYS)
def test_without_the_private_key_nothing_is_signed(name: str) -> None:
    hand = hand_of(name)
    with pytest.raises(Misconfigured, match="--private-key"):
        sample(name, occurrence(name), replace(hand, private_key=None))
    another = next(pair for other, pair in PAIRS.items() if other != name)
    with pytest.raises(Misconfigured, match="belongs to none of the account's keys"):
        sample(name, occurrence(name), replace(hand, private_key=private_key(another.private_pem)))


def test_the_account_s_own_settings_are_obeyed() -> None:
    hand = hand_of("razorpay")
    path = {"order": "/payload/payment/entity/notes/order_no"}
    custom = replace(hand, account=replace(hand.account, settings=path))
    request = sample("razorpay", occurrence("razorpay"), custom)
    assert b'"notes": {"order_no": "O-1"}' in request.body

    hand = hand_of("adyen")
    captures = replace(hand, account=replace(hand.account, settings={"auto_capture": True}))
    assert b"AUTHORISATION" in sample("adyen", occurrence("adyen"), captures).body
