"""Rows for tests: each valid as it comes, so that a test says only what it is about."""

from datetime import UTC, datetime
from typing import Any

import factory
from factory.django import DjangoModelFactory

from orders.models import Merchant, Order
from payments import vault
from payments.models import AccountKey, ProviderAccount

CREATED_AT = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)


class MerchantFactory(DjangoModelFactory[Merchant]):
    class Meta:
        model = Merchant

    code = factory.Sequence(lambda number: f"shop-{number}")
    name = "A shop"


class OrderFactory(DjangoModelFactory[Order]):
    class Meta:
        model = Order

    merchant = factory.SubFactory(MerchantFactory)
    order_no = factory.Sequence(lambda number: f"O-{number}")
    amount_minor = 1099
    currency = "USD"
    created_at = CREATED_AT


class ProviderAccountFactory(DjangoModelFactory[ProviderAccount]):
    """A Stripe account whose only key is `secret`."""

    class Meta:
        model = ProviderAccount
        skip_postgeneration_save = True

    merchant = factory.SubFactory(MerchantFactory)
    provider = "stripe"
    name = factory.Sequence(lambda number: f"account-{number}")
    account_no = factory.Sequence(lambda number: f"acct_{number}")
    live = True

    @factory.post_generation
    def secret(self: Any, create: bool, extracted: str | None, **_: Any) -> None:
        if create:
            AccountKeyFactory.create(account=self, secret=extracted or STRIPE_SECRET)


#: What the accounts of `ProviderAccountFactory` verify with.
STRIPE_SECRET = "whsec_tests_8fQ2nV5kXw9bZmLc3RjYdT7g"  # noqa: S105 - synthetic


class AccountKeyFactory(DjangoModelFactory[AccountKey]):
    class Meta:
        model = AccountKey

    class Params:
        secret = STRIPE_SECRET

    account = factory.SubFactory(ProviderAccountFactory)
    key_id = factory.Sequence(lambda number: f"key-{number}")
    material = factory.LazyAttribute(lambda row: vault.seal(row.secret.encode()))
