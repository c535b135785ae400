"""An address that can be moved from one server to another, as a failover does."""

import socket
import threading
from contextlib import suppress


class MovingAddress:
    """Passes everything on to the server of the moment; a move ends all connections."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def move(self, port: int) -> None:
        """From now on it leads there."""
        self._server = port
        while self._open:
            _end(self._open.pop())

    def close(self) -> None:
        _end(self._listener)
        self.move(0)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._server))
                except OSError:
                    _end(client)
                    continue
                self._open += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _end(source)
    _end(target)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
