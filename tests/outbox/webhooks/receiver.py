"""A merchant's endpoint on this computer: verifies what comes, and answers well or badly."""

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

from tests.outbox.webhooks.certificates import server_context

#: What a request is answered with: a status, headers, a body; or something worse.
Answer = Callable[["Handler"], None]


class Received:
    """One request that came."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Receiver(ThreadingHTTPServer):
    """Keeps what came; `answers` are spent one by one, then all is well; or `always` holds."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *, tls: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/hook"
        if tls:
            self.socket = server_context().wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
        self.secrets: list[str] = []
        self.received: list[Received] = []
        self.complaints: list[str] = []
        self.answers: list[Answer] = []
        self.always: Answer = answer()
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def ids(self) -> list[str]:
        return [each.id for each in self.received]

    def times(self) -> Counter[str]:
        return Counter(self.ids)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up on us is no trouble."""


class Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        receiver = self.server
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with receiver.lock:
            receiver.in_flight += 1
            receiver.most_in_flight = max(receiver.most_in_flight, receiver.in_flight)
            receiver.received.append(Received(self.path, headers, body))
            for secret in receiver.secrets:
                try:
                    Webhook(secret).verify(body, headers)
                except Exception as error:  # noqa: BLE001 - whatever it is, the test shall say it
                    receiver.complaints.append(repr(error))
            chosen = receiver.answers.pop(0) if receiver.answers else receiver.always
        try:
            with suppress(OSError):
                chosen(self)
        finally:
            with receiver.lock:
                receiver.in_flight -= 1

    def do_GET(self) -> None:
        """A redirect that was followed would come like this."""
        self.do_POST()

    def log_message(self, *_: Any) -> None:
        """Nothing: the tests read `received`."""


def answer(status: int = 200, body: bytes = b"ok", **headers: str) -> Answer:
    def give(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return give


def to(event: str, special: Answer) -> Answer:
    """This to one event; all is well for the others."""

    def give(handler: Handler) -> None:
        (special if handler.headers["webhook-id"] == event else answer())(handler)

    return give


def hang(handler: Handler) -> None:
    """Take it and say nothing."""
    handler.server.stopping.wait(20)
    handler.close_connection = True


def after(seconds: float, then: Answer) -> Answer:
    def give(handler: Handler) -> None:
        handler.server.stopping.wait(seconds)
        then(handler)

    return give


def hang_up(handler: Handler) -> None:
    """Close midway, in the answer's head."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def drip_head(handler: Handler) -> None:
    """The head of an answer, a byte at a time, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    while not handler.server.stopping.wait(0.05):
        handler.wfile.write(b"a")
        handler.wfile.flush()


def continue_for_ever(handler: Handler) -> None:
    while not handler.server.stopping.wait(0.02):
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        handler.wfile.flush()


def drip_body(handler: Handler) -> None:
    """A good status, and a body that never ends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.server.stopping.wait(0.05):
        handler.wfile.write(b"a")
        handler.wfile.flush()


def flood(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "500000000")
    handler.end_headers()
    for _ in range(500):
        handler.wfile.write(b"x" * 1_000_000)


def endless_head(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.server.stopping.is_set():
        handler.wfile.write(b"X-More: " + b"a" * 8000 + b"\r\n")


def no_http(handler: Handler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


@contextmanager
def running(receiver: Receiver) -> Iterator[Receiver]:
    thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.stopping.set()
        receiver.shutdown()
        receiver.server_close()
        thread.join()
