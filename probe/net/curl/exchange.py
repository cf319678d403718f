"""A request and its response in the HTTP versions and through the proxies that only libcurl speaks."""

import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from probe.net.curl import certificates, options
from probe.net.curl.engine import Curl
from probe.net.curl.route import ProxyRoute, told
from probe.net.curl.transfer import Transfer
from probe.net.endpoint import Endpoint, show
from probe.net.errors import ProbeError, TargetError
from probe.net.http1 import HttpReply
from probe.net.race import ConnectionRace
from probe.net.request import Request
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls.openssl import UntrustedCertificate

if TYPE_CHECKING:
    from probe.net.engine import Net


async def converse(
    way: ProxyRoute, net: "Net", asked: Request, spent: PhaseDurations, limit: Limit, reply: HttpReply
) -> None:
    """Send a request by *way* and feed *reply*. As `Net.converse`, with the same errors."""
    try:
        await _SingleRequest(net, way, asked, spent, limit).go(reply)
    except TargetError as error:
        error.spent = spent
        error.code = reply.code
        raise


class _SingleRequest:
    """A single request: resolves the peer, and holds the result."""

    __slots__ = ("_addresses", "_asked", "_curl", "_limit", "_net", "_spent", "_told", "_way")

    def __init__(
        self, net: "Net", way: ProxyRoute, asked: Request, spent: PhaseDurations, limit: Limit
    ) -> None:
        self._net = net
        self._way = way
        self._asked = asked
        self._told = ""
        self._spent = spent
        self._limit = limit
        if net.curl is None:
            net.curl = Curl(net)
        self._curl = net.curl
        self._addresses: Sequence[str] = ()

    async def go(self, reply: HttpReply) -> None:
        """Send the request and feed *reply*."""
        await self._find()
        try:
            await self._run(self._asked.endpoint, reply)
        except UntrustedCertificate as error:
            if error.has_more:
                await self._explain(error)
            raise

    async def _find(self) -> None:
        target, way = self._asked.endpoint, self._way
        if way.version == "3" and not target.tls:
            raise TargetError("redirect: to http, where there is no HTTP/3")
        if way.proxy is not None:
            self._told = await told(self._net, way.proxy, target, self._spent, self._limit)
        first = way.first(target)
        try:
            self._addresses = await self._net.addresses(first, self._spent, self._limit)
        except TargetError as error:
            raise (error if way.proxy is None else TargetError(f"{error} (proxy)")) from None
        self._spent.address, self._spent.port = self._addresses[0], first.port

    async def _run(self, to: Endpoint, reply: HttpReply | None) -> tuple[bytes, ...]:
        """The received certificates."""
        first, spent = self._way.first(to), self._spent
        sock = None if self._way.version == "3" else await self._connect(first)
        addresses = self._addresses if sock is None else (spent.address,)
        transfer = Transfer(self._net, self._way, self._limit, to, addresses, sock=sock, reply=reply)
        try:
            self._set(transfer, to)
            self._net.deadlines.add(transfer, self._limit.deadline)
            self._curl.start(transfer)
            await transfer.future
        finally:
            if reply is not None:
                transfer.measure(spent)
                spent.ends = certificates.earliest(transfer.chain) if transfer.chain else spent.ends
            self._net.deadlines.remove(transfer)
            self._curl.stop(transfer)
            transfer.close()
        return transfer.chain

    def _set(self, transfer: Transfer, to: Endpoint) -> None:
        easy, way = transfer.easy, self._way
        authorities = self._curl.authorities()
        options.common(easy, to, authorities)
        options.request(easy, self._asked, way)
        options.version(easy, way, to)
        if way.proxy is not None:
            options.through(easy, way.proxy, self._told, self._spent.address, authorities)
        elif way.version == "3":
            options.among(easy, to, self._addresses)
        else:
            options.connect(easy, to, self._spent.address)

    async def _connect(self, first: Endpoint) -> socket.socket:
        began = time.monotonic()
        race = ConnectionRace(self._net, self._addresses, first.port, self._limit)
        try:
            race.start()
            await race.future
            address, sock = race.take()
        except TargetError as error:
            raise (error if self._way.proxy is None else self._blaming(error, first.port)) from None
        finally:
            race.close()
        self._net.release(sock.fileno())
        self._spent.address = address
        self._spent.connect = (self._spent.connect or 0.0) + time.monotonic() - began
        return sock

    def _blaming(self, error: TargetError, port: int) -> TargetError:
        """*error*, with the proxy named as its source."""
        text = str(error)
        for shown in (show(address, port) for address in self._addresses):
            text = text.replace(shown, f"proxy {shown}")
        return TargetError(text)

    async def _explain(self, error: UntrustedCertificate) -> None:
        """Shake hands again to read the certificates: libcurl reveals only trusted ones."""
        blind = replace(self._asked.endpoint, verify=False)
        # If that fails, keep the original error.
        with suppress(TargetError, ProbeError):
            chain = await self._run(blind, None)
            error.explain(certificates.case(chain, blind.host, error.reason))
