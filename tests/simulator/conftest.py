import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from payments.models import ProviderAccount
from tests.factories import AccountKeyFactory, MerchantFactory, ProviderAccountFactory
from tests.simulator.running import (
    API_KEY,
    SIGNING_SECRET,
    Clock,
    Receiver,
    Simulator,
    account,
    running,
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Somebody who takes callbacks."""
    receiver = Receiver(Clock())
    thread = threading.Thread(target=receiver.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield receiver
    receiver.server.shutdown()
    thread.join()
    receiver.server.server_close()


@pytest.fixture
def simulator(tmp_path: Path, receiver: Receiver) -> Iterator[Simulator]:
    """A simulator whose callbacks go to the receiver."""
    with running(tmp_path / "books.sqlite3", lambda: [account(receiver.url)]) as simulator:
        receiver.clock = simulator.clock
        yield simulator


@pytest.fixture
def ours(live_service: str, tmp_path: Path) -> Iterator[tuple[Simulator, ProviderAccount]]:
    """A simulator whose callbacks go to the service, and the service's account at it."""
    url = f"{live_service}/callbacks/simulator/try"
    with running(tmp_path / "books.sqlite3", lambda: [account(url)]) as simulator:
        row = ProviderAccountFactory.create(
            merchant=MerchantFactory.create(code="shop"),
            provider="simulator",
            name="try",
            account_no="sim-try",
            live=False,
            settings={"api_url": simulator.url},
            secret=SIGNING_SECRET,
        )
        AccountKeyFactory.create(account=row, purpose="api", secret=API_KEY)
        yield simulator, row
