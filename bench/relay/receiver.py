"""A merchant's endpoint: `python -m bench.relay.receiver PORT` answers 200 and counts.

POST takes a webhook; GET tells how many came, and of how many ids.
"""

import asyncio
import re
import sys
from contextlib import suppress
from typing import Final

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_ID: Final = re.compile(rb"\r\nwebhook-id: *([^\r]+)", re.IGNORECASE)
_PATH: Final = re.compile(rb"[A-Z]+ ([^ ]+)")

_came: list[bytes] = []


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length, path = _LENGTH.search(head), _PATH.match(head)
            await reader.readexactly(int(length[1]) if length else 0)
            body = b"ok"
            if webhook := _ID.search(head):
                _came.append((path[1] if path else b"") + b" " + webhook[1])
            elif head.startswith(b"GET"):
                body = b"%d %d" % (len(_came), len(set(_came)))
                _came.clear()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            if b"connection: close" in head.lower():
                break
    writer.close()


async def _main(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_main(int(sys.argv[1])))
