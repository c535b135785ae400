"""Change data capture: what the log tells is what the table holds, in the order of the commits."""

import itertools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as service
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from outbox import retention
from outbox.cdc import InUse, drop, setup, unread
from outbox.events import emit
from outbox.models import Dispatch, Event
from tests.concurrency.racing import race
from tests.factories import DestinationFactory
from tests.outbox.doubles import Recorder
from tests.outbox.log_readers import Subscriber, decoded, text_slot
from tests.outbox.relaying import drain

pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WRITERS = 6
ROUNDS = 30
IN_TURN = 4_711_001


@pytest.fixture(autouse=True)
def cdc(transactional_db: None, settings: Any) -> Iterator[None]:
    """Publication and slot are there, and events leave by them."""
    assert setup() == ["publication paidonce_outbox", "slot paidonce_outbox"]
    settings.RELAY = "cdc"
    yield
    settings.RELAY = "polling"
    drop(force=True)


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    reader = Subscriber()
    yield reader
    reader.close()


def forget(*, batch: int = retention.BATCH, batches_max: int = retention.BATCHES_MAX) -> int:
    """A run of retention; how many events it forgot."""
    return retention.forget(kept=timedelta(days=30), batch=batch, batches_max=batches_max)[0]


def tell(aggregate_id: str = "shop/1", seq: int = 1, at: datetime = AT) -> UUID:
    """Emit, in a transaction that is there or in one of its own."""
    with transaction.atomic():
        return emit(
            aggregate_type="order",
            aggregate_id=aggregate_id,
            seq=seq,
            type="order.paid",
            payload={"seq": seq},
            at=at,
            tenant="shop",
        )


class Writer:
    """Commits, rolls back, and has its backend killed; every third commit has its turn."""

    def __init__(self, name: str, turns: "itertools.count[int]") -> None:
        self._name = name
        self._turns = turns
        self.transactions = 0

    def __call__(self) -> None:
        for number in range(1, ROUNDS + 1):
            if number % 5 == 0:
                self._roll_back(number)
            self._commit(number)
        self._die()

    def _commit(self, number: int) -> None:
        with transaction.atomic():
            tell(self._name, 2 * number - 1)
            tell(self._name, 2 * number)
            if number % 3 == 0:
                with connection.cursor() as cursor:
                    # Let go after the commit: whose turn is earlier has committed earlier.
                    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [IN_TURN])
                tell("in/turn", next(self._turns))
        self.transactions += 1

    def _roll_back(self, number: int) -> None:
        with transaction.atomic():
            tell(self._name, 10_000 + number)
            transaction.set_rollback(True)

    def _die(self) -> None:
        with pytest.raises(OperationalError):
            self._write_and_die()

    @transaction.atomic
    def _write_and_die(self) -> None:
        tell(self._name, 20_000)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            cursor.execute("SELECT 1")


def write_at_once() -> int:
    """Have many write; how many transactions were committed."""
    turns = itertools.count(1)
    writers = [Writer(f"shop/{number}", turns) for number in range(WRITERS)]
    race(*writers)
    return sum(writer.transactions for writer in writers)


