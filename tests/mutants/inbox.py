"""The inbox and the consumers behind it."""

from typing import Final

from tests.mutants.mutant import Edit, Mutant, mutant

HEARING = "tests/outbox/test_inbox.py"
CONSUMING = "tests/consumers/test_rabbitmq.py"
CONSUMER_KILLS = "tests/consumers/test_kills.py"

MUTANTS: Final = (
    mutant(
        "inbox: every delivery is the first",
        "outbox/inbox.py",
        "        return bool(cursor.rowcount)",
        "        return True",
        *(HEARING, "-k", "repeat or many_at_once"),
    ),
    Mutant(
        "inbox: the mark commits before the effect",
        [
            Edit(
                "outbox/inbox.py", "    with transaction.atomic(durable=True):\n", "    if True:\n"
            ),
            Edit("outbox/inbox.py", "if not connection.in_atomic_block:", "if False:"),
        ],
        (HEARING, "-k", "handler_that_fails"),
    ),
    mutant(
        "inbox: who waits too long is held against the event",
        "outbox/consumers/attend.py",
        "except (DataError, IntegrityError) as error:",
        "except (DataError, IntegrityError, DatabaseError) as error:",
        *(CONSUMING, "-k", "away_costs"),
    ),
    mutant(
        "inbox: acknowledged before the commit",
        "outbox/consumers/run.py",
        "    verdict = _verdict(source, subscription, delivery, stopped)\n",
        "    source.done(delivery)\n"
        "    verdict = _verdict(source, subscription, delivery, stopped)\n    return\n",
        CONSUMER_KILLS,
    ),
    mutant(
        "inbox: what the database undoes is told as handled",
        "outbox/inbox.py",
        "        _expect_to_be_kept()\n",
        "",
        *(HEARING, "-k", "does_not_keep"),
    ),
    mutant(
        "inbox: a handler may end the transaction of its mark",
        "outbox/inbox.py",
        "with connection.execute_wrapper(_refuse_to_end):",
        "if True:",
        *(HEARING, "-k", "by_itself"),
    ),
)
