"""Resolves names for the collector's HTTP clients; a failed lookup is repeated."""

import socket
from collections.abc import Sequence

import aiodns
import pycares
from aiohttp.abc import AbstractResolver, ResolveResult

from shared.names import ForgetfulResolver

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class HostResolver(AbstractResolver):
    """A DNS resolver; *nameservers* None: the system's. Needs a running loop."""

    def __init__(self, nameservers: Sequence[str] = ()) -> None:
        self._names = ForgetfulResolver(nameservers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            result = await self._names.getaddrinfo(
                host, family, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
            )
        except aiodns.error.DNSError as error:
            raise OSError(None, "DNS lookup failed") from error
        if not result.nodes:
            raise OSError(None, "DNS lookup failed")
        return [_result(host, port, node) for node in result.nodes]

    async def texts(self, name: str) -> list[str]:
        """The values of the TXT records of *name*. Raises OSError."""
        try:
            return await self._names.texts(name)
        except aiodns.error.DNSError as error:
            raise OSError(None, "DNS lookup failed") from error

    async def close(self) -> None:
        await self._names.close()


def _result(host: str, port: int, node: pycares.AddrInfoNode) -> ResolveResult:
    address = node.addr[0].decode("ascii")
    zone = node.addr[3] if len(node.addr) > 3 else 0
    return ResolveResult(
        hostname=host,
        host=f"{address}%{zone}" if zone else address,
        port=port,
        family=node.family,
        proto=0,
        flags=_NUMERIC,
    )
