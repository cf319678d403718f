"""Happy eyeballs (RFC 8305): tries a name's addresses side by side; the first connection wins."""

import socket
import time
from asyncio import Future
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from probe.net import faults
from probe.net.dial import dial, drop, fault
from probe.net.endpoint import show
from probe.net.errors import TargetError
from probe.net.spent import Limit

if TYPE_CHECKING:
    from probe.net.engine import Net

# Head start of an address before the next one is tried concurrently.
STAGGER_S: Final = 0.25


class _Runner:
    """A connection attempt to one address."""

    __slots__ = ("_race", "address", "sock")

    def __init__(self, race: "ConnectionRace", address: str, sock: socket.socket) -> None:
        self._race = race
        self.address = address
        self.sock = sock

    def on_events(self, events: int) -> None:
        self._race.on_events(self, events)

    def close(self) -> None:
        self._race.close()


class ConnectionRace:
    """Connects to the first of *addresses* that accepts, in their order; `future` is its result."""

    __slots__ = ("_limit", "_net", "_port", "_running", "_told", "_waiting", "_winner", "due", "future")

    def __init__(self, net: "Net", addresses: Sequence[str], port: int, limit: Limit) -> None:
        self.future: Future[None] = net.loop.create_future()
        self.due = 0.0
        self._net = net
        self._port = port
        self._limit = limit
        self._waiting = deque(addresses)
        self._running: list[_Runner] = []
        self._winner: _Runner | None = None
        self._told: tuple[int, Exception] | None = None

    def start(self) -> None:
        """Start with the next address; the one after it follows after a delay, or when this one fails."""
        self._net.deadlines.remove(self)
        while self._waiting:
            if self._begin(self._waiting.popleft()):
                break
        if not self._running:
            self._lose()
            return
        soon = time.monotonic() + STAGGER_S
        self._net.deadlines.add(
            self, min(soon, self._limit.deadline) if self._waiting else self._limit.deadline
        )

    def take(self) -> tuple[str, socket.socket]:
        """The winner; the caller owns it from now on."""
        winner = self._winner
        assert winner is not None  # noqa: S101 - the future has a result
        self._running.remove(winner)
        self._winner = None  # breaking the cycle frees both at once
        return winner.address, winner.sock

    def on_events(self, runner: _Runner, events: int) -> None:
        if self.future.done():
            return
        code = fault(runner.sock, runner.address, self._port, events)
        if code == 0:
            self._winner = runner
            self._net.deadlines.remove(self)
            self.future.set_result(None)
            return
        self._running.remove(runner)
        self._drop(runner)
        self._note(code, runner.address)
        self.start()

    def expire(self) -> None:
        """Start the next attempt, or stop if the whole check has timed out."""
        if self.future.done():
            return
        if time.monotonic() < self._limit.deadline:
            self.start()
            return
        first, others = self._running[0], len(self._running) - 1
        more = f" and {others} more" if others else ""
        text = f"connect: timed out after {self._limit.words} to {show(first.address, self._port)}{more}"
        self._keep(faults.TOLD_FIRST, TargetError(text))
        self._lose()

    def close(self) -> None:
        """Stop all attempts; idempotent."""
        self._net.deadlines.remove(self)
        self.future.cancel()
        while self._running:
            self._drop(self._running.pop())

    def _begin(self, address: str) -> bool:
        try:
            runner = _Runner(self, address, dial(address, self._port))
        except OSError as error:
            self._note(error.errno or 0, address)
            return False
        self._running.append(runner)
        self._net.watch(runner.sock.fileno(), runner)
        return True

    def _note(self, code: int, address: str) -> None:
        self._keep(faults.rank(code), faults.unconnected(code, show(address, self._port)))

    def _keep(self, rank: int, error: Exception) -> None:
        """Keep the most informative error; the first of equals."""
        if self._told is None or rank < self._told[0]:
            self._told = rank, error

    def _lose(self) -> None:
        assert self._told is not None  # noqa: S101 - each address that failed was noted
        self.future.set_exception(self._told[1])

    def _drop(self, runner: _Runner) -> None:
        self._net.forget(runner.sock.fileno())
        drop(runner.sock)
