"""Resolves names to addresses: one query at a time for each name, cached for its TTL."""

import asyncio
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from typing import Final

import aiodns
import pycares

from probe.net.deadlines import Deadlines
from probe.net.endpoint import Endpoint, Version
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from shared.names import ForgetfulResolver
from shared.net import refusal

_MOST_KEPT: Final = 10_000
_MOST_ADDRESSES: Final = 8
_TTL_S: Final = (1, 300)
# Failures are cached only long enough for concurrent checks of a name to share one query.
_NEGATIVE_S: Final = 1
_QUERY_TIMEOUT_S: Final = 2
_QUERY_TRIES: Final = 2
_FOR_EVER: Final = float("inf")

_FAMILY: Final = {"any": socket.AF_UNSPEC, "4": socket.AF_INET, "6": socket.AF_INET6}
_CALLED: Final[dict[Version, str]] = {"any": "", "4": "IPv4 ", "6": "IPv6 "}

_FAULTS: Final = {
    pycares.errno.ARES_ENOTFOUND: "no such host {}",
    pycares.errno.ARES_ESERVFAIL: "server failure for {}",
    pycares.errno.ARES_EREFUSED: "query refused for {}",
    pycares.errno.ARES_ETIMEOUT: "name servers do not answer for {}",
    pycares.errno.ARES_ECONNREFUSED: "name servers cannot be reached for {}",
    pycares.errno.ARES_EBADRESP: "malformed answer for {}",
    pycares.errno.ARES_EFORMERR: "query not understood for {}",
    pycares.errno.ARES_ENOTIMP: "query not supported for {}",
    pycares.errno.ARES_EBADNAME: "{} is no name that can be looked up",
}

Key = tuple[str, Version]


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    addresses: tuple[str, ...]
    error: str
    until: float


class _Waiter:
    """A check waiting for a name."""

    __slots__ = ("due", "future", "text")

    def __init__(self, text: str) -> None:
        self.future: asyncio.Future[_CachedAnswer] = asyncio.get_running_loop().create_future()
        self.text = text
        self.due = 0.0

    def tell(self, known: _CachedAnswer) -> None:
        if not self.future.done():
            self.future.set_result(known)

    def expire(self) -> None:
        if not self.future.done():
            self.future.set_exception(TargetError(self.text))


class Resolver:
    """Resolves names with c-ares, which reads /etc/hosts and resolv.conf; its thread starts on first use."""

    def __init__(self, deadlines: Deadlines, *, allow_private: bool, servers: Sequence[str]) -> None:
        self._deadlines = deadlines
        self._allow_private = allow_private
        self._servers = servers
        self._ares: ForgetfulResolver | None = None
        self._known: dict[Key, _CachedAnswer] = {}
        self._asked: dict[Key, set[_Waiter]] = {}

    async def addresses(self, to: Endpoint, spent: PhaseDurations, limit: Limit) -> tuple[str, ...]:
        """The permitted addresses of *to*, in the order to try. Raises TargetError and ProbeError."""
        began = time.monotonic()
        key = (to.host, to.version)
        known = self._known.get(key)
        if known is None or known.until <= began:
            known = await self._ask(key, limit)
        spent.dns = (spent.dns or 0.0) + time.monotonic() - began
        if known.error:
            raise TargetError(known.error)
        return known.addresses

    def literal(self, to: Endpoint) -> tuple[str, ...]:
        """The address, if *to* is one and it is permitted."""
        known = self._known.get((to.host, to.version)) or self._literal(to)
        if known.error:
            raise TargetError(known.error)
        return known.addresses

    def servers(self) -> Sequence[str]:
        """The name servers in use, ``192.0.2.1:53``, ``[2001:db8::1]:53``."""
        return self._servers or list(self._start().nameservers)

    def close(self) -> None:
        """Cancel all queries, and the checks that wait for them."""
        if self._ares is not None:
            self._ares.cancel()
            self._ares = None  # closes its thread and sockets with the last reference
        for waiter in [waiter for waiters in self._asked.values() for waiter in waiters]:
            waiter.future.cancel()

    def _literal(self, to: Endpoint) -> _CachedAnswer:
        if to.version != "any" and (":" in to.host) != (to.version == "6"):
            return self._keep(
                (to.host, to.version), (), f"dns: {to.host} is no IPv{to.version} address", _FOR_EVER
            )
        return self._allow((to.host, to.version), (to.host,), _FOR_EVER)

    async def _ask(self, key: Key, limit: Limit) -> _CachedAnswer:
        waiter = _Waiter(f"dns: no answer for {key[0]} within {limit.words}")
        waiters = self._asked.get(key)
        if waiters is None:
            answer = self._start().getaddrinfo(key[0], family=_FAMILY[key[1]])
            waiters = self._asked[key] = set()
            answer.add_done_callback(partial(self._answered, key))
        waiters.add(waiter)
        self._deadlines.add(waiter, limit.deadline)
        try:
            return await waiter.future
        finally:
            self._deadlines.remove(waiter)
            waiters.discard(waiter)

    def _start(self) -> ForgetfulResolver:
        if self._ares is None:
            self._ares = ForgetfulResolver(self._servers, timeout_s=_QUERY_TIMEOUT_S, tries=_QUERY_TRIES)
        return self._ares

    def _answered(self, key: Key, answer: asyncio.Future[pycares.AddrInfoResult]) -> None:
        if answer.cancelled():
            return
        fault = answer.exception()
        if fault is None:
            nodes = answer.result().nodes
            addresses = _in_turn([node.addr[0].decode() for node in nodes])
            ttl = min((node.ttl for node in nodes), default=0)
            known = self._allow(key, addresses, time.monotonic() + min(max(ttl, _TTL_S[0]), _TTL_S[1]))
        else:
            known = self._keep(key, (), _words(key, fault), time.monotonic() + _NEGATIVE_S)
        for waiter in self._asked.pop(key, ()):
            waiter.tell(known)

    def _allow(self, key: Key, addresses: Sequence[str], until: float) -> _CachedAnswer:
        refused = [refusal(address, allow_private=self._allow_private) for address in addresses]
        good = tuple(address for address, why in zip(addresses, refused, strict=True) if why is None)[
            :_MOST_ADDRESSES
        ]
        if good:
            return self._keep(key, good, "", until)
        why = next((f"connect: {why}" for why in refused), _none(key))
        return self._keep(key, (), why, until)

    def _keep(self, key: Key, addresses: tuple[str, ...], error: str, until: float) -> _CachedAnswer:
        self._known.pop(key, None)
        if len(self._known) >= _MOST_KEPT:
            del self._known[next(iter(self._known))]
        known = self._known[key] = _CachedAnswer(addresses, error, until)
        return known


def _in_turn(addresses: Sequence[str]) -> tuple[str, ...]:
    """Alternate IPv6 and IPv4, starting with the family that c-ares prefers."""
    first = [address for address in addresses if (":" in address) == (":" in addresses[0])]
    other = [address for address in addresses if address not in first]
    both = chain.from_iterable(zip_longest(dict.fromkeys(first), dict.fromkeys(other)))
    return tuple(address for address in both if address is not None)


def _none(key: Key) -> str:
    return f"dns: no {_CALLED[key[1]]}address for {key[0]}"


def _words(key: Key, fault: BaseException) -> str:
    code = fault.args[0] if isinstance(fault, aiodns.error.DNSError) and fault.args else 0
    if code == pycares.errno.ARES_ENODATA:
        return _none(key)
    return "dns: " + _FAULTS.get(code, "look-up of {} failed").format(key[0])
