"""What answers at a destination: the settings say it of the bus, its own row of every other."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from environ import Env

from outbox import models
from outbox.destinations.kafka import Kafka
from outbox.destinations.port import Destination
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream
from outbox.models import DestinationKind

AMQP: Final = ("amqp", "amqps")
REDIS: Final = ("redis", "rediss", "unix")
#: Options of librdkafka that hold a secret, or a key in full.
SECRET_OPTION: Final = re.compile(r"password|secret|oauthbearer\.config|\.pem$")


class Misconfigured(ImproperlyConfigured):
    """A destination, or the settings of the bus, cannot be connected to as they are."""


def resolve(destination: models.Destination) -> Destination:
    """A new connection to it, not yet connected. Raises Misconfigured with what is wrong."""
    return _opener(destination)(destination.config)


def check(destination: models.Destination) -> None:
    """Raises Misconfigured if nothing of this kind can be connected to with this config."""
    resolve(destination).close()


def bus() -> Destination:
    """What takes all events: RabbitMQ where AMQP_URL is set, else Kafka, else a stream.

    Raises Misconfigured if the settings name neither, or an address of another kind.
    """
    if settings.AMQP_URL:
        if not settings.AMQP_URL.startswith(("amqp://", "amqps://")):
            raise Misconfigured("AMQP_URL must begin with amqp:// or amqps://")
        return RabbitMQ(
            settings.AMQP_URL, exchange=settings.AMQP_EXCHANGE, queue=settings.AMQP_QUEUE
        )
    if settings.KAFKA_SERVERS:
        return _kafka_with(settings.KAFKA_OPTIONS, settings.KAFKA_SERVERS, settings.KAFKA_TOPIC)
    if settings.EVENT_STREAM_URL:
        if not settings.EVENT_STREAM_URL.startswith(("redis://", "rediss://", "unix://")):
            raise Misconfigured("EVENT_STREAM_URL must begin with redis://, rediss:// or unix://")
        return RedisStream(
            settings.EVENT_STREAM_URL,
            stream=settings.EVENT_STREAM,
            length_max=settings.EVENT_STREAM_LENGTH_MAX,
        )
    raise Misconfigured(
        "There is nowhere to publish events: set AMQP_URL to a RabbitMQ, or EVENT_STREAM_URL to a "
        "Valkey or Redis, or KAFKA_SERVERS."
    )


def _rabbitmq(config: Mapping[str, Any]) -> Destination:
    _only(config, "url", "url_env", "exchange", "queue")
    return RabbitMQ(
        _address(config, AMQP), exchange=_text(config, "exchange"), queue=_text(config, "queue", "")
    )


def _redis_stream(config: Mapping[str, Any]) -> Destination:
    _only(config, "url", "url_env", "stream", "length_max")
    length_max = config.get("length_max", settings.EVENT_STREAM_LENGTH_MAX)
    if not isinstance(length_max, int) or isinstance(length_max, bool) or length_max < 1:
        raise Misconfigured(f"length_max must be a whole number from 1 on, not {length_max!r}")
    return RedisStream(
        _address(config, REDIS), stream=_text(config, "stream"), length_max=length_max
    )


def _kafka(config: Mapping[str, Any]) -> Destination:
    """`options` are librdkafka's; a variable that `options_env` names may hold secret ones."""
    _only(config, "servers", "topic", "options", "options_env")
    options = config.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
        raise Misconfigured("options must map librdkafka's names to texts")
    if secret := [name for name in options if SECRET_OPTION.search(name)]:
        raise Misconfigured(
            f"{secret[0]} does not belong into the database: put it into a variable of the "
            "environment as name=value and name that in options_env"
        )
    if variable := _text(config, "options_env", ""):
        if variable not in os.environ:
            raise Misconfigured(f"the variable {variable} is not set")
        options = options | Env().dict(variable)
    return _kafka_with(options, _text(config, "servers"), _text(config, "topic"))


def _kafka_with(options: Mapping[str, str], servers: str, topic: str) -> Destination:
    try:
        return Kafka(servers, topic=topic, options=options)
    except ImproperlyConfigured as error:
        raise Misconfigured(str(error)) from error


#: How each kind is connected to.
OPENERS: Final[dict[DestinationKind, Callable[[Mapping[str, Any]], Destination]]] = {
    DestinationKind.KAFKA: _kafka,
    DestinationKind.RABBITMQ: _rabbitmq,
    DestinationKind.REDIS_STREAM: _redis_stream,
}


def _opener(destination: models.Destination) -> Callable[[Mapping[str, Any]], Destination]:
    kind = DestinationKind(destination.kind)
    if kind is DestinationKind.BUS:
        return lambda _config: bus()
    if kind not in OPENERS:
        raise Misconfigured(f"this version cannot publish to a {kind}")
    return OPENERS[kind]


def _address(config: Mapping[str, Any], schemes: tuple[str, ...]) -> str:
    """The address in `url`, or in the variable that `url_env` names, which may hold a password."""
    variable = _text(config, "url_env", "")
    if variable and "url" in config:
        raise Misconfigured("give url or url_env, not both")
    url = os.environ.get(variable, "") if variable else _text(config, "url", "")
    where = f"the variable {variable}" if variable else "url"
    if urlsplit(url).scheme not in schemes:
        beginnings = " or ".join(f"{scheme}://" for scheme in schemes)
        raise Misconfigured(f"{where} must begin with {beginnings}")
    if not variable and urlsplit(url).password is not None:
        raise Misconfigured(
            "url holds a password, which does not belong into the database: put the address into a "
            "variable of the environment and name that in url_env"
        )
    return url


def _text(config: Mapping[str, Any], name: str, default: str | None = None) -> str:
    text = config.get(name, default)
    if not isinstance(text, str) or (default is None and not text):
        raise Misconfigured(f"{name} must be a text" + ("" if text is None else f", not {text!r}"))
    return text


def _only(config: Mapping[str, Any], *names: str) -> None:
    if unknown := sorted(set(config) - set(names)):
        raise Misconfigured(f"unknown: {', '.join(unknown)}; known are {', '.join(names)}")
