"""The rules of the books notice what breaks them: each is broken here in one way, by hand."""

import pytest
from django.db import connection

from payments.models import ProviderAccount
from payments.refunds.carry_out import carry_out
from tests.concurrency.deeds import deliver
from tests.factories import MerchantFactory, OrderFactory, ProviderAccountFactory
from tests.invariants import CHECKS, assert_books_balance, broken_rules, outcomes
from tests.payments.refunds.asking import ask
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback

#: Statements that each break the rule they stand for, and perhaps others with it.
BREAKS = {
    "an order is paid if and only if exactly one transaction is applied to it": """
        UPDATE payments_providertransaction SET disposition = 'HELD', order_id = NULL
         WHERE txn_no = 'pi_paid'""",
    "an order is paid if and only if exactly one event says so, and by which transaction": """
        WITH event AS (SELECT id FROM outbox_event WHERE type = 'order.paid'),
             gone AS (DELETE FROM outbox_dispatch WHERE event_id IN (SELECT id FROM event))
        DELETE FROM outbox_event WHERE id IN (SELECT id FROM event)""",
    "an order's moves are told without a gap": """
        UPDATE outbox_event SET seq = 9 WHERE type = 'order.paid'""",
    "what is applied is what the order asks for": """
        UPDATE orders_order SET amount_minor = 1100 WHERE order_no = 'paid'""",
    "a payment has refunded what the ledger counts, and no more is promised than is left": """
        UPDATE payments_providertransaction SET refund_reserved_minor = 9
         WHERE txn_no = 'pi_paid'""",
    "nothing waits for room while there is any": """
        UPDATE payments_providertransaction SET disposition = 'HELD', counted_minor = 0
         WHERE kind = 'REFUND'""",
    "what waits for room asks a person, and what has it asks nobody any more": """
        UPDATE payments_providertransaction SET disposition = 'HELD', counted_minor = 0
         WHERE kind = 'REFUND'""",
    "an order has refunded what the payment that paid it has": """
        UPDATE orders_order SET refunded_minor = 9 WHERE order_no = 'paid'""",
    "a refund succeeded if and only if the ledger has it, for its payment and its amount": """
        UPDATE payments_refund SET amount_minor = 2 WHERE status = 'SUCCEEDED'""",
    "a refund's moves are told without a gap, and its end as it is": """
        WITH event AS (SELECT id FROM outbox_event WHERE type = 'refund.succeeded'),
             gone AS (DELETE FROM outbox_dispatch WHERE event_id IN (SELECT id FROM event))
        DELETE FROM outbox_event WHERE id IN (SELECT id FROM event)""",
    "money that goes back was told by a provider, or asked for": """
        INSERT INTO payments_providertransaction
               (account_id, merchant_id, kind, txn_no, reverses_no, order_no, stated_account_no,
                amount_minor, currency, occurred_at, occurred_at_is_stated, disposition,
                is_total, counted_minor, refund_reserved_minor, refunded_minor,
                charged_back_minor, version, recorded_at)
        SELECT account_id, merchant_id, 'REFUND', 'invented', 'pi', '', '', 1, 'USD', now(), true,
               'PARKED', false, 0, 0, 0, 0, 0, now()
          FROM payments_providertransaction WHERE txn_no = 'pi_paid'""",
    "only a payment that is applied has an order": """
        UPDATE payments_providertransaction SET order_id = (SELECT min(id) FROM orders_order)
         WHERE disposition = 'HELD'""",
    "no order's event is invented": """
        UPDATE outbox_event SET aggregate_id = 'nobody/1' WHERE type = 'order.paid'""",
    "no conflict's event is invented": """
        UPDATE outbox_event SET aggregate_id = '0' WHERE type = 'conflict.opened'""",
    "a conflict is told when it opens, and at each move": """
        UPDATE payments_conflict SET version = 2""",
    "an event is published only after those before it": """
        WITH later AS (
            INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, tenant, payload,
                                      headers, created_at)
            SELECT gen_random_uuid(), aggregate_type, aggregate_id, seq + 100, type, tenant,
                   payload, headers, created_at FROM outbox_event
            RETURNING *)
        INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                     created_at, state, attempts, fence, last_error, published_at)
        SELECT later.id, bus.id, aggregate_type, aggregate_id, seq, later.created_at, 'PUBLISHED',
               0, 0, '', later.created_at
          FROM later, outbox_destination bus""",
    "every event is on its way to all who wanted it, and as itself": """
        UPDATE outbox_dispatch SET seq = seq + 1""",
    "each transaction was delivered, decided, and applied at most once": """
        UPDATE payments_delivery SET outcome = 'APPLIED' WHERE outcome = 'DUPLICATE'""",
    "a manual payment is what paid its order, and nobody delivered it": """
        INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser,
                               is_staff, is_active, date_joined)
        VALUES ('a', '', '', '', '', false, false, true, now());
        INSERT INTO payments_manualpayment
               (order_id, order_version, amount_minor, currency, note, needs_two, status,
                proposed_by_id, proposed_at, decided_by_id, decided_at, decided_why, transaction_id)
        SELECT t.order_id, 0, t.amount_minor, t.currency, '', false, 'BOOKED',
               u.id, now(), u.id, now(), '', t.id
          FROM payments_providertransaction t, auth_user u
         WHERE t.disposition = 'APPLIED' AND t.kind = 'PAYMENT' AND u.username = 'a'""",
    "money that is held asks a person": """
        UPDATE payments_conflict SET transaction_id = NULL""",
    "a delivery has the evidence of its outcome": """
        UPDATE payments_delivery SET transaction_id = NULL WHERE outcome = 'DUPLICATE'""",
    "only a decision opens a closed order again, or takes another amount": """
        UPDATE orders_order SET closed_at = created_at WHERE order_no = 'paid'""",
    "a payment is decided about once": """
        UPDATE payments_conflict
           SET status = 'RESOLVED', resolved_at = opened_at, decision = 'MATCH';
        INSERT INTO payments_conflict
               (merchant_id, reason, subject, severity, transaction_id, expected, received,
                status, opened_at, due_at, resolved_at, resolution, decision, version)
        SELECT merchant_id, 'LATE_PAYMENT', subject, severity, transaction_id, expected, received,
               status, opened_at, due_at, resolved_at, resolution, decision, version
          FROM payments_conflict""",
    "a decision that needs two has an approved proposal of another": """
        INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser,
                               is_staff, is_active, date_joined)
        SELECT name, '', '', '', '', false, false, true, now()
          FROM unnest(ARRAY['a', 'b']) AS name;
        UPDATE payments_conflict
           SET needs_two = true, decided_as = 'PERSON',
               proposed_by_id = (SELECT min(id) FROM auth_user),
               decided_by_id = (SELECT max(id) FROM auth_user)""",
    "a conflict waits for a second person if and only if a proposal does": """
        UPDATE payments_conflict SET status = 'PROPOSED'""",
    "a batch is stored whole, its bytes once": """
        UPDATE payments_delivery SET item_no = 1 WHERE outcome = 'DUPLICATE'""",
    "nothing belongs to two merchants": """
        UPDATE payments_delivery SET merchant_id = (SELECT max(id) FROM orders_merchant)""",
}


