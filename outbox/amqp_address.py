"""A RabbitMQ's address as the client library takes it."""

import ssl
from typing import Any, Final

from kombu.utils.url import url_to_parts

_PORTS: Final = {"amqp": 5672, "amqps": 5671}


def connection_arguments(url: str) -> dict[str, Any]:
    """What `amqp.Connection` needs for amqp://user:password@host:port/vhost, or amqps://."""
    parts = url_to_parts(url)
    return {
        "host": f"{parts.hostname or 'localhost'}:{parts.port or _PORTS[parts.scheme]}",
        "userid": parts.username or "guest",
        "password": parts.password or "guest",
        "virtual_host": parts.path or "/",
        "ssl": {"server_hostname": parts.hostname, "cert_reqs": ssl.CERT_REQUIRED}
        if parts.scheme == "amqps"
        else False,
    }
