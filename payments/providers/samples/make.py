"""Make a callback as its provider would, for any provider, from the account's own configuration.

Not evidence that an adapter is right: a sample is made of the tables that read it. It lets
developers integrate without a provider at hand.
"""

from collections.abc import Callable, Mapping
from typing import Final

from orders.money import NotMoney
from orders.strict_json import StrictJsonError
from payments.callback import Callback, Reading, Unreadable
from payments.providers.custom import Custom
from payments.providers.hmac_provider import HmacProvider
from payments.providers.port import Provider, SignedRequest
from payments.providers.registry import PROVIDERS
from payments.providers.samples import forms, partly_signed, shared_secret
from payments.providers.samples.occurrence import CannotTell, Hand, Made, Occurrence
from payments.providers.samples.wechatpay_v2 import wechatpay_v2
from payments.providers.samples.wechatpay_v3 import wechatpay_v3
from payments.providers.standardwebhooks import StandardWebhooks
from payments.providers.static_token import StaticToken

_MAKERS: Final[Mapping[str, Callable[[Occurrence, Hand], Made]]] = {
    "adyen": partly_signed.adyen,
    "alipay": forms.alipay,
    "braintree": forms.braintree,
    "midtrans": partly_signed.midtrans,
    "mollie_classic": partly_signed.mollie_classic,
    "paypal": partly_signed.paypal,
    "stripe": shared_secret.stripe,
    "unionpay": forms.unionpay,
    "wechatpay_v2": wechatpay_v2,
    "wechatpay_v3": wechatpay_v3,
}


def sample(provider_name: str, told: Occurrence, hand: Hand) -> SignedRequest:
    """The signed request by which this provider would tell it.

    Raises CannotTell if the provider has no such event or cannot state the order or the amount,
    and Misconfigured if a key to sign with is missing.
    """
    provider = PROVIDERS[provider_name]
    why = f"this provider has no event for {told.kind}"
    try:
        for request in _candidates(provider_name, provider, told, hand):
            (reading,) = provider.read(request, hand.account)
            if isinstance(reading, Callback) and reading.kind is not told.kind:
                continue
            why = _differs(reading, told)
            if not why:
                return request
    except (NotMoney, StrictJsonError) as error:
        raise CannotTell(str(error)) from error
    raise CannotTell(why)


def _candidates(name: str, provider: Provider, told: Occurrence, hand: Hand) -> Made:
    if name in _MAKERS:
        return _MAKERS[name](told, hand)
    match provider:
        case HmacProvider():
            return shared_secret.declared(name, provider, told, hand)
        case StaticToken():
            return shared_secret.token(name, provider, told, hand)
        case StandardWebhooks() | Custom():
            return shared_secret.configured(name, provider, told, hand)
        case _:
            raise CannotTell(f"nobody has written how a sample of {name} is made")


def _differs(reading: Reading, told: Occurrence) -> str:
    """What it tells instead; an event may be silent on the order or the amount."""
    if isinstance(reading, Unreadable):
        return reading.why
    stated = ((reading.order_no, told.order_no), (reading.money, told.money))
    if reading.stated_amount or any(seen not in {None, meant} for seen, meant in stated):
        return f"it reads as {reading.money or reading.stated_amount} for {reading.order_no}"
    return ""
