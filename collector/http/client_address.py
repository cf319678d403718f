"""The client's address: the peer's, or the one that trusted proxies give in X-Forwarded-For."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network


# Results are cached: parsing an address costs as much as the rest of a refusal.
@lru_cache(maxsize=4096)
def client_address(peer: str, forwarded: tuple[str, ...], trusted: tuple[Network, ...]) -> str:
    """Return the client's address.

    *forwarded*: each line of X-Forwarded-For as received. Proxies append to it, and a client may have
    written what comes before: the last hop that is no trusted proxy is the client.
    """
    last = _address(peer)
    if last is None or not trusted or not _among(last, trusted):
        return str(last or peer)
    for hop in reversed([part.strip() for line in forwarded for part in line.split(",")]):
        found = _address(hop)
        if found is None:
            break
        last = found
        if not _among(found, trusted):
            break
    return str(last)


def came_by_https(peer: str, forwarded: str, trusted: tuple[Network, ...]) -> bool:
    """Whether a trusted proxy says in X-Forwarded-Proto that the client came by https.

    In a chain of proxies the first entry is of the one that the client connected to.
    """
    last = _address(peer)
    if last is None or not _among(last, trusted):
        return False
    return forwarded.partition(",")[0].strip().lower() == "https"


def network(address: str) -> str:
    """Return what counts as one client: an IPv6 address by its /64, all of which one client can use."""
    found = _address(address)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((found, 64), strict=False))
    return address


def _among(address: IPv4Address | IPv6Address, networks: tuple[Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in *text*, which may have a port, brackets, or be an IPv4-mapped IPv6 address."""
    bare = text.strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        found = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
