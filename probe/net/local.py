"""Which addresses are this machine's own."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

_ANY_PORT: Final = 9


def is_own(address: str) -> bool:
    """Does *address* (not a name) belong to this machine, now?

    The kernel knows: to an address of its own it would speak from that very address. Nothing is sent.
    """
    to = _plain(address)
    if to is None:
        return False
    if to.is_loopback or to.is_unspecified:
        return True
    family = socket.AF_INET6 if to.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((str(to), _ANY_PORT))
        except OSError:
            return False
        return _plain(sock.getsockname()[0]) == to


def _plain(address: str) -> IPv4Address | IPv6Address | None:
    """An IPv4 address that is written as one of IPv6 is what it is."""
    try:
        read = ip_address(address)
    except ValueError:
        return None
    return (read.ipv4_mapped or read) if isinstance(read, IPv6Address) else read
