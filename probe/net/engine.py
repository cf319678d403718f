"""The connection engine: one inner epoll for all checks, which the event loop watches as one descriptor."""

import asyncio
import select
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from probe.net.connection import WATCHED, Connection, Reply
from probe.net.deadlines import Deadlines
from probe.net.dns.client import PendingQuestions
from probe.net.dns.resolve import Resolver
from probe.net.endpoint import Endpoint
from probe.net.errors import ProbeError, TargetError
from probe.net.icmp.pings import EchoSockets
from probe.net.race import ConnectionRace
from probe.net.spare import SpareSockets
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls import certificates
from probe.net.tls.certificates import Case, Certificate
from probe.net.tls.openssl import ChainNotVerified, HandshakeMode, TrustedChains, UntrustedCertificate, sent

if TYPE_CHECKING:
    from probe.net.curl.engine import Curl

_MOST_EVENTS: Final = 256

MysqlConversation = Callable[[HandshakeMode], Connection]


class Watched(Protocol):
    """The owner of a descriptor in the epoll."""

    def on_events(self, events: int) -> None: ...

    def close(self) -> None: ...


class Net:
    """Opens every connection of a probe. Create it in a running loop; close it once, after all checks."""

    def __init__(
        self,
        *,
        allow_private: bool = True,
        nameservers: Sequence[str] = (),
        ca_file: Path | None = None,
        in_check: "memoryview[int] | None" = None,
    ) -> None:
        """*nameservers* ("192.0.2.1", "192.0.2.1:5353") and *ca_file* replace the system's.

        *in_check* identifies the check currently running on the loop.
        """
        self.loop = asyncio.get_running_loop()
        self.deadlines = Deadlines()
        self.trust = TrustedChains(ca_file)
        self.echoes = EchoSockets(self)
        self.questions = PendingQuestions(self)
        self.spares = SpareSockets()
        self.curl: Curl | None = None  # created by the first check that needs it
        self._names = Resolver(self.deadlines, allow_private=allow_private, servers=nameservers)
        # With the mark of the check that each serves.
        self._watched: dict[int, tuple[Watched, int]] = {}
        self._again: list[tuple[Connection, int]] = []
        self._in_check = memoryview(bytearray(8)).cast("Q") if in_check is None else in_check
        self._epoll = select.epoll()
        self.loop.add_reader(self._epoll.fileno(), self._drain)

    async def converse(
        self,
        to: Endpoint,
        spent: PhaseDurations,
        limit: Limit,
        words: bytes = b"",
        reply: Reply | None = None,
    ) -> None:
        """Connect to *to*; with a *reply*, send *words* and feed it the response.

        Raises TargetError for errors of the target, ProbeError for errors of this machine.
        """
        try:
            addresses = self.literal(to) if to.literal else await self.addresses(to, spent, limit)
            spent.address, spent.port = addresses[0], to.port
            if to.tls:
                talk = partial(Connection, self, to, spent, limit, words, reply)
                await self._securely(talk, addresses, to, limit)
            else:
                await self._over(Connection(self, to, spent, limit, words, reply), addresses, limit)
        except TargetError as error:
            error.spent = spent
            error.code = 0 if reply is None else reply.code
            raise

    async def addresses(self, to: Endpoint, spent: PhaseDurations, limit: Limit) -> Sequence[str]:
        """The permitted addresses of *to*, in the order to try. Raises TargetError if there are none."""
        return self.literal(to) if to.literal else await self._names.addresses(to, spent, limit)

    def literal(self, to: Endpoint) -> Sequence[str]:
        """The address that *to* is. Raises TargetError if it is not permitted."""
        return self._names.literal(to)

    def nameservers(self) -> Sequence[str]:
        """The name servers that this probe uses, ``192.0.2.1:53``."""
        return self._names.servers()

    def close(self) -> None:
        """Stop everything; waiting callers are cancelled."""
        for watched, _ in list(self._watched.values()):
            watched.close()
        self.spares.close()
        self._names.close()
        self.deadlines.close()
        self.loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def watch(self, fd: int, watched: Watched, events: int = WATCHED, *, shared: bool = False) -> None:
        """Report events of *fd* to *watched*, until `forget`; *shared*: it serves many checks."""
        self._watched[fd] = watched, 0 if shared else self._in_check[0]
        self._epoll.register(fd, events)

    def resume(self, fd: int, watched: Watched) -> None:
        """Report events of *fd* again, which stayed registered after `forget`."""
        self._watched[fd] = watched, self._in_check[0]

    def rewatch(self, fd: int, watched: Watched) -> None:
        """From now on report to *watched*, first of all the current readiness of *fd*."""
        self._watched[fd] = watched, self._in_check[0]
        self._epoll.modify(fd, WATCHED)

    def forget(self, fd: int) -> None:
        """Stop reporting events of *fd*, which is about to be closed: that removes it from the epoll."""
        self._watched.pop(fd, None)

    def release(self, fd: int) -> None:
        """Stop reporting events of *fd*, which stays open under another owner."""
        self.forget(fd)
        self._epoll.unregister(fd)

    def again(self, connection: Connection) -> None:
        """Let *connection* continue reading after the others had their turn."""
        if not self._again:
            self.loop.call_soon(self._go_on)
        self._again.append((connection, self._in_check[0]))

    async def _over(self, connection: Connection, addresses: Sequence[str], limit: Limit) -> None:
        try:
            if len(addresses) == 1:
                connection.open(addresses[0])
            else:
                await self._first(connection, addresses, limit)
            await connection.future
        finally:
            connection.close()

    async def _first(self, connection: Connection, addresses: Sequence[str], limit: Limit) -> None:
        race = ConnectionRace(self, addresses, connection.port, limit)
        try:
            race.start()
            await race.future
            connection.adopt(*race.take())
        finally:
            race.close()

    async def _securely(
        self, talk: MysqlConversation, addresses: Sequence[str], to: Endpoint, limit: Limit
    ) -> None:
        connection = talk(self.trust.manner(to))
        try:
            try:
                await self._over(connection, addresses, limit)
            except ChainNotVerified:
                await self._over(talk(self.trust.strict()), (connection.address,), limit)
        except UntrustedCertificate as error:
            if error.has_more:
                await self._explain(error, to, connection.address, limit)
            raise

    async def _explain(self, error: UntrustedCertificate, to: Endpoint, address: str, limit: Limit) -> None:
        """Shake hands again to read the certificate: OpenSSL reveals only trusted ones."""
        chain: list[Certificate] = []

        def look(sock: ssl.SSLSocket, _to: Endpoint) -> None:
            chain.extend(certificates.read(sent(sock)))

        connection = Connection(self, to, PhaseDurations(), limit, manner=self.trust.blind(look))
        # If that fails, keep the original error.
        with suppress(TargetError, ProbeError, ValueError):
            await self._over(connection, (address,), limit)
        error.explain(Case(chain, to.host, time.time(), error.reason))

    def _drain(self) -> None:
        watched, in_check = self._watched, self._in_check
        for fd, events in self._epoll.poll(0, _MOST_EVENTS):
            one = watched.get(fd)
            if one is not None:
                in_check[0] = one[1]
                one[0].on_events(events)
        in_check[0] = 0

    def _go_on(self) -> None:
        waiting, self._again = self._again, []
        for connection, self._in_check[0] in waiting:
            connection.on_events(select.EPOLLIN | select.EPOLLRDHUP)
        self._in_check[0] = 0
