"""The servers that the tests themselves stand on."""

import amqp
import httpx2
import pytest
import redis
from django.contrib.auth.models import User

from tests.processes import Worker
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


def test_the_live_service_is_ready_on_the_database_of_the_tests(live_service: str) -> None:
    assert httpx2.get(f"{live_service}/readyz").json() == {"status": "ready"}


def test_a_row_that_a_test_commits_is_seen_by_the_live_service(live_service: str) -> None:
    User.objects.create_superuser("somebody", password="a long passphrase")
    with httpx2.Client(base_url=live_service) as browser:
        browser.get("/admin/login/")
        form = {
            "csrfmiddlewaretoken": browser.cookies["csrftoken"],
            "username": "somebody",
            "password": "a long passphrase",
        }
        assert browser.post("/admin/login/?next=/healthz", data=form).status_code == 302


def test_the_worker_process_is_a_process_that_runs(celery_worker_process: Worker) -> None:
    assert celery_worker_process.process.poll() is None
