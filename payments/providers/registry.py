"""Which providers there are. The name is the part of the callback's address after /callbacks/."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from payments.providers.alipay import Alipay
from payments.providers.custom import Custom
from payments.providers.port import Provider
from payments.providers.standardwebhooks import StandardWebhooks
from payments.providers.stripe import Stripe
from payments.providers.unionpay import UnionPay
from payments.providers.wechatpay_v2 import WechatPayV2
from payments.providers.wechatpay_v3 import WechatPayV3

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "alipay": Alipay(),
        "custom": Custom(),
        "standardwebhooks": StandardWebhooks("webhook"),
        "stripe": Stripe(),
        "svix": StandardWebhooks("svix", "webhook"),
        "unionpay": UnionPay(),
        "wechatpay_v2": WechatPayV2(),
        "wechatpay_v3": WechatPayV3(),
    }
)


def find(name: str) -> Provider | None:
    """The provider of that name, or None."""
    return PROVIDERS.get(name)


def names() -> list[str]:
    """The names of all providers, sorted."""
    return sorted(PROVIDERS)
