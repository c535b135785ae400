"""What tests may ask for beyond the database: brokers, and the service as real processes."""

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests import cleaning, network_guard, processes, servers, static_files, told
from tests.private_service import PrivateService
from tests.private_service import private_service as run_private_service
from tests.server_control import ServerControl, private_rabbitmq_node, private_valkey_server


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The audit refuses TRUNCATE, which is how tests are cleaned up; `tests/audit` turns it on."""
    with ExitStack() as stack:
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE audit_auditentry DISABLE TRIGGER audit_no_truncate")
            stack.enter_context(cleaning.only_what_was_left())
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_found_once() -> Iterator[None]:
    with static_files.found_once():
        yield


@pytest.fixture(autouse=True)
def _no_network_within_a_transaction(request: pytest.FixtureRequest) -> Iterator[None]:
    """In every test that is not itself one transaction."""
    marker = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or (
        marker is not None and marker.kwargs.get("transaction", False)
    )
    with network_guard.guarded() if commits else nullcontext():
        yield


@pytest.fixture(autouse=True)
def _events_conform(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test has the service tell agrees with the schema that it names."""
    marked = request.node.get_closest_marker("django_db") is not None
    if not marked and not {"db", "transactional_db"} & set(request.fixturenames):
        yield
        return
    request.getfixturevalue("db")
    if connection.in_atomic_block:
        # The test is one transaction, and on a busy machine may get no turn for seconds.
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    yield
    assert told.unfit() == []


@pytest.fixture(scope="session")
def valkey_url() -> str:
    """The Valkey that all tests share: name your keys for your test."""
    return servers.redis_url()


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    """The RabbitMQ that all tests share: name your queues and exchanges for your test."""
    return servers.amqp_url()


@pytest.fixture
def private_valkey(tmp_path: Path) -> Iterator[ServerControl]:
    """A Valkey of this test's own, running, to stop, kill and start again; it keeps its data."""
    yield from private_valkey_server(tmp_path / "valkey")


@pytest.fixture
def private_rabbitmq(rabbitmq_url: str, tmp_path: Path) -> Iterator[ServerControl]:
    """A RabbitMQ node of this test's own, running; takes some seconds to come up."""
    yield from private_rabbitmq_node(tmp_path / "rabbitmq")


@pytest.fixture(scope="session")
def live_web(django_db_setup: None) -> Iterator[processes.Web]:
    """The web server, a real process on the test database, for all tests."""
    yield from processes.web()


@pytest.fixture
def live_service(live_web: processes.Web, transactional_db: None) -> str:
    """The address of the web server."""
    return live_web.url


@pytest.fixture(scope="session")
def private_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateService]:
    """A web server with a database of its own; whoever breaks it mends it."""
    yield from run_private_service(tmp_path_factory.mktemp("private"))


@pytest.fixture
def celery_worker_process(
    transactional_db: None,
    valkey_url: str,
) -> Iterator[processes.Worker]:
    """A real Celery worker on the test database and broker."""
    yield from processes.worker()
