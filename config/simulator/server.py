"""The HTTP server: one process, a thread per request, on this machine only."""

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from config.simulator.app import App
from config.simulator.wire import Reply, Request

BODY_BYTES_MAX: Final = 64 * 1024
_TIMEOUT_SECONDS: Final = 30


class Server(ThreadingHTTPServer):
    """Serves an app on 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "simulator"
    sys_version = ""
    timeout = _TIMEOUT_SECONDS

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing: addresses hold what people typed."""

    def _answer(self) -> None:
        length = self.headers.get("content-length") or "0"
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            self._write(Reply(status=413, content_type="text/plain"))
            return
        parts = urlsplit(self.path)
        reply = self.server.app.answer(
            Request(
                method=self.command,
                path=parts.path,
                query=dict(parse_qsl(parts.query)),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=self.rfile.read(int(length)),
            )
        )
        if reply.dropped:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._write(reply)

    def _write(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
