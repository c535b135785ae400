"""What a merchant has used is counted once for all processes, by the database's clock."""

from functools import partial

import pytest
from django.conf import LazySettings
from django.db import connection
from rest_framework.exceptions import Throttled

from orders.api.limits import count_new_key
from orders.models import Merchant, Usage
from tests.concurrency.crew import Crew
from tests.concurrency.onlooker import query
from tests.concurrency.usage_deeds import count_keys
from tests.factories import MerchantFactory
from tests.orders.client import ApiClient, problem

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = {"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}}


@pytest.fixture
def merchant() -> Merchant:
    return MerchantFactory.create()


def move_window(by: int) -> None:
    """As if what was counted had been counted in another window."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE orders_usage SET window_no = window_no + %s", [by])


def accepted(merchant: Merchant) -> bool:
    try:
        count_new_key(merchant)
    except Throttled:
        return False
    return True


def test_all_that_count_at_once_are_counted(
    crew: Crew, settings: LazySettings, merchant: Merchant
) -> None:
    quota = settings.IDEMPOTENCY_KEYS_PER_DAY
    Usage.objects.create(merchant=merchant, what="KEYS", window_no=today(), used=quota - 50)

    accepted = crew.race(*[partial(count_keys, merchant, 10)] * crew.size)

    # In all processes together, as many as were left.
    assert sum(accepted) == 50
    assert Usage.objects.get().used == quota - 50 + 10 * crew.size


def today() -> int:
    return int(query("SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint"))


@pytest.mark.parametrize(
    ("by", "again"),
    [
        (-1, True),  # a new day
        (-1000, True),  # after a holiday
        (1, False),  # who waited for the row comes with the day before
        (2, True),  # the database's clock was set back
    ],
)
def test_a_new_window_begins_at_nothing(
    settings: LazySettings, merchant: Merchant, by: int, again: bool
) -> None:
    settings.IDEMPOTENCY_KEYS_PER_DAY = 2
    assert [accepted(merchant) for _ in range(3)] == [True, True, False]

    move_window(by)

    assert accepted(merchant) is again
    assert Usage.objects.get().window_no >= today()


def test_who_is_refused_is_told_when_the_window_ends(settings: LazySettings) -> None:
    settings.IDEMPOTENCY_KEYS_PER_DAY = 0
    left = "SELECT 86400 - extract(epoch FROM clock_timestamp()) %% 86400"
    before = float(query(left))

    refused = ApiClient().post("/v1/orders", ORDER)

    assert problem(refused) == (429, "too-many-requests")
    wait = int(refused.headers["Retry-After"])
    after = float(query(left))
    assert after <= wait <= before + 1 or after > before, "unless a day has begun in between"


def test_merchants_and_limits_do_not_count_for_each_other(settings: LazySettings) -> None:
    settings.API_CALLS_PER_MINUTE, settings.IDEMPOTENCY_KEYS_PER_DAY = 1000, 1
    one, other = ApiClient(), ApiClient()

    assert one.post("/v1/orders", ORDER).status_code == 201
    assert problem(one.post("/v1/orders", ORDER)) == (429, "too-many-requests")
    assert other.post("/v1/orders", ORDER).status_code == 201
    assert one.get("/v1/orders").status_code == 200
    used = Usage.objects.filter(merchant=one.merchant).values_list("what", "used")
    assert dict(used)["KEYS"] == 2


def test_a_count_waits_for_no_disk_and_holds_no_lock(merchant: Merchant) -> None:
    persistence = query("SELECT relpersistence FROM pg_class WHERE relname = 'orders_usage'")
    assert persistence == "u", "what is not logged is not waited for"

    accepted(merchant)

    held = "SELECT count(*) FROM pg_locks WHERE relation = 'orders_usage'::regclass"
    assert query(held) == 0
