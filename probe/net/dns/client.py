"""DNS over UDP: one socket for each server, shared by all queries to it."""

import random
import socket
import time
from asyncio import Future
from select import EPOLLIN
from typing import TYPE_CHECKING, Final

from probe.net import faults
from probe.net.dial import drop
from probe.net.dns.message import HEADER_BYTES, answers, query
from probe.net.endpoint import show
from probe.net.errors import TargetError
from probe.net.spent import Limit

if TYPE_CHECKING:
    from probe.net.engine import Net

# Lost datagrams are resent, at most this often, and after this time.
_AGAIN_S: Final = 1.0
_MOST_SENT: Final = 3
_MOST_BYTES: Final = 65_535
_MOST_READS: Final = 64
# Idle servers keep their sockets, up to this number; a long-lived port would be easy to guess.
_MOST_KEPT: Final = 64
_MOST_ASKED: Final = 4_096
_IDS: Final = 65_536
_DATAGRAM: Final = socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC

Server = tuple[str, int]


class _Question:
    """A pending question: resent now and then until its deadline."""

    __slots__ = ("_limit", "_line", "_net", "_sent", "asked", "due", "future", "id")

    def __init__(self, net: "Net", line: "_ServerSocket", id_: int, asked: bytes, limit: Limit) -> None:
        self.future: Future[bytes] = net.loop.create_future()
        self.asked = asked
        self.id = id_
        self.due = 0.0
        self._net = net
        self._line = line
        self._limit = limit
        self._sent = 0

    def send(self) -> None:
        self._sent += 1
        due = self._limit.deadline
        if self._sent < _MOST_SENT:
            due = min(due, time.monotonic() + _AGAIN_S)
        self._net.deadlines.add(self, due)
        self._line.send(query(self.id, self.asked))

    def expire(self) -> None:
        if self.future.done():
            return
        if time.monotonic() < self._limit.deadline:
            self.send()
        else:
            text = f"dns: no answer from {self._line.peer} within {self._limit.words}"
            self.future.set_exception(TargetError(text))


class _ServerSocket:
    """The socket to one server. It is connected, so the kernel drops datagrams of others."""

    __slots__ = ("_net", "_sock", "asked", "count", "peer", "waiting")

    def __init__(self, net: "Net", server: Server) -> None:
        address, port = server
        self.peer = show(address, port)
        self.waiting: dict[int, _Question] = {}
        self.count = 0
        self._net = net
        try:
            self._sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, _DATAGRAM)
        except OSError as error:
            raise faults.unconnected(error.errno or 0, self.peer) from None
        try:
            self._sock.connect(server)
            net.watch(self._sock.fileno(), self, EPOLLIN, shared=True)
        except OSError as error:
            self._sock.close()
            raise faults.unconnected(error.errno or 0, self.peer) from None

    def ask(self, asked: bytes, limit: Limit) -> _Question:
        id_ = random.randrange(_IDS)  # noqa: S311 - answers are verified anyway
        while id_ in self.waiting:
            id_ = (id_ + 1) % _IDS
        self.count += 1
        question = self.waiting[id_] = _Question(self._net, self, id_, asked, limit)
        return question

    def send(self, message: bytes) -> None:
        try:
            self._sock.send(message)
        except BlockingIOError:  # lost, as any datagram may be
            return
        except OSError as error:
            self._fail(error)

    def on_events(self, _events: int) -> None:
        """Read what came; if there is more, epoll reports it again."""
        for _ in range(_MOST_READS):
            try:
                message = self._sock.recv(_MOST_BYTES)
            except BlockingIOError:
                return
            except OSError as error:
                self._fail(error)
                return
            self._take(message)

    def close(self) -> None:
        for question in self.waiting.values():
            question.future.cancel()
        if self._sock.fileno() >= 0:
            self._net.forget(self._sock.fileno())
            drop(self._sock)

    def _take(self, message: bytes) -> None:
        if len(message) < HEADER_BYTES:
            return
        question = self.waiting.get(message[0] << 8 | message[1])
        if question is not None and answers(message, question.asked) and not question.future.done():
            question.future.set_result(message)

    def _fail(self, error: OSError) -> None:
        """Report the socket's error to all pending questions."""
        for question in self.waiting.values():
            if not question.future.done():
                question.future.set_exception(_words(error, self.peer))


def _words(error: OSError, peer: str) -> Exception:
    """An ICMP refusal concerns the port; there is no connection."""
    fault = faults.unconnected(error.errno or 0, peer)
    if isinstance(fault, TargetError):
        return TargetError(str(fault).replace("connect:", "dns:", 1))
    return fault


class PendingQuestions:
    """All pending questions."""

    __slots__ = ("_lines", "_net")

    def __init__(self, net: "Net") -> None:
        self._net = net
        self._lines: dict[Server, _ServerSocket] = {}

    async def ask(self, server: Server, asked: bytes, limit: Limit) -> bytes:
        """The raw answer of *server* (address, port) to *asked*.

        Raises TargetError if there is none, ProbeError for errors of this machine.
        """
        line = self._line(server)
        question = line.ask(asked, limit)
        try:
            question.send()
            return await question.future
        finally:
            self._net.deadlines.remove(question)
            del line.waiting[question.id]

    def _line(self, server: Server) -> _ServerSocket:
        line = self._lines.pop(server, None)
        if line is not None and line.count >= _MOST_ASKED and not line.waiting:
            line.close()
            line = None
        if line is None:
            self._make_room()
            line = _ServerSocket(self._net, server)
        self._lines[server] = line
        return line

    def _make_room(self) -> None:
        if len(self._lines) < _MOST_KEPT:
            return
        idle = [server for server, line in self._lines.items() if not line.waiting]
        for server in idle[: len(idle) // 2 + 1]:
            self._lines.pop(server).close()
