"""The HTTP version and the proxy by which a check reaches its target."""

import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from probe.net.endpoint import Endpoint, show
from probe.net.spent import Limit, PhaseDurations
from shared.kinds.http import PROXY_PORTS, Http, HttpVersion

if TYPE_CHECKING:
    from probe.net.engine import Net


@dataclass(frozen=True, slots=True)
class Proxy:
    """*resolves*: the proxy resolves the target's name."""

    scheme: str
    endpoint: Endpoint
    username: str
    password: str
    resolves: bool


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """Without a *proxy*, the connection is direct."""

    version: HttpVersion
    proxy: Proxy | None

    def first(self, target: Endpoint) -> Endpoint:
        """The first hop on the way to *target*."""
        return target if self.proxy is None else self.proxy.endpoint

    def peer(self, address: str, port: int) -> str:
        """The peer of the connection, human-readable."""
        shown = show(address, port)
        return shown if self.proxy is None else f"proxy {shown}"


def way(kind: Http) -> ProxyRoute | None:
    """None for the engine's own: HTTP/1.1, directly. Raises ValueError for incompatible settings."""
    faults = kind.way_faults()
    if faults:
        raise ValueError("; ".join(f"{name} {text}" for name, text in faults.items()))
    if kind.http_version == "1.1" and not kind.proxy:
        return None
    return ProxyRoute(kind.http_version, _proxy(kind.proxy) if kind.proxy else None)


def _proxy(url: str) -> Proxy:
    parts = urlsplit(url)
    port = parts.port or PROXY_PORTS[parts.scheme]
    return Proxy(
        scheme=parts.scheme,
        endpoint=Endpoint.of(parts.hostname or "", port, tls=parts.scheme == "https"),
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        resolves=parts.scheme != "socks5",
    )


async def told(net: "Net", proxy: Proxy, target: Endpoint, spent: PhaseDurations, limit: Limit) -> str:
    """The target's host as told to *proxy*: an address, or a name that the proxy resolves.

    Raises TargetError for a forbidden address, however it is written.
    """
    number = "" if target.literal else _number(target.host)
    if number:
        target = replace(target, host=number, literal=True)
    if proxy.resolves and not target.literal:
        return target.host
    addresses = await net.addresses(target, spent, limit)
    # There is no race through a proxy, and many do not support IPv6.
    return next((address for address in addresses if ":" not in address), addresses[0])


def _number(host: str) -> str:
    """The IPv4 address meant by 127.1, 0x7f.1 or 2130706433; empty for other hosts."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return ""
