"""A way to a server on which answers can be held back and words be lost."""

import socket
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit


class Proxy:
    """Passes everything on, until `hold_answers`; `betray` is what a bad network does then."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = url.replace(f":{parts.port}", f":{port}")
        self._holding = threading.Event()
        self._released = threading.Event()
        self._bytes_per_second = 0
        self._betrayed: list[socket.socket] = []
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold_answers(self) -> None:
        """From now on nothing comes back from the server."""
        self._holding.set()

    def slow_down(self, bytes_per_second: int) -> None:
        """From now on so much gets through to the server."""
        self._bytes_per_second = bytes_per_second

    def betray(self) -> None:
        """Let what was held back arrive, and lose whatever the present clients say from now on."""
        self._betrayed = list(self._open)
        self._holding.clear()
        self._released.set()

    def close(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._open += [client, server]
                for pump in (self._words, self._answers):
                    threading.Thread(target=pump, args=(client, server), daemon=True).start()

    def _words(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self._bytes_per_second:
                    time.sleep(len(data) / self._bytes_per_second)
                if client not in self._betrayed:
                    server.sendall(data)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if self._holding.is_set():
                    self._released.wait(30)
                client.sendall(data)
