"""The clients that all must keep the same promises, each with its server and its account."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from orders.money import Money
from payments.clients.choice import choose
from payments.clients.port import Client, RefundOrder
from payments.clients.wire import Patience
from payments.providers.port import Account, Key
from tests.clients.servers import adyen, paypal, simulator, stripe
from tests.clients.servers.adyen import AdyenApi
from tests.clients.servers.alipay import AlipayApi
from tests.clients.servers.base import FakeApi, Payment
from tests.clients.servers.paypal import PayPalApi
from tests.clients.servers.simulator import SimulatorApi
from tests.clients.servers.stripe import StripeApi
from tests.clients.servers.wechatpay_v3 import WechatPayV3Api
from tests.providers.rsa_senders import APIV3_KEY, PUBLIC_KEY_ID, private_key, public_pem

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
#: Servers that hang must not make the tests wait for long.
PATIENCE: Final = Patience(connect=0.3, read=0.4, total=0.8, statement_total=0.8)
SERIAL: Final = "5157F09EFDC096DE15EBE81A47057A7232F1B8E1"

#: An amount that is refunded, and how it stands on the wire; None where it cannot be refunded.
Amounts = Mapping[tuple[int, str], tuple[str, str] | None]


@dataclass(frozen=True)
class Case:
    name: str
    api: Callable[[], FakeApi]
    account_no: str
    keys: tuple[Key, ...]
    settings: Mapping[str, Any]
    txn_no: str
    #: What the payment of 100.00 is on the wire.
    paid: tuple[str, str]
    amounts: Amounts
    #: The refund of 10.99 is known to be at its end as soon as it is answered.
    instant: bool = True
    numbered: bool = True

    @property
    def currency(self) -> str:
        return self.paid[1]

    @property
    def wire_amount(self) -> str:
        """10.99 in the payment's currency."""
        wire = self.amounts[1099, self.currency]
        assert wire is not None
        return wire[0]

    def payment(self, **given: Any) -> Payment:
        values: dict[str, Any] = {"txn_no": self.txn_no, "order_no": "O-1"}
        amount, currency = self.paid
        return Payment(**{**values, "amount": amount, "currency": currency, **given})

    def account(self, url: str, **given: Any) -> Account:
        values: dict[str, Any] = {
            "account_no": self.account_no,
            "live": False,
            "settings": {**self.settings, "api_url": url},
            "keys": self.keys,
        }
        return Account(**{**values, **given})

    def client(self, api: FakeApi, **given: Any) -> Client:
        chosen = choose(self.name, self.account(api.url, **given), now=NOW, patience=PATIENCE)
        assert chosen.client is not None, chosen.why
        return chosen.client

    def order(self, refund_no: str = "R-1", money: Money | None = None) -> RefundOrder:
        return RefundOrder(
            refund_no=refund_no,
            payment_txn_no=self.txn_no,
            order_no="O-1",
            amount=money or Money(1099, self.currency),
            payment_amount=Money(10000, self.currency),
            reason="asked for by the customer",
        )


def pem(key: RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _wechatpay_v3() -> FakeApi:
    merchant, own = private_key("wechat merchant"), private_key("wechat platform")
    now = int(NOW.timestamp())
    api = WechatPayV3Api(merchant.public_key(), own, serial=SERIAL, key_id=PUBLIC_KEY_ID, now=now)
    api.thief = private_key("thief")
    return api


def _alipay() -> FakeApi:
    api = AlipayApi(private_key("alipay app").public_key(), private_key("alipay"))
    api.thief = private_key("thief")
    return api


CASES: Final = (
    Case(
        name="stripe",
        api=StripeApi,
        account_no="acct_1",
        keys=(
            Key("first", "signature", b"whsec_clients_dc8Kp2Xq7VwB5nRtYz3M"),
            Key("2026", "api", stripe.SECRET.encode()),
        ),
        settings={},
        txn_no="pi_3MtwBwLkdIwHu7ix28a3tqPa",
        paid=("10000", "USD"),
        amounts={
            (1099, "USD"): ("1099", "USD"),
            (500, "JPY"): ("500", "JPY"),
            (18600, "KWD"): ("18600", "KWD"),
            (18605, "KWD"): None,
            (500, "ISK"): ("50000", "ISK"),
            (500, "UGX"): ("50000", "UGX"),
            (500, "MGA"): ("5", "MGA"),
            (501, "MGA"): None,
        },
    ),
    Case(
        name="wechatpay_v3",
        api=_wechatpay_v3,
        account_no="1900000001",
        keys=(
            Key(SERIAL, "api-private", pem(private_key("wechat merchant"))),
            Key(PUBLIC_KEY_ID, "signature", public_pem(private_key("wechat platform"))),
            Key("2026", "decryption", APIV3_KEY),
        ),
        settings={},
        txn_no="4200000000202601010000000001",
        paid=("10000", "CNY"),
        amounts={(1099, "CNY"): ("1099", "CNY"), (1099, "USD"): None},
    ),
    Case(
        name="alipay",
        api=_alipay,
        account_no="2014072300007148",
        keys=(
            Key("app", "api-private", pem(private_key("alipay app"))),
            Key("first", "signature", public_pem(private_key("alipay"))),
        ),
        settings={"seller_id": "2088102119685838"},
        txn_no="2026010122001400000000000001",
        paid=("100.00", "CNY"),
        amounts={(1099, "CNY"): ("10.99", "CNY"), (5, "CNY"): ("0.05", "CNY"), (1, "JPY"): None},
        numbered=False,
    ),
    Case(
        name="paypal",
        api=PayPalApi,
        account_no="7NTT2L3UTU8FW",
        keys=(Key(paypal.CLIENT_ID, "api", paypal.SECRET.encode()),),
        settings={"webhook_ids": ["1JE4291016473214C"]},
        txn_no="2GG279541U471931P",
        paid=("100.00", "USD"),
        amounts={
            (1099, "USD"): ("10.99", "USD"),
            (500, "JPY"): ("500", "JPY"),
            (18605, "KWD"): ("18.605", "KWD"),
            (50000, "HUF"): ("500", "HUF"),
            (50050, "HUF"): None,
        },
    ),
    Case(
        name="adyen",
        api=AdyenApi,
        account_no="TestMerchant",
        keys=(
            Key(
                "first",
                "signature",
                b"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
            ),
            Key("2026", "api", adyen.SECRET.encode()),
        ),
        settings={},
        txn_no="NC6HT9CRT65ZGN82",
        paid=("10000", "EUR"),
        amounts={
            (1099, "EUR"): ("1099", "EUR"),
            (500, "JPY"): ("500", "JPY"),
            (18605, "KWD"): ("18605", "KWD"),
            (500, "CLP"): ("50000", "CLP"),
            (1000000, "IDR"): ("10000", "IDR"),
            (1000050, "IDR"): None,
        },
        instant=False,
    ),
    Case(
        name="simulator",
        api=SimulatorApi,
        account_no="sim-acme",
        keys=(
            Key("first", "signature", b"signing-secret-of-the-tests"),
            Key("2026", "api", simulator.SECRET.encode()),
        ),
        settings={},
        txn_no="pay_5d1f0c6b2a9e4d7c8b3a",
        paid=("10000", "USD"),
        amounts={
            (1099, "USD"): ("1099", "USD"),
            (500, "JPY"): ("500", "JPY"),
            (1865, "KWD"): ("1865", "KWD"),
        },
    ),
)
