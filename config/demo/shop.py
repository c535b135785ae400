"""Set up the demo shop once: merchant, API key, provider account, admin user."""

import secrets
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from config.demo.provider import ACCOUNT_SETTINGS, PretendProvider
from config.simulator.our_accounts import PROVIDER as SIMULATOR
from orders import api_keys
from orders.models import Merchant
from payments import vault
from payments.models import AccountKey, ProviderAccount
from payments.opening import open_account
from payments.providers.api_access import API_PURPOSE, API_URL
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key

MERCHANT = "demo"
ACCOUNT = "demo"
ADMIN = "admin"


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The demo shop, and the secrets that were made just now: nothing can show them again."""

    merchant: Merchant
    provider: PretendProvider
    new_secrets: dict[str, str] = field(default_factory=dict, repr=False)


class NotSetUp(LookupError):
    """There is no demo shop in this database: `make run` makes one."""


def set_up(base_url: str, simulator_url: str) -> Shop:
    """The demo shop, made if it is not there yet; its account at the simulator knows where it is.

    An empty `simulator_url`: there is no simulator.
    """
    made: dict[str, str] = {}
    with transaction.atomic(durable=True):
        merchant, is_new = Merchant.objects.get_or_create(
            code=MERCHANT, defaults={"name": "Demo shop"}
        )
        if is_new:
            _, made["API key"] = api_keys.create(merchant=merchant, label="made by the first start")
    if not ProviderAccount.objects.filter(provider="custom", name=ACCOUNT).exists():
        open_account(
            merchant=merchant,
            provider_name="custom",
            name=ACCOUNT,
            account_no=ACCOUNT,
            live=False,
            settings=ACCOUNT_SETTINGS,
            keys=[Key("first", "signature", secrets.token_urlsafe(32).encode())],
        )
    if simulator_url:
        _open_at_simulator(merchant, simulator_url)
    if not User.objects.filter(username=ADMIN).exists():
        made["Password"] = secrets.token_urlsafe(12)
        User.objects.create_superuser(ADMIN, password=made["Password"])
    return Shop(merchant=merchant, provider=_provider(base_url), new_secrets=made)


def find(base_url: str) -> Shop:
    """The demo shop. Raises NotSetUp."""
    merchant = Merchant.objects.filter(code=MERCHANT).first()
    if merchant is None:
        raise NotSetUp(NotSetUp.__doc__)
    return Shop(merchant=merchant, provider=_provider(base_url))


def _open_at_simulator(merchant: Merchant, url: str) -> None:
    """Open the account, with a key for the API; it moves with the simulator to another port."""
    accounts = ProviderAccount.objects.filter(provider=SIMULATOR, name=ACCOUNT)
    if accounts.exists():
        accounts.update(settings={API_URL: url})
        return
    open_account(
        merchant=merchant,
        provider_name=SIMULATOR,
        name=ACCOUNT,
        account_no=ACCOUNT,
        live=False,
        settings={API_URL: url},
        keys=[
            Key("first", purpose, secrets.token_urlsafe(32).encode())
            for purpose in (KEY_PURPOSE, API_PURPOSE)
        ],
    )


def _provider(base_url: str) -> PretendProvider:
    key = AccountKey.objects.filter(account__provider="custom", account__name=ACCOUNT).latest("id")
    return PretendProvider(
        url=f"{base_url}/callbacks/custom/{ACCOUNT}", secret=vault.unseal(bytes(key.material))
    )
