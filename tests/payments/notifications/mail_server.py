"""A mail server on this computer that keeps what it takes, or answers as it is told."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """`mails` are those it took; while `answer` is not 250, it takes none."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.port = self.server_address[1]
        self.answer = 250
        self.mails: list[EmailMessage] = []


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say(220)
        while line := self.rfile.readline():
            match line.split()[0].upper():
                case b"DATA":
                    self._say(354)
                    self._take()
                    self._say(self.server.answer)
                case b"QUIT":
                    self._say(221)
                    return
                case _:
                    self._say(250)

    def _take(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if self.server.answer == 250:
            mail = message_from_bytes(b"".join(lines), policy=policy.default)
            self.server.mails.append(mail)

    def _say(self, code: int) -> None:
        self.wfile.write(f"{code} .\r\n".encode())


@contextmanager
def running() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