def assert_the_stream_is_the_table(stream: list[list[UUID]]) -> None:
    told = [event_id for events in stream for event_id in events]
    table = {event.pk: event for event in Event.objects.all()}
    assert len(told) == len(set(told)), "told twice"
    assert set(told) == set(table)
    last: dict[str, int] = {}
    for event_id in told:
        event = table[event_id]
        assert last.get(event.aggregate_id, 0) + 1 == event.seq, "a gap, or out of order"
        last[event.aggregate_id] = event.seq
    assert last == {
        "in/turn": WRITERS * (ROUNDS // 3),
        **{f"shop/{number}": 2 * ROUNDS for number in range(WRITERS)},
    }


def test_the_log_as_text_is_the_table_in_the_order_of_the_commits() -> None:
    with text_slot("paidonce_test"):
        transactions = write_at_once()

        stream = decoded("paidonce_test")

    assert len(stream) == transactions == WRITERS * ROUNDS
    assert_the_stream_is_the_table(stream)


def test_the_publication_is_the_table_in_the_order_of_the_commits(subscriber: Subscriber) -> None:
    transactions = write_at_once()

    stream = subscriber.transactions(transactions)

    assert_the_stream_is_the_table([[UUID(row["id"]) for row in rows] for rows in stream])
    row = stream[0][0]
    event = Event.objects.get(pk=row["id"])
    assert (row["aggregate_type"], row["type"], row["tenant"]) == ("order", "order.paid", "shop")
    assert (row["aggregate_id"], int(row["seq"])) == (event.aggregate_id, event.seq)
    assert json.loads(row["payload"]) == event.payload


def test_who_commits_later_is_told_later_whoever_wrote_first(subscriber: Subscriber) -> None:
    with transaction.atomic():
        first = tell("shop/1")
        (second,) = race(lambda: tell("shop/2"))

    stream = subscriber.transactions(2)

    assert [[row["id"] for row in rows] for rows in stream] == [[str(second)], [str(first)]]


def test_a_reader_that_died_is_told_again_and_one_that_confirmed_is_not() -> None:
    first = tell("shop/1")
    reader = Subscriber()
    ((row,),) = reader.transactions(1)
    reader.close()
    again = Subscriber()

    assert again.transactions(1) == [[row]]
    assert row["id"] == str(first)

    again.confirm()
    again.close()
    second = tell("shop/2")
    last = Subscriber()
    ((row,),) = last.transactions(1)
    last.close()
    assert row["id"] == str(second)


def test_the_bus_gets_nothing_from_the_relay_and_other_destinations_all() -> None:
    other = DestinationFactory.create()

    tell()

    assert [dispatch.destination_id for dispatch in Dispatch.objects.all()] == [other.pk]


def test_what_waits_for_the_bus_when_the_relay_is_switched_still_gets_there(
    settings: Any, subscriber: Subscriber
) -> None:
    settings.RELAY = "polling"
    events = [tell("shop/1", 1), tell("shop/1", 2)]
    settings.RELAY = "cdc"
    events.append(tell("shop/1", 3))
    bus = Recorder()

    drain(bus, seconds_max=30)

    assert [message.id for message in bus.taken] == events[:2]
    assert [UUID(row["id"]) for rows in subscriber.transactions(3) for row in rows] == events
    settings.RELAY = "polling"
    events.append(tell("shop/1", 4))
    drain(bus, seconds_max=30)
    assert [message.id for message in bus.taken] == [*events[:2], events[3]]


def test_an_event_that_only_the_log_tells_needs_no_dispatch() -> None:
    tell()

    assert (Event.objects.count(), Dispatch.objects.count()) == (1, 0)


def test_retention_waits_for_the_reader_and_its_deletions_are_not_told() -> None:
    old = AT - timedelta(days=400)
    tell("shop/1", at=old)
    assert forget() == 0, "nobody has read it"

    reader = Subscriber()
    reader.transactions(1)
    checkpoint()
    assert forget() == 0, "it was read, but that is not confirmed"

    newer = tell("shop/2")
    reader.transactions(1)
    reader.confirm()
    until_forgotten(reader)

    assert set(Event.objects.values_list("pk", flat=True)) >= {newer}
    after = tell("shop/4")
    ((row,),) = reader.transactions(1)
    reader.close()
    assert row["id"] == str(after)
    assert reader.operations == {"I"}


def until_forgotten(reader: Subscriber) -> None:
    """The server notes what is no longer needed from time to time, and at each checkpoint."""
    for seq in range(1, 6):
        checkpoint()
        tell("shop/3", seq)
        reader.transactions(1)
        reader.confirm()
        if forget(batch=1, batches_max=1) == 1:
            assert not Event.objects.filter(aggregate_id="shop/1").exists()
            return
    pytest.fail("a confirmed event is not forgotten")


def checkpoint() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")


def test_the_connector_of_the_docs_names_columns_that_there_are(subscriber: Subscriber) -> None:
    tell()
    subscriber.transactions(1)
    page = (Path(service.BASE_DIR) / "docs" / "cdc.md").read_text()
    match = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert match is not None
    config = json.loads(match[1])["config"]
    router = {
        name.removeprefix("transforms.outbox."): value
        for name, value in config.items()
        if name.startswith("transforms.outbox.")
    }
    placed = [each.split(":") for each in router["table.fields.additional.placement"].split(",")]

    named = {value for name, value in router.items() if name.startswith("table.field.")}
    named |= {router["route.by.field"], *(column for column, _, _ in placed)}
    assert named <= set(subscriber.columns)
    assert {where for _, where, _ in placed} == {"header"}
    # The key that the relay gives Kafka, too: an aggregate stays in its partition.
    assert router["table.field.event.key"] == "aggregate_id"
    assert config["table.include.list"] == "public.outbox_event"
    assert config["slot.name"] == service.CDC_SLOT
    assert config["publication.name"] == service.CDC_PUBLICATION


def test_what_is_there_is_not_made_again() -> None:
    assert setup() == []


def test_the_way_out_is_closed_while_somebody_needs_it(settings: Any) -> None:
    with pytest.raises(InUse, match="RELAY is cdc"):
        drop()

    settings.RELAY = "polling"
    reader = Subscriber()
    with pytest.raises(InUse, match="is being read"):
        drop()
    reader.close()

    assert not unread()
    tell()
    assert unread()
    with pytest.raises(CommandError, match="events that nobody has read"):
        call_command("cdc", "drop")

    assert drop(force=True) == ["slot paidonce_outbox", "publication paidonce_outbox"]
    assert drop() == []
