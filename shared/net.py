"""Which addresses may be connected to: cloud metadata never, private ones if permitted."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Metadata services, which give a machine's credentials to any local process. The link-local ones are AWS,
# Azure, Google and most others; then ECS, EKS, Alibaba, Oracle.
_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)

# `ipaddress.is_global` is unsuitable: it accepts NAT64, multicast and site-local addresses.
_PRIVATE: tuple[tuple[str, tuple[Network, ...]], ...] = (
    ("a loopback", (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))),
    ("an unspecified", (IPv4Network("0.0.0.0/8"), IPv6Network("::/128"))),
    ("a link-local", (IPv4Network("169.254.0.0/16"), IPv6Network("fe80::/10"))),
    (
        "a private",
        (
            IPv4Network("10.0.0.0/8"),
            IPv4Network("172.16.0.0/12"),
            IPv4Network("192.168.0.0/16"),
            IPv4Network("100.64.0.0/10"),
            IPv6Network("fc00::/7"),
            IPv6Network("fec0::/10"),
        ),
    ),
    ("a multicast", (IPv4Network("224.0.0.0/4"), IPv6Network("ff00::/8"))),
    (
        "a reserved",
        (
            IPv4Network("192.0.0.0/24"),
            IPv4Network("192.0.2.0/24"),
            IPv4Network("192.88.99.0/24"),
            IPv4Network("198.18.0.0/15"),
            IPv4Network("198.51.100.0/24"),
            IPv4Network("203.0.113.0/24"),
            IPv4Network("240.0.0.0/4"),
            IPv6Network("64:ff9b:1::/48"),
            IPv6Network("100::/64"),
            IPv6Network("2001:db8::/32"),
            IPv6Network("3fff::/20"),
            IPv6Network("5f00::/16"),
        ),
    ),
)

_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = IPv6Network("::/96")
_LOW_32 = 0xFFFF_FFFF


@lru_cache(maxsize=8192)
def refusal(address: str, *, allow_private: bool) -> str | None:
    """Why *address* (not a name) is forbidden, as a sentence for people; None if it is allowed."""
    try:
        outer = ip_address(address)
    except ValueError:
        return f"{address} is not an IP address"
    if isinstance(outer, IPv6Address):
        outer = IPv6Address(int(outer))  # without its zone, which no network below has
    meant = (outer, *_embedded(outer))
    if not _METADATA.isdisjoint(meant):
        return f"{address} is a cloud metadata address, which is never allowed"
    if allow_private:
        return None
    kind = next((kind for one in meant if (kind := _private(one))), None)
    return f"{address} is {kind} address, which is not allowed here" if kind else None


def _private(address: Address) -> str | None:
    for kind, networks in _PRIVATE:
        if any(address in network for network in networks):
            return kind
    return None


def _embedded(address: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address may reach through a translator or a tunnel."""
    if isinstance(address, IPv4Address):
        return ()
    low = IPv4Address(int(address) & _LOW_32)
    plain = address.ipv4_mapped or address.sixtofour
    if plain is not None:
        return (plain,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64_LOCAL:  # RFC 6052 places it around bits 64 to 71; some use the last bits anyway
        number = int(address)
        return (low, IPv4Address((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF))
    # ISATAP's marker is the 16 bits before the address, with the universal bit set or not.
    isatap = int(address) >> 32 & 0xFDFF_FFFF == 0x5EFE
    if isatap or address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return (low,)
    return ()
