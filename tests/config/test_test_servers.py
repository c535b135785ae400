"""The servers that the tests themselves stand on."""

import amqp
import pytest
import redis

from tests.server_control import ServerControl


def test_a_private_valkey_that_was_killed_comes_back_with_what_it_was_told(
    private_valkey: ServerControl,
) -> None:
    client = redis.Redis.from_url(private_valkey.url)
    client.set("told", "before")
    private_valkey.kill()
    with pytest.raises(redis.ConnectionError):
        client.get("told")
    private_valkey.start()
    assert client.get("told") == b"before"
    client.close()


def _connect(url: str) -> amqp.Connection:
    user, _, host = url.removeprefix("amqp://").rstrip("/").partition("@")
    name, _, password = user.partition(":")
    connection = amqp.Connection(host, userid=name, password=password)
    connection.connect()
    return connection


def test_the_shared_rabbitmq_accepts_its_user(rabbitmq_url: str) -> None:
    connection = _connect(rabbitmq_url)
    assert connection.connected
    connection.close()


def test_a_private_rabbitmq_can_be_taken_away_and_brought_back(
    private_rabbitmq: ServerControl,
) -> None:
    _connect(private_rabbitmq.url).close()
    private_rabbitmq.kill()
    with pytest.raises(ConnectionRefusedError):
        _connect(private_rabbitmq.url)
    private_rabbitmq.start()
    _connect(private_rabbitmq.url).close()
