"""Which destination the settings name."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from outbox.destinations.port import Destination
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream


def chosen() -> Destination:
    """A new destination, not yet connected: RabbitMQ where AMQP_URL is set, else a stream.

    Raises ImproperlyConfigured if the settings name neither, or an address of another kind.
    """
    if settings.AMQP_URL:
        if not settings.AMQP_URL.startswith(("amqp://", "amqps://")):
            raise ImproperlyConfigured("AMQP_URL must begin with amqp:// or amqps://")
        return RabbitMQ(
            settings.AMQP_URL, exchange=settings.AMQP_EXCHANGE, queue=settings.AMQP_QUEUE
        )
    if settings.EVENT_STREAM_URL:
        if not settings.EVENT_STREAM_URL.startswith(("redis://", "rediss://", "unix://")):
            raise ImproperlyConfigured(
                "EVENT_STREAM_URL must begin with redis://, rediss:// or unix://"
            )
        return RedisStream(
            settings.EVENT_STREAM_URL,
            stream=settings.EVENT_STREAM,
            length_max=settings.EVENT_STREAM_LENGTH_MAX,
        )
    raise ImproperlyConfigured(
        "There is nowhere to publish events: set AMQP_URL to a RabbitMQ, or EVENT_STREAM_URL to a "
        "Valkey or Redis."
    )
