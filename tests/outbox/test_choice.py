"""What the settings, and a destination's own row, lead to."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from outbox.destinations.choice import OPENERS, Misconfigured, bus, resolve
from outbox.destinations.kafka import Kafka
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream
from outbox.models import Destination, DestinationKind
from tests.factories import DestinationFactory


@pytest.mark.parametrize(
    ("amqp", "stream", "kind"),
    [
        ("amqp://127.0.0.1", "", RabbitMQ),
        ("amqps://127.0.0.1", "redis://127.0.0.1", RabbitMQ),
        ("", "redis://127.0.0.1", RedisStream),
        ("", "rediss://127.0.0.1", RedisStream),
        ("", "unix:///run/valkey.sock", RedisStream),
    ],
)
def test_rabbitmq_comes_before_a_stream(
    settings: Settings, amqp: str, stream: str, kind: type
) -> None:
    settings.AMQP_URL, settings.EVENT_STREAM_URL = amqp, stream

    assert type(bus()) is kind


@pytest.mark.parametrize(
    ("amqp", "stream", "hint"),
    [
        ("", "", "nowhere to publish events: set AMQP_URL to a RabbitMQ, or EVENT_STREAM_URL"),
        ("http://127.0.0.1", "", "AMQP_URL must begin with amqp:// or amqps://"),
        ("", "redis+socket:///run/valkey.sock", "EVENT_STREAM_URL must begin with redis://"),
    ],
)
def test_settings_that_lead_nowhere_are_told_what_to_set(
    settings: Settings, amqp: str, stream: str, hint: str
) -> None:
    settings.AMQP_URL, settings.EVENT_STREAM_URL = amqp, stream

    with pytest.raises(ImproperlyConfigured, match=hint):
        bus()


def test_kafka_comes_before_a_stream_and_after_rabbitmq(settings: Settings) -> None:
    settings.KAFKA_SERVERS, settings.EVENT_STREAM_URL = "127.0.0.1:9", "redis://127.0.0.1"
    assert type(bus()) is Kafka

    settings.AMQP_URL = "amqp://127.0.0.1"
    assert type(bus()) is RabbitMQ


def row(kind: str, config: dict[str, object]) -> Destination:
    destination: Destination = DestinationFactory.build(kind=kind, config=config)
    return destination


def test_the_bus_is_what_the_settings_say(settings: Settings) -> None:
    settings.AMQP_URL = "amqp://127.0.0.1"

    assert type(resolve(DestinationFactory.build(code="bus", kind="bus", config={}))) is RabbitMQ


@pytest.mark.parametrize(
    ("kind", "config", "answers"),
    [
        ("rabbitmq", {"url": "amqp://127.0.0.1", "exchange": "x"}, RabbitMQ),
        ("rabbitmq", {"url_env": "SHOP_URL", "exchange": "x", "queue": "q"}, RabbitMQ),
        ("kafka", {"servers": "h:9092", "topic": "t"}, Kafka),
        ("kafka", {"servers": "h:9092", "topic": "t", "options": {"acks": "all"}}, Kafka),
        ("kafka", {"servers": "h:9092", "topic": "t", "options_env": "SHOP_KAFKA"}, Kafka),
        ("redis_stream", {"url": "unix:///run/valkey.sock", "stream": "s"}, RedisStream),
        ("redis_stream", {"url": "redis://h", "stream": "s", "length_max": 9}, RedisStream),
    ],
)
def test_a_row_is_connected_to_as_it_says(
    monkeypatch: pytest.MonkeyPatch, kind: str, config: dict[str, object], answers: type
) -> None:
    monkeypatch.setenv("SHOP_URL", "amqps://user:secret@127.0.0.1")
    monkeypatch.setenv("SHOP_KAFKA", "sasl.username=shop,sasl.password=secret")

    assert type(resolve(row(kind, config))) is answers


@pytest.mark.parametrize(
    ("kind", "config", "hint"),
    [
        ("rabbitmq", {"exchange": "x"}, "^url must begin with amqp:// or amqps://$"),
        ("rabbitmq", {"url": "redis://h", "exchange": "x"}, "url must begin with amqp://"),
        ("rabbitmq", {"url": "amqp://h"}, "^exchange must be a text$"),
        ("rabbitmq", {"url": "amqp://h", "exchange": 1}, "exchange must be a text, not 1"),
        ("rabbitmq", {"url": "amqp://h", "exchang": "x"}, "unknown: exchang; known are url, "),
        ("rabbitmq", {"url": "amqp://u:p@h", "exchange": "x"}, "url holds a password"),
        ("rabbitmq", {"url_env": "NOT_SET", "exchange": "x"}, "the variable NOT_SET must begin"),
        ("rabbitmq", {"url_env": "A", "url": "amqp://h", "exchange": "x"}, "not both"),
        ("kafka", {"topic": "t"}, "servers must be a text"),
        ("kafka", {"servers": "h:9092"}, "topic must be a text"),
        ("kafka", {"servers": "h", "topic": "t", "options": ["x"]}, "options must map"),
        (
            "kafka",
            {"servers": "h", "topic": "t", "options": {"sasl.password": "u:p"}},
            "^sasl.password does not belong into the database",
        ),
        ("kafka", {"servers": "h", "topic": "t", "options_env": "NOT_SET"}, "NOT_SET is not set"),
        ("redis_stream", {"url": "redis://h"}, "stream must be a text"),
        ("redis_stream", {"url": "redis://h", "stream": "s", "length_max": True}, "length_max"),
        ("redis_stream", {"url": "redis://h", "stream": "s", "length_max": 0}, "length_max"),
    ],
)
def test_what_cannot_be_connected_to_is_told_without_its_password(
    kind: str, config: dict[str, object], hint: str
) -> None:
    with pytest.raises(Misconfigured, match=hint) as failure:
        resolve(row(kind, config))

    assert "u:p" not in str(failure.value)


def test_a_kind_that_nothing_here_speaks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OPENERS, DestinationKind.REDIS_STREAM)

    with pytest.raises(Misconfigured, match="this version cannot publish to a redis_stream"):
        resolve(row("redis_stream", {}))
