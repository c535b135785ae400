"""Which addresses of the internet a merchant's endpoint may have.

What is refused is listed by us (IANA's registries of special-purpose addresses, 2026), because
`ipaddress.is_global` has changed its mind between releases of Python. Of IPv6 only global unicast
is taken, and none of the forms that carry an IPv4 address inside: a packet to them may end up
anywhere.
"""

from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address

_PRIVATE: Final = tuple(
    map(ip_network, ("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
) + tuple(map(ip_network, ("::1/128", "fc00::/7")))

_REFUSED: Final = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this host
            "100.64.0.0/10",  # carrier-grade NAT, and a cloud's metadata
            "168.63.129.16/32",  # a cloud's host agent, at a public address
            "169.254.0.0/16",  # link-local, and most clouds' metadata
            "192.0.0.0/24",  # protocol assignments, and a cloud's metadata
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
            "2001::/23",  # protocol assignments, among them Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ),
    )
)
#: Mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96), link-local, multicast and the rest are outside.
_GLOBAL_UNICAST: Final = ip_network("2000::/3")


def is_allowed(address: Address, *, private: bool) -> bool:
    """Whether events may be sent there; `private` allows loopback and private networks as well."""
    if any(address in network for network in _PRIVATE):
        return private
    if any(address in network for network in _REFUSED):
        return False
    return address.version == 4 or address in _GLOBAL_UNICAST  # noqa: PLR2004 - of IP
