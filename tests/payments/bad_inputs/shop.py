"""The shop that bad input is sent to."""

from typing import Any

from orders.models import Order
from tests.factories import (
    AccountKeyFactory,
    MerchantFactory,
    OrderFactory,
    ProviderAccountFactory,
)
from tests.payments.over_http import number
from tests.processes import Web
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS, STANDARD_SECRET

FOREIGN_SECRET = "whsec_tests_of_somebody_else_4Kd8"
TEST_MODE_SECRET = "whsec_tests_of_test_mode_b71XcQ09z"
OLD_SECRET = "whsec_tests_in_overlap_77aQz1Lm"
ENDED_SECRET = "whsec_tests_has_ended_s0Pq3Tn9"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"


class Shop:
    """A merchant with an account at each provider, and somebody else who has one too."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.merchant = MerchantFactory.create()
        account = ProviderAccountFactory
        self.stripe = account.create(merchant=self.merchant, name="main", account_no="acct_main")
        AccountKeyFactory.create(account=self.stripe, secret=OLD_SECRET, not_after=FUTURE)
        AccountKeyFactory.create(account=self.stripe, secret=ENDED_SECRET, not_after=PAST)
        self.custom = account.create(
            merchant=self.merchant,
            provider="custom",
            account_no="m-1",
            settings=CUSTOM_SETTINGS,
            secret=CUSTOM_SECRET,
        )
        self.standard = account.create(
            merchant=self.merchant, provider="standardwebhooks", secret=STANDARD_SECRET
        )
        self.test_mode = account.create(
            merchant=self.merchant, live=False, secret=TEST_MODE_SECRET, account_no="acct_main"
        )
        self.foreign = account.create(name="foreign", secret=FOREIGN_SECRET)
        self.inactive = account.create(merchant=self.merchant, active=False)
        OrderFactory.create(merchant=self.foreign.merchant, order_no="THEIRS")

    def paid_before(self, **values: Any) -> Order:
        """An order that another payment has paid."""
        return OrderFactory.create(
            merchant=self.merchant,
            status="PAID",
            paid_at=PAST,
            paid_txn_no=f"pi_before_{number()}",
            version=1,
            **values,
        )
