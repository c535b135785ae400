"""The clock's errands run as they are, also for a newer sender's arguments."""

import pytest

from config.celery import app
from orders.models import OrderStatus
from payments import tasks
from payments.models import ProviderAccount, Refund, RefundStatus
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.payments.refunds.asking import ask, paid_order
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_clock_names_only_tasks_that_exist() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}

    assert named <= set(app.tasks)
    assert {
        *("payments.carry_out_refunds", "payments.recover_refunds"),
        *("payments.poll", "orders.expire_orders", "payments.sweep_parked"),
    } <= named


def test_orders_expire_where_nobody_can_be_asked() -> None:
    order = OrderFactory.create(expires_at=NOW)

    tasks.expire_orders(shard="a")

    order.refresh_from_db()
    assert order.status == OrderStatus.CLOSED


def test_a_refund_whose_account_has_no_client_waits() -> None:
    account: ProviderAccount = ProviderAccountFactory.create()
    paid_order(account)
    ask(account, "R-1")

    for task in (
        *(tasks.carry_out_refunds, tasks.recover_refunds),
        *(tasks.poll, tasks.sweep_parked),
    ):
        task(shard="a")

    refund = Refund.objects.get()
    assert (refund.status, refund.why) == (
        RefundStatus.REQUESTED,
        "the account has no key with purpose api that is valid now",
    )
