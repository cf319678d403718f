"""The HTTP version and the proxy by which a check reaches its target."""

import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from probe.net.endpoint import Endpoint, show
from probe.net.spent import Limit, Spent
from shared.kinds.http import PROXY_PORTS, Http, HttpVersion

if TYPE_CHECKING:
    from probe.net.engine import Net


@dataclass(frozen=True, slots=True)
class Proxy:
    """*resolves*: the proxy looks the target's name up, not we."""

    scheme: str
    endpoint: Endpoint
    username: str
    password: str
    resolves: bool


@dataclass(frozen=True, slots=True)
class Way:
    """Without a *proxy* the target is connected to directly."""

    version: HttpVersion
    proxy: Proxy | None

    def first(self, target: Endpoint) -> Endpoint:
        """What is connected to on the way to *target*."""
        return target if self.proxy is None else self.proxy.endpoint

    def peer(self, address: str, port: int) -> str:
        """Who is at the other end of the connection, for people."""
        shown = show(address, port)
        return shown if self.proxy is None else f"proxy {shown}"


def way(kind: Http) -> Way | None:
    """None for the engine's own: HTTP/1.1, directly. Raises ValueError for what does not go together."""
    faults = kind.way_faults()
    if faults:
        raise ValueError("; ".join(f"{name} {text}" for name, text in faults.items()))
    if kind.http_version == "1.1" and not kind.proxy:
        return None
    return Way(kind.http_version, _proxy(kind.proxy) if kind.proxy else None)


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


async def told(net: "Net", proxy: Proxy, target: Endpoint, spent: Spent, limit: Limit) -> str:
    """How *proxy* hears of *target*'s host: by its address, or by a name that the proxy looks up.

    Raises TargetError for an address, however it is written, that may not be connected to.
    """
    number = "" if target.literal else _number(target.host)
    if number:
        target = replace(target, host=number, literal=True)
    if proxy.resolves and not target.literal:
        return target.host
    addresses = await net.addresses(target, spent, limit)
    # There is no race through a proxy, and many know no IPv6.
    return next((one for one in addresses if ":" not in one), addresses[0])


def _number(host: str) -> str:
    """The IPv4 address that *host* is to those who read 127.1, 0x7f.1 or 2130706433 as one, else nothing."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return ""
