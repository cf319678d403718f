"""Local addresses of the machine that the probe runs on."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

_ANY_PORT: Final = 9


def is_own(address: str) -> bool:
    """Whether *address* (not a name) currently belongs to this machine.

    The kernel knows: it would use the address itself as the source. Nothing is sent.
    """
    to = _plain(address)
    if to is None:
        return False
    if to.is_loopback or to.is_unspecified:
        return True
    family = socket.AF_INET6 if to.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(_socket_address(address if to.is_link_local else str(to)))
        except OSError:
            return False
        return _plain(sock.getsockname()[0]) == to


def _socket_address(address: str) -> tuple[object, ...]:
    """The socket address with the interface's index, which a link-local address requires."""
    return socket.getaddrinfo(address, _ANY_PORT, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST)[0][4]


def _plain(address: str) -> IPv4Address | IPv6Address | None:
    """The address without its zone; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        read = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (read.ipv4_mapped or read) if isinstance(read, IPv6Address) else read
