"""Which destination the settings lead to."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from outbox.destinations.choice import chosen
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream


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

    assert type(chosen()) is kind


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
        chosen()
