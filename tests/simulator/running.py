"""The simulator over real HTTP, with a clock that the test moves."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import httpx2

from config.simulator.accounts import Account
from config.simulator.app import App
from config.simulator.sender import Sender
from config.simulator.server import Server
from config.simulator.store import Store
from payments.providers.port import Account as OurAccount
from payments.providers.port import Key, SignedRequest, Verified
from payments.providers.registry import PROVIDERS

SIGNING_SECRET: Final = "tests-only-simulator-Vw4Rk9"
API_KEY: Final = "tests-only-simulator-api-2Lp"


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something that another thread or process does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Clock:
    """The present, and as much later as the test says."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead  # noqa: TID251 - signatures are judged by a real clock

    def pass_(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


class Simulator:
    """One that runs, and a client with the account's key."""

    def __init__(self, url: str, clock: Clock, store: Store) -> None:
        self.url = url
        self.clock = clock
        self.store = store
        self.http = httpx2.Client(
            base_url=url, headers={"Authorization": f"Bearer {API_KEY}"}, timeout=5, trust_env=False
        )

    def call(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """The status and the document of an API call."""
        answer = self.http.request(method, path, **options)
        return answer.status_code, answer.json()

    def pay(self, order_no: str = "O-1", amount_minor: int = 1099, **switches: Any) -> str:
        """Pay through the API; the payment's number."""
        content = {"order_no": order_no, "amount_minor": amount_minor, "currency": "USD"}
        status, told = self.call("POST", "/api/payments", json=content, params=switches)
        assert status == 201, told
        return str(told["payment"]["id"])

    def refund(
        self, payment: str, refund_no: str | None = "R-1", amount_minor: int = 1099, **switches: Any
    ) -> tuple[int, Any]:
        content = {
            "refund_no": refund_no,
            "payment": payment,
            "amount_minor": amount_minor,
            "currency": "USD",
        }
        return self.call("POST", "/api/refunds", json=content, params=switches)

    def set(self, operation: str, times: int = 1, **switches: Any) -> None:
        content = {"switches": switches, "times": times}
        status, told = self.call("PUT", f"/api/scenarios/{operation}", json=content)
        assert status == 200, told

    def sent(self, payment: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", f"/api/payments/{payment}/callbacks")[1][
            "callbacks"
        ]
        return found

    def wait_until_sent(self, *payments: str) -> None:
        """Wait until nothing about these payments is left to send."""
        until(lambda: all(one["state"] != "DUE" for each in payments for one in self.sent(each)))


@contextmanager
def running(
    path: Path, accounts: Callable[[], list[Account]], *, sends: bool = True
) -> Iterator[Simulator]:
    """A simulator of one's own; one that does not send leaves its callbacks to the test."""
    clock = Clock()
    store = Store(path)
    server = Server(App(store, accounts, clock), 0)
    sender = Sender(store, accounts, clock)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    if sends:
        sender.start()
    simulator = Simulator(server.url, clock, store)
    try:
        yield simulator
    finally:
        simulator.http.close()
        server.shutdown()
        thread.join()
        server.server_close()
        if sends:
            sender.stop()
        store.close()


class Receiver:
    """Takes callbacks in the service's place: what came, and what it is answered."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.came: list[tuple[bool, bytes]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = tuple((name.lower(), value) for name, value in self.headers.items())
                verdict = PROVIDERS["simulator"].authenticate(
                    SignedRequest(headers, body), _account(), now=receiver.clock()
                )
                authentic = isinstance(verdict, Verified)
                receiver.came.append((authentic, body))
                answer = receiver.answers.pop(0) if receiver.answers else 200
                self.send_response(answer if authentic else 401)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/callbacks/simulator/try"

    def types(self) -> list[str]:
        """What came, in order; "forged" before the type of what is not authentic."""
        return [
            ("" if authentic else "forged ") + str(json.loads(body)["type"])
            for authentic, body in self.came
        ]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.came]


def _account() -> OurAccount:
    key = Key("first", "signature", SIGNING_SECRET.encode())
    return OurAccount(account_no="sim-try", live=False, settings={}, keys=(key,))


def account(
    callback_url: str, account_no: str = "sim-try", name: str = "try", api_key: str = API_KEY
) -> Account:
    """The account that calls there."""
    return Account(
        account_no=account_no,
        name=name,
        callback_url=callback_url,
        signing_secret=SIGNING_SECRET.encode(),
        api_keys=(api_key.encode(),),
    )
