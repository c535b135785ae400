"""Change data capture and retention: what the log tells, and what may be forgotten."""

from typing import Final

from tests.mutants.mutant import mutant

RETAINING = "tests/outbox/test_retention.py"
LOGGED = "tests/outbox/test_cdc.py"

MUTANTS: Final = (
    mutant(
        "an event is forgotten though a destination has not got it",
        "outbox/retention.py",
        "coalesce(published_at < statement_timestamp() - %(kept)s, false)",
        "published_at < statement_timestamp() - %(kept)s",
        RETAINING,
    ),
    mutant(
        "an event is forgotten before the log's reader has it",
        "outbox/retention.py",
        "page.age < 0 OR page.age > age(catalog_xmin)",
        "true",
        LOGGED,
        "-k",
        "retention",
    ),
    mutant(
        "an event is forgotten only by a run that gets to it from the beginning",
        "outbox/retention.py",
        "return total, position",
        "return total, BEGINNING",
        RETAINING,
    ),
    mutant(
        "the log tells what was forgotten",
        "outbox/cdc.py",
        "publish = 'insert'",
        "publish = 'insert, delete'",
        LOGGED,
        "-k",
        "retention",
    ),
    mutant(
        "the relay goes on beside the log",
        "outbox/events.py",
        'relayed = settings.RELAY != "cdc"',
        "relayed = True",
        LOGGED,
        "-k",
        "bus",
    ),
    mutant(
        "a slot may be forgotten until the disk is full of log",
        "outbox/slots.py",
        "if slot.retained_bytes > settings.CDC_SLOT_BYTES_MAX:",
        "if False:",
        "tests/outbox/test_slots.py",
    ),
)
