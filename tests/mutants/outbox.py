"""Events: told once, claimed by one, published in order."""

from typing import Final

from tests.mutants.mutant import mutant

RECEIVING = "tests/payments/test_receive.py"
RELAYING = "tests/outbox/test_relay.py"
WEBHOOKS = "tests/outbox/webhooks/test_relay.py"
CLAIMING = "tests/outbox/test_claims.py"

MUTANTS: Final = (
    mutant(
        "a paid order is told twice",
        "orders/paying.py",
        "    events.tell(\n        OrderStatus.PAID,",
        "    told = {'order_no': order_no, 'money': money, 'txn_no': txn_no}\n"
        "    times = {'version': version + 1, 'at': paid_at, 'now': now}\n"
        "    events.tell(OrderStatus.PAID, merchant_code=merchant_code, **told, **times)\n"
        "    events.tell(\n        OrderStatus.PAID,",
        RECEIVING,
    ),
    mutant(
        "an event can be told without what it tells",
        "outbox/events.py",
        "if not connection.in_atomic_block:",
        "if False:",
        "tests/outbox/test_events.py",
    ),
    mutant(
        "events overtake those before them",
        "outbox/claims_sql.py",
        "AND previous.seq < head.seq",
        "AND false",
        CLAIMING,
    ),
    mutant(
        "an event is marked before it is published",
        "outbox/relay.py",
        "done = publish(destination, held, began + publish_seconds_max)",
        "claims.published(held)\n"
        "    done = publish(destination, held, began + publish_seconds_max)",
        RELAYING,
    ),
    mutant(
        "who lost his claim can still mark",
        "outbox/claims_sql.py",
        "AND dispatch.fence = claim.fence\n      AND dispatch.owner_token = %(owner)s",
        "AND %(owner)s::uuid IS NOT NULL",
        CLAIMING,
    ),
    mutant(
        "an old fence of the same owner can still mark",
        "outbox/claims_sql.py",
        "AND dispatch.fence = claim.fence\n",
        "\n",
        CLAIMING,
    ),
    mutant(
        "a destination waits for the lines of another",
        "outbox/claims_sql.py",
        "WHERE previous.destination_id = head.destination_id\n",
        "WHERE true\n",
        CLAIMING,
    ),
    mutant(
        "whoever waits may be passed like the dead",
        "outbox/claims_sql.py",
        "AND (previous.dead_at IS NULL OR NOT EXISTS (",
        "AND (NOT EXISTS (",
        CLAIMING,
    ),
    mutant(
        "a confirmation counts for whichever message waits",
        "outbox/destinations/confirms.py",
        "if multiple else [number]",
        "if multiple else [min(self._open)]",
        "tests/outbox/test_confirms.py",
    ),
    mutant(
        "a backlog goes before all new events",
        "outbox/relay.py",
        "newest_first = rounds % ROUNDS_TO_NEWEST == 0",
        "newest_first = False",
        "tests/outbox/test_drains.py",
    ),
    mutant(
        "broken destinations take all threads",
        "outbox/drains.py",
        "self._suspect if line.failures or line.slow else self._sound",
        "self._sound",
        "tests/outbox/test_drains.py",
    ),
    mutant(
        "an event is lost between what a destination is filled with and what it gets",
        "outbox/destinations/directory.py",
        'cursor.execute("LOCK TABLE outbox_event IN SHARE ROW EXCLUSIVE MODE")',
        'cursor.execute("SELECT 1")',
        "tests/outbox/test_directory.py",
    ),
    mutant(
        "publishing may hold a transaction open",
        "outbox/relay.py",
        "if connection.in_atomic_block:",
        "if False:",
        RELAYING,
    ),
    mutant(
        "a mark is not tried again, in the outbox and for webhooks",
        "outbox/marking.py",
        "if time.monotonic() + PAUSE_SECONDS >= until:",
        "if True:",
        *(RELAYING, WEBHOOKS, "-k", "comes_back or is_back"),
    ),
    mutant(
        "a mark whose answer was lost in the outbox is taken for a lost claim",
        "outbox/claims.py",
        "    if again:\n",
        "    if False:\n",
        *(RELAYING, "-k", "answer_is_lost"),
    ),
    mutant(
        "all of a batch leaves the outbox before any of it is heard of",
        "outbox/destinations/port.py",
        "if part and size > PART_BYTES_MAX:",
        "if False:",
        *("tests/outbox/test_rabbitmq.py", "-k", "takes_too_long"),
    ),
    mutant(
        "a destination of the outbox that may have published is filled",
        "outbox/destinations/directory.py",
        "dispatches.filter(fence__gt=0)",
        "dispatches.filter(published_at__isnull=False)",
        *("tests/outbox/test_directory.py", "-k", "may_have_been"),
    ),
    mutant(
        "the outbox waits for events in a worker's only slot",
        "outbox/tasks.py",
        "lingers = alone and _slots.value != 1",
        "lingers = alone",
        *("tests/outbox/test_worker.py", "-k", "one_slot"),
    ),
    mutant(
        "a batch of the outbox holds any number of bytes",
        "outbox/claims_sql.py",
        "WHERE bytes_so_far <= %(batch_bytes_max)s))",
        "WHERE bytes_so_far >= 0 OR %(batch_bytes_max)s < 0))",
        *("tests/outbox/test_claims.py", "-k", "so_many_bytes"),
    ),
)
