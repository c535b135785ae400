"""`manage.py provider_simulator` as a process, on the accounts of the database."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from config.embedded.ports import free_port
from config.simulator.our_accounts import OurAccounts
from payments.models import ProviderAccount
from tests import processes
from tests.factories import AccountKeyFactory, OrderFactory, ProviderAccountFactory
from tests.simulator.running import API_KEY, SIGNING_SECRET, Clock, until


def command(*arguments: str, **variables: str) -> list[str]:
    return [sys.executable, "manage.py", "provider_simulator", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=processes.ROOT,
        env=processes.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def at_simulator(transactional_db: None) -> ProviderAccount:
    row = ProviderAccountFactory.create(
        provider="simulator", name="try", account_no="sim-try", live=False, secret=SIGNING_SECRET
    )
    AccountKeyFactory.create(account=row, purpose="api", secret=API_KEY)
    return row


@pytest.fixture
def address(
    live_service: str, at_simulator: ProviderAccount, tmp_path: Path
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The simulator as a process, and where it listens."""
    port = free_port()
    arguments = ["--port", str(port), "--ledger", str(tmp_path / "books.sqlite3")]
    process = subprocess.Popen(
        command(*arguments, "--service-url", live_service),
        cwd=processes.ROOT,
        env=processes.environment(),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    url = f"http://127.0.0.1:{port}"
    assert process.stdout.readline() == f"The provider simulator is at {url}\n".encode()
    yield url, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_it_serves_the_accounts_of_the_database_and_calls_the_service(
    address: tuple[str, subprocess.Popen[bytes]],
    at_simulator: ProviderAccount,
    tmp_path: Path,
) -> None:
    url, process = address
    order = OrderFactory.create(merchant=at_simulator.merchant)
    content = {"order_no": order.order_no, "amount_minor": 1099, "currency": "USD"}
    headers = {"Authorization": f"Bearer {API_KEY}"}
    answer = httpx2.post(
        f"{url}/api/payments", json=content, headers=headers, trust_env=False, timeout=10
    )
    assert answer.status_code == 201

    def is_paid() -> bool:
        order.refresh_from_db()
        return order.status == "PAID"

    until(is_paid)
    books = ("--ledger", str(tmp_path / "books.sqlite3"))
    agrees = run(*books, "--check", "--final")
    assert (agrees.returncode, agrees.stderr) == (0, "")
    assert agrees.stdout == ("1 payments compared: 0 differences, 0 waiting, 0 asked of a person\n")
    ProviderAccount.objects.filter(pk=at_simulator.pk).update(account_no="sim-other")
    differs = run("--ledger", str(tmp_path / "other.sqlite3"), "--check")
    assert differs.returncode == 1
    assert differs.stdout.startswith("difference the database has a PAYMENT pay_")

    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_a_port_that_is_taken_is_said_in_one_sentence(
    address: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    url, _ = address
    port = url.rpartition(":")[2]
    refused = run("--port", port, "--ledger", str(tmp_path / "other.sqlite3"))
    assert refused.returncode == 1
    assert refused.stderr == (f"CommandError: Port {port} cannot be used: {os.strerror(98)}\n")


def test_only_active_test_accounts_of_the_simulator_are_served(
    at_simulator: ProviderAccount,
) -> None:
    ProviderAccountFactory.create(provider="simulator", name="live", live=True)
    ProviderAccountFactory.create(provider="simulator", name="off", live=False, active=False)
    ProviderAccountFactory.create(provider="stripe", name="stripe", live=False)

    (served,) = OurAccounts("https://pay.example.test/", Clock())()

    assert (served.name, served.account_no) == ("try", "sim-try")
    assert served.callback_url == "https://pay.example.test/callbacks/simulator/try"
    assert served.signing_secret == SIGNING_SECRET.encode()
    assert served.api_keys == (API_KEY.encode(),)
    assert API_KEY not in repr(served)
    assert SIGNING_SECRET not in repr(served)


def test_the_newest_key_that_is_valid_signs(at_simulator: ProviderAccount) -> None:
    clock = Clock()
    AccountKeyFactory.create(account=at_simulator, secret="tests-only-newer-Vw4Rk9-Lp2")
    AccountKeyFactory.create(
        account=at_simulator, secret="tests-only-expired-Vw4Rk9-L", not_after=clock()
    )
    clock.pass_(1)
    (served,) = OurAccounts("https://pay.example.test", clock)()
    assert served.signing_secret == b"tests-only-newer-Vw4Rk9-Lp2"
