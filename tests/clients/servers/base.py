"""A provider's API on this computer: a ledger, what its wire looks like, and every trouble.

A subclass speaks one provider's format and checks our requests with code of its own: whatever is
wrong with one stands in `complaints`.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class Trouble(Enum):
    """What goes wrong with a request."""

    LOST_REPLY = auto()
    """It is carried out, and the connection ends without a word."""
    FAULT_AFTER = auto()
    """It is carried out, and answered with 500."""
    LIMITED = auto()
    FAULT = auto()
    UNAVAILABLE = auto()
    PAGE = auto()
    """A proxy's page of HTML, with 200."""
    PAGE_NOT_FOUND = auto()
    """The same, with 404."""
    NOT_JSON = auto()
    EMPTY = auto()
    HANG = auto()
    FLOOD = auto()
    DROPS = auto()
    """A byte at a time, for ever."""
    ELSEWHERE = auto()
    """A redirect to an address of the same server."""
    FORGED = auto()
    """Carried out, and answered with a wrong signature."""


@dataclass
class Refund:
    refund_no: str
    number: str
    amount: str
    currency: str
    status: str
    created: int = 0


@dataclass
class Payment:
    txn_no: str
    order_no: str
    amount: str
    currency: str
    state: str = "paid"
    refunds: dict[str, Refund] = field(default_factory=dict)


@dataclass
class Request:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}


@dataclass
class Answered:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(status: int, document: Any, **headers: str) -> Answered:
    return Answered(status, json.dumps(document).encode(), headers)


class FakeApi(ThreadingHTTPServer):
    """The server; `trouble` is spent request by request, refunds carried out are `executed`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.payments: dict[str, Payment] = {}
        self.executed: list[tuple[str, str, str]] = []
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.troubles: list[Trouble] = []
        self.new_status = "succeeded"
        #: So many questions for refunds are answered as if there were none.
        self.blind_for = 0
        #: Refunds are refused with this code; `refuse_known` also those that are made.
        self.refusal = ""
        self.refuse_known = False
        self.questions_fail_by: Trouble | None = None
        self.replayed: Answered | None = None
        #: Changes the documents that are answered, before they are signed.
        self.mangle: Callable[[Any], Any] = lambda document: document
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def pay(self, payment: Payment) -> None:
        self.payments[payment.txn_no] = payment

    def execute(
        self, payment: Payment, refund_no: str, amount: str, currency: str, *, key: str = ""
    ) -> Refund:
        """The refund of that number, or of that key where it is the key that counts."""
        found = payment.refunds.get(key or refund_no)
        if found is None:
            number = f"{self.refund_prefix}{len(self.executed) + 1}"
            found = Refund(refund_no, number, amount, currency, self.new_status)
            payment.refunds[key or refund_no] = found
            self.executed.append((refund_no, amount, currency))
        return found

    def refuses(self, payment: Payment, refund_no: str) -> bool:
        known = refund_no in {refund.refund_no for refund in payment.refunds.values()}
        return bool(self.refusal) and (not known or self.refuse_known)

    def visible(self, payment: Payment) -> list[Refund]:
        if self.blind_for > 0:
            self.blind_for -= 1
            return []
        return list(payment.refunds.values())

    def complain(self, problem: str) -> None:
        self.complaints.append(problem)

    refund_prefix = "re_"
    signs = False

    def answer(self, request: Request) -> Answered:
        raise NotImplementedError

    def applies_to(self, _request: Request) -> bool:
        """Whether trouble comes to this request (not to one for an access token)."""
        return True

    def forged(self, answered: Answered) -> Answered:
        """The answer with a wrong signature, where this provider signs."""
        raise NotImplementedError


class _Handler(BaseHTTPRequestHandler):
    server: FakeApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        api = self.server
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", "0")))
        request = Request(self.command, self.path, headers, body)
        with api.lock:
            api.requests.append(request)
            hit = bool(api.troubles) and api.applies_to(request)
            trouble = api.troubles.pop(0) if hit else None
            if self.command == "GET" and api.questions_fail_by:
                trouble = api.questions_fail_by
            carried_out = {None, Trouble.LOST_REPLY, Trouble.FAULT_AFTER, Trouble.FORGED}
            answered = Answered(500, b"")
            if trouble in carried_out:
                answered = api.replayed or api.answer(request)
                if not api.signs and api.applies_to(request) and answered.body[:1] == b"{":
                    body = json.dumps(api.mangle(json.loads(answered.body))).encode()
                    answered = replace(answered, body=body)
            if trouble is Trouble.FORGED:
                answered = api.forged(answered)
        with suppress(OSError):
            self._trouble(trouble) if trouble not in {None, Trouble.FORGED} else self._send(
                answered
            )

    def _trouble(self, trouble: Trouble | None) -> None:
        page = b"<html><body>Sign in to the network</body></html>"
        match trouble:
            case Trouble.LOST_REPLY:
                self.close_connection = True
            case Trouble.HANG:
                self.server.stopping.wait(20)
                self.close_connection = True
            case Trouble.FLOOD:
                self._head(200, 50_000_000)
                for _ in range(50):
                    self.wfile.write(b" " * 1_000_000)
            case Trouble.DROPS:
                self._head(200, 1_000_000)
                while not self.server.stopping.wait(0.05):
                    self.wfile.write(b" ")
            case Trouble.ELSEWHERE:
                self._send(Answered(307, b"", {"Location": f"{self.server.url}/elsewhere"}))
            case _:
                status, body = {
                    Trouble.FAULT_AFTER: (500, b'{"error": {"message": "internal"}}'),
                    Trouble.LIMITED: (429, b'{"error": {"code": "rate_limit"}}'),
                    Trouble.FAULT: (500, b'{"code": "SYSTEM_ERROR"}'),
                    Trouble.UNAVAILABLE: (503, page),
                    Trouble.PAGE: (200, page),
                    Trouble.PAGE_NOT_FOUND: (404, page),
                    Trouble.NOT_JSON: (200, b'{"id": NaN, "id": [[['),
                    Trouble.EMPTY: (200, b""),
                }[trouble]  # type: ignore[index]
                self._send(Answered(status, body))

    def _send(self, answered: Answered) -> None:
        self._head(answered.status, len(answered.body), answered.headers)
        self.wfile.write(answered.body)

    def _head(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing: the tests read `requests`."""


@contextmanager
def running(api: FakeApi) -> Iterator[FakeApi]:
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api
    finally:
        api.stopping.set()
        api.shutdown()
        api.server_close()
        thread.join()
