"""Which client an account has: its provider's, if there are keys for it.

A client is made for one task and its time: nothing of it is kept but PayPal's access tokens.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.utils.translation import gettext_noop as _

from payments.clients import adyen, alipay, paypal, simulator, stripe, wechatpay_v3
from payments.clients.alipay_gateway import Gateway
from payments.clients.careful import Careful
from payments.clients.paypal_token import Tokens
from payments.clients.port import ANY_NUMBER, Client, FoundBy, NumberRule
from payments.clients.wechatpay_v3_wire import SignedWire
from payments.clients.wire import Patience, Wire
from payments.providers.adyen import LIVE_PREFIX
from payments.providers.api_access import API_PURPOSE, API_URL, PRIVATE_PURPOSE
from payments.providers.port import Account, Key, Misconfigured
from payments.providers.rsa_sign import private_key
from payments.saying import says

PATIENCE: Final = Patience()
FOREVER: Final = timedelta.max
EVERY_WAY: Final = frozenset(FoundBy)


class Choice(NamedTuple):
    """A client, or None and why there is none.

    `repeatable_for`: how long the provider surely takes the same refund number for the same
    refund. After that only asking is safe, not asking for the refund again. `tells_refunds`:
    whether it answers questions about refunds at all; if not, a lost answer is found by
    repeating the refund within that time. `found_by`: by what it finds payments; by nothing, if
    it answers no questions about them. `refund_no`: which refund numbers it takes.
    """

    client: Client | None
    why: str = ""
    repeatable_for: timedelta = timedelta(0)
    tells_refunds: bool = True
    found_by: frozenset[FoundBy] = EVERY_WAY
    refund_no: NumberRule = ANY_NUMBER


class _NoAccess(ValueError):
    """The account cannot use its provider's API; the message says what to add."""


class _Access(NamedTuple):
    account: Account
    now: datetime
    patience: Patience

    def key(self, purpose: str) -> Key:
        """The newest key of that purpose that is valid now. Raises _NoAccess."""
        for key in self.account.keys:
            if key.purpose == purpose and key.valid_at(self.now):
                return key
        raise _NoAccess(
            says(
                _("the account has no key with purpose %(purpose)s that is valid now"),
                purpose=purpose,
            )
        )

    def wire(self, live_url: str, test_url: str) -> Wire:
        """The provider's own host, or in test mode the address that is set. Raises _NoAccess."""
        if self.account.live:
            return Wire(live_url, self.patience)
        url = str(self.account.settings.get(API_URL) or "") or test_url
        if not url:
            raise _NoAccess(
                says(_("in test mode the account needs the setting %(name)s"), name=API_URL)
            )
        return Wire(url, self.patience)


def choose(
    provider_name: str, account: Account, *, now: datetime, patience: Patience = PATIENCE
) -> Choice:
    """The client of this account at this time. Never raises."""
    offer = _OFFERS.get(provider_name)
    if offer is None:
        why = says(_("there is no client for %(provider)s's API"), provider=provider_name)
        return Choice(None, why)
    try:
        client = offer.make(_Access(account, now, patience))
    except (_NoAccess, Misconfigured) as error:
        return Choice(None, error.args[0])
    return Choice(
        Careful(client),
        "",
        offer.repeatable_for,
        offer.tells_refunds,
        offer.found_by,
        offer.refund_no,
    )


def _stripe(access: _Access) -> Client:
    wire = access.wire(stripe.LIVE_URL, stripe.LIVE_URL)
    return stripe.Stripe(wire, access.account, access.key(API_PURPOSE))


def _wechatpay_v3(access: _Access) -> Client:
    key = access.key(PRIVATE_PURPOSE)
    wire = SignedWire(
        # WeChat Pay has no test mode of its own.
        access.wire(wechatpay_v3.LIVE_URL, ""),
        access.account,
        private_key(key.material),
        serial_no=key.key_id,
        now=access.now,
    )
    return wechatpay_v3.WechatPayV3(wire, access.account)


def _alipay(access: _Access) -> Client:
    key = private_key(access.key(PRIVATE_PURPOSE).material)
    wire = access.wire(alipay.LIVE_URL, alipay.TEST_URL)
    return alipay.Alipay(Gateway(wire, access.account, key, now=access.now), access.account)


def _paypal(access: _Access) -> Client:
    wire = access.wire(paypal.LIVE_URL, paypal.TEST_URL)
    tokens = Tokens(wire, access.key(API_PURPOSE), now=access.now)
    return paypal.PayPal(wire, access.account, tokens)


def _adyen(access: _Access) -> Client:
    prefix = str(access.account.settings.get("live_prefix") or "")
    if access.account.live and not LIVE_PREFIX.fullmatch(prefix):
        raise _NoAccess("a live account needs the setting live_prefix, as Adyen shows it")
    wire = access.wire(adyen.live_url(prefix), adyen.TEST_URL)
    return adyen.Adyen(wire, access.account, access.key(API_PURPOSE))


def _simulator(access: _Access) -> Client:
    if access.account.live:
        raise _NoAccess("the simulator has no live accounts")
    return simulator.Simulator(access.wire("", ""), access.account, access.key(API_PURPOSE))


class _Offer(NamedTuple):
    make: Callable[[_Access], Client]
    repeatable_for: timedelta
    tells_refunds: bool = True
    found_by: frozenset[FoundBy] = EVERY_WAY
    refund_no: NumberRule = ANY_NUMBER


_OFFERS: Final[Mapping[str, _Offer]] = {
    "adyen": _Offer(_adyen, timedelta(days=31), tells_refunds=False, found_by=adyen.FOUND_BY),
    "alipay": _Offer(_alipay, FOREVER),
    "paypal": _Offer(_paypal, timedelta(days=45), found_by=paypal.FOUND_BY),
    "simulator": _Offer(_simulator, FOREVER),
    "stripe": _Offer(_stripe, timedelta(hours=24)),
    "wechatpay_v3": _Offer(_wechatpay_v3, FOREVER, refund_no=wechatpay_v3.REFUND_NO),
}
