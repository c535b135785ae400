"""The guard that all tests stand under."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from django.db import connection, transaction

from tests.network_guard import NetworkInTransactionError, guarded

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()


def test_whoever_connects_within_a_transaction_is_caught_even_if_he_hides_it(
    address: tuple[str, int],
) -> None:
    def work() -> None:
        with (
            transaction.atomic(),
            socket.socket() as reaching_out,
            suppress(NetworkInTransactionError),
        ):
            reaching_out.connect(address)
        connection.close()

    for run in (work, _in_a_thread(work)):
        with pytest.raises(NetworkInTransactionError, match=str(address[1])), guarded():
            run()


def _in_a_thread(work: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    return run


def test_before_and_after_a_transaction_the_network_is_free(address: tuple[str, int]) -> None:
    with guarded():
        socket.create_connection(address).close()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        socket.create_connection(address).close()
