"""The connection engine: one inner epoll for all checks, which the event loop watches as one descriptor."""

import asyncio
import select
from collections.abc import Sequence
from pathlib import Path

from probe.net.connection import WATCHED, Connection, Reply
from probe.net.deadlines import Deadlines
from probe.net.endpoint import Endpoint
from probe.net.errors import TargetError
from probe.net.resolve import Resolver
from probe.net.spent import Limit, Spent
from probe.net.tls import Trust

_MOST_EVENTS = 256


class Net:
    """Opens every connection of a probe. Made inside a running loop; closed once, after all checks."""

    def __init__(
        self,
        *,
        allow_private: bool = True,
        nameservers: Sequence[str] = (),
        ca_file: Path | None = None,
    ) -> None:
        """*nameservers* ("192.0.2.1", "192.0.2.1:5353") and *ca_file* take the place of the system's own."""
        self.loop = asyncio.get_running_loop()
        self.deadlines = Deadlines()
        self.trust = Trust(ca_file)
        self._names = Resolver(self.deadlines, allow_private=allow_private, servers=nameservers)
        self._connections: dict[int, Connection] = {}
        self._again: list[Connection] = []
        self._epoll = select.epoll()
        self.loop.add_reader(self._epoll.fileno(), self._drain)

    async def converse(
        self, to: Endpoint, spent: Spent, limit: Limit, words: bytes = b"", reply: Reply | None = None
    ) -> None:
        """Connect to *to*; if there is a *reply*, say *words* and let it hear the answer.

        Raises TargetError for whatever the target does wrong, ProbeError for what goes wrong here.
        """
        try:
            addresses = await self._names.addresses(to, spent, limit)
            await self._over(Connection(self, to, addresses, spent, limit, words, reply))
        except TargetError as error:
            error.spent = spent
            error.code = 0 if reply is None else reply.code
            raise

    def close(self) -> None:
        """End all: whoever still waits is cancelled."""
        for connection in list(self._connections.values()):
            connection.close()
        self._names.close()
        self.deadlines.close()
        self.loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def watch(self, fd: int, connection: Connection) -> None:
        """Tell *connection* what happens to *fd*, until `forget`."""
        self._connections[fd] = connection
        self._epoll.register(fd, WATCHED)

    def forget(self, fd: int) -> None:
        """No more events of *fd*, which is about to be closed: that takes it out of the epoll."""
        self._connections.pop(fd, None)

    def again(self, connection: Connection) -> None:
        """Let *connection* go on reading once the others had their turn."""
        if not self._again:
            self.loop.call_soon(self._go_on)
        self._again.append(connection)

    async def _over(self, connection: Connection) -> None:
        try:
            connection.open()
            await connection.future
        finally:
            connection.close()

    def _drain(self) -> None:
        connections = self._connections
        for fd, events in self._epoll.poll(0, _MOST_EVENTS):
            connection = connections.get(fd)
            if connection is not None:
                connection.heed(events)

    def _go_on(self) -> None:
        waiting, self._again = self._again, []
        for connection in waiting:
            connection.heed(select.EPOLLIN | select.EPOLLRDHUP)
