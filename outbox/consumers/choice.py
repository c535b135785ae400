"""Where a consumer hears the events: where the settings have them published."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from outbox.consumers.port import Source, Subscription
from outbox.consumers.rabbitmq import RabbitMQSource
from outbox.consumers.redis_stream import RedisStreamSource


def source_for(subscription: Subscription) -> Source:
    """A new source, not yet connected. Raises ImproperlyConfigured if there is none."""
    if settings.RELAY == "cdc":
        raise ImproperlyConfigured(
            "Events leave through the database's log (RELAY=cdc), and this consumer hears only "
            "RabbitMQ or a stream, where nothing new arrives."
        )
    if settings.AMQP_URL:
        return RabbitMQSource(
            settings.AMQP_URL,
            exchange=settings.AMQP_EXCHANGE,
            queue=f"{settings.AMQP_EXCHANGE}.{subscription.name}",
            types=subscription.types,
        )
    if settings.KAFKA_SERVERS:
        raise ImproperlyConfigured(
            "Events go to Kafka (KAFKA_SERVERS), and this consumer hears only RabbitMQ or a stream."
        )
    if settings.EVENT_STREAM_URL:
        return RedisStreamSource(
            settings.EVENT_STREAM_URL, stream=settings.EVENT_STREAM, group=subscription.name
        )
    raise ImproperlyConfigured(
        "There is nowhere to hear events: set AMQP_URL to the RabbitMQ, or EVENT_STREAM_URL to the "
        "Valkey or Redis, that they are published to."
    )