@pytest.fixture
def account(transactional_db: None) -> ProviderAccount:
    """A shop with one paid order told twice, one payment held and one parked."""
    account = ProviderAccountFactory.create()
    MerchantFactory.create()
    OrderFactory.create(merchant=account.merchant, order_no="paid")
    told = callback(order_no="paid", txn_no="pi_paid")
    for reading in (told, told, callback(order_no="paid"), callback(order_no="absent")):
        deliver(account, reading, now=NOW)
    ask(account, "R-1", 1, order_no="paid")
    carry_out(ProviderDouble(), now=NOW)
    return account


def test_orderly_books_balance(account: ProviderAccount) -> None:
    assert_books_balance(deliveries=4)
    assert outcomes() == {
        "APPLIED": 1,
        "DUPLICATE": 1,
        "CONFLICT DUPLICATE_PAYMENT": 1,
        "PARKED": 1,
    }


def test_a_delivery_that_is_missing_is_noticed(account: ProviderAccount) -> None:
    with pytest.raises(AssertionError):
        assert_books_balance(deliveries=5)


def test_each_rule_is_broken_below() -> None:
    assert BREAKS.keys() == CHECKS.keys()


@pytest.mark.parametrize("rule", BREAKS)
def test_a_broken_rule_is_named(account: ProviderAccount, rule: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(BREAKS[rule])

    assert rule in broken_rules()
