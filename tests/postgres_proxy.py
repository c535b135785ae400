"""A way to PostgreSQL on which the answer to a COMMIT can be lost, or everything."""

import socket
import threading
from contextlib import suppress
from typing import Final

#: The message by which psycopg commits: a simple query, ended by NUL.
COMMIT: Final = b"COMMIT\0"


class PostgresProxy:
    """Passes everything on, at an address of its own."""

    def __init__(self, port: int) -> None:
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.commits_unanswered = 0
        self._losing = threading.Event()
        self._is_cut = threading.Event()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer_to_next_commit(self) -> None:
        """Let the next COMMIT through, and end the connection instead of bringing its answer."""
        self._losing.set()

    def cut(self) -> None:
        """End all connections, and from now on each new one at once."""
        self._is_cut.set()
        while self._open:
            _end(self._open.pop())

    def heal(self) -> None:
        self._is_cut.clear()

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._is_cut.is_set():
                    _end(client)
                    continue
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._server)
        except OSError:
            _end(client)
            return
        self._open += [client, server]
        committing = threading.Event()
        threading.Thread(
            target=self._answers, args=(server, client, committing), daemon=True
        ).start()
        with suppress(OSError):
            while words := client.recv(65536):
                if COMMIT in words and self._losing.is_set():
                    self._losing.clear()
                    committing.set()
                server.sendall(words)
        _end(server)

    def _answers(
        self, server: socket.socket, client: socket.socket, committing: threading.Event
    ) -> None:
        with suppress(OSError):
            while answer := server.recv(65536):
                if committing.is_set():
                    self.commits_unanswered += 1
                    break
                client.sendall(answer)
        _end(client)
        _end(server)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
