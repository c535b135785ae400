"""Which providers there are. The name is the part of the callback's address after /callbacks/."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from payments.providers.adyen import Adyen
from payments.providers.alipay import Alipay
from payments.providers.braintree import Braintree
from payments.providers.checkoutcom import CHECKOUTCOM
from payments.providers.coinbase_business import COINBASE_BUSINESS
from payments.providers.custom import Custom
from payments.providers.flutterwave_v3 import FLUTTERWAVE_V3
from payments.providers.flutterwave_v4 import FLUTTERWAVE_V4
from payments.providers.gocardless import GOCARDLESS
from payments.providers.midtrans import Midtrans
from payments.providers.mollie_classic import MollieClassic
from payments.providers.mollie_nextgen import MOLLIE_NEXTGEN
from payments.providers.paypal import PayPal
from payments.providers.paystack import PAYSTACK
from payments.providers.port import Provider
from payments.providers.razorpay import RAZORPAY
from payments.providers.shopify import SHOPIFY
from payments.providers.simulator import SIMULATOR
from payments.providers.square import SQUARE
from payments.providers.standardwebhooks import SVIX_FACTS, StandardWebhooks
from payments.providers.stripe import Stripe
from payments.providers.unionpay import UnionPay
from payments.providers.wechatpay_v2 import WechatPayV2
from payments.providers.wechatpay_v3 import WechatPayV3
from payments.providers.xendit import XENDIT

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "adyen": Adyen(),
        "alipay": Alipay(),
        "braintree": Braintree(),
        "checkoutcom": CHECKOUTCOM,
        "coinbase_business": COINBASE_BUSINESS,
        "custom": Custom(),
        "flutterwave_v3": FLUTTERWAVE_V3,
        "flutterwave_v4": FLUTTERWAVE_V4,
        "gocardless": GOCARDLESS,
        "midtrans": Midtrans(),
        "mollie_classic": MollieClassic(),
        "mollie_nextgen": MOLLIE_NEXTGEN,
        "paypal": PayPal(),
        "paystack": PAYSTACK,
        "razorpay": RAZORPAY,
        "shopify": SHOPIFY,
        "simulator": SIMULATOR,
        "square": SQUARE,
        "standardwebhooks": StandardWebhooks("webhook"),
        "stripe": Stripe(),
        "svix": StandardWebhooks("svix", "webhook", facts=SVIX_FACTS),
        "unionpay": UnionPay(),
        "wechatpay_v2": WechatPayV2(),
        "wechatpay_v3": WechatPayV3(),
        "xendit": XENDIT,
    }
)


def find(name: str) -> Provider | None:
    """The provider of that name, or None."""
    return PROVIDERS.get(name)


def names() -> list[str]:
    """The names of all providers, sorted."""
    return sorted(PROVIDERS)
