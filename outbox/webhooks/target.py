"""Where an endpoint is: its URL, read strictly, so that what was checked is what is called."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import urlsplit

from outbox.webhooks.networks import Address, is_allowed

URL_LENGTH_MAX: Final = 500
_PORTS: Final = {"https": 443, "http": 80}
#: Below it live ssh, mail and their like; whoever answers HTTPS there but on 443 is none of us.
_PORT_UNPRIVILEGED: Final = 1024
_VISIBLE_ASCII: Final = re.compile(r"[!-~]+")
#: A host and perhaps a port, and nothing before, between or after them.
_NETLOC: Final = re.compile(r"(?:\[[0-9a-f:.]+\]|[^][:@%]+)(?::[1-9][0-9]{0,4})?")
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
#: A last label that resolvers take for a number: 2130706433, 0x7f000001, 127.0.0.0x1.
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
#: Names that mean a machine or a network of ours, whatever they resolve to: special-use names,
#: and what private networks and clouds (``metadata.google.internal``) are fond of.
_OURS: Final = frozenset(
    ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "svc", "arpa")
)


class BadTarget(ValueError):
    """Events cannot be sent to this URL; the text says why, and repeats none of it."""


@dataclass(frozen=True, slots=True)
class Target:
    """An endpoint; `address` where the URL names one itself instead of a host to look up."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None

    @property
    def authority(self) -> str:
        """The host and perhaps the port, as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its one form."""
        return f"{self.scheme}://{self.authority}{self.path}"


def read(url: str, *, private: bool) -> Target:
    """Take the URL apart. Raises BadTarget.

    `private` is for tests and development: it also allows ``http``, every port, loopback and
    private addresses, and names of one label.
    """
    if len(url) > URL_LENGTH_MAX or not _VISIBLE_ASCII.fullmatch(url) or "\\" in url:
        raise BadTarget(
            f"a URL is at most {URL_LENGTH_MAX} visible ASCII characters without backslashes "
            "(write an international name as xn--..)"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadTarget("this is no URL") from error
    if parts.scheme not in _PORTS or (parts.scheme == "http" and not private):
        raise BadTarget("it must begin with https://")
    if "@" in parts.netloc:
        raise BadTarget("it must not hold a user or a password")
    if not _NETLOC.fullmatch(parts.netloc.lower()):
        raise BadTarget("its host and port cannot be read")
    if "#" in url:
        raise BadTarget("it must not have a fragment")
    port = _PORTS[parts.scheme] if port is None else port
    if not private and port != _PORTS["https"] and port < _PORT_UNPRIVILEGED:
        raise BadTarget(f"its port must be 443, or {_PORT_UNPRIVILEGED} and above")
    host, address = _host(parts.netloc, parts.hostname or "", private=private)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, address)


def check_addresses(addresses: list[Address], *, private: bool) -> None:
    """Refuse a name of which any address is not for events. Raises BadTarget."""
    if not addresses:
        raise BadTarget("its host has no address")
    if not all(is_allowed(address, private=private) for address in addresses):
        raise BadTarget("its host has an address that is not on the public internet")


def _host(netloc: str, name: str, *, private: bool) -> tuple[str, Address | None]:
    """The host, and its address if it is one. `name` is in lower case, without brackets."""
    address: Address | None = None
    try:
        if netloc.startswith("["):
            address = IPv6Address(name)
        elif _NUMERIC.fullmatch(name.rpartition(".")[2]):
            # Nothing but four decimal numbers without leading zeros: every other form is read
            # as one address here and as another there.
            address = IPv4Address(name)
    except AddressValueError as error:
        raise BadTarget("its host is no address that all read alike") from error
    if address is not None:
        check_addresses([address], private=private)
        return str(address), address
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):  # noqa: PLR2004 - RFC 1035
        raise BadTarget("its host is no name that can be looked up (no dot at the end, please)")
    if not private and (len(labels) < 2 or labels[-1] in _OURS):  # noqa: PLR2004
        raise BadTarget("its host is a name of private networks")
    return name, None
