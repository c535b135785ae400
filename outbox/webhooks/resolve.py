"""Look a name up, in bounded time."""

import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from queue import Empty, SimpleQueue

from outbox.webhooks.networks import Address

#: The addresses of a host, within so many seconds, in the order to try them; raises OSError.
Resolver = Callable[[str, float], list[Address]]


def system_resolver(host: str, seconds_max: float) -> list[Address]:
    """What the operating system says. Raises OSError, of which TimeoutError is one.

    `getaddrinfo` cannot be interrupted, and a name server may make it last for half a minute: so
    it runs in a thread that is left alone when time is up.
    """
    answered: SimpleQueue[list[Address] | OSError] = SimpleQueue()
    threading.Thread(target=_look_up, args=(host, answered), daemon=True).start()
    try:
        answer = answered.get(timeout=seconds_max)
    except Empty:
        raise TimeoutError("its name was not looked up in time") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _look_up(host: str, answered: "SimpleQueue[list[Address] | OSError]") -> None:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        answered.put(error if isinstance(error, OSError) else OSError("no name"))
        return
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    answered.put([ip_address(text) for text in dict.fromkeys(addresses)])
