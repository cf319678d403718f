"""Drives libcurl's transfers by an epoll inside the engine's."""

import os
import select
from asyncio import Handle
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pycurl

if TYPE_CHECKING:
    from probe.net.curl.transfer import Transfer
    from probe.net.engine import Net

_MOST_EVENTS: Final = 256
_EVENTS: Final = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
# uvloop busy-loops on shorter timers.
_LEAST_S: Final = 0.001


class Curl:
    """All transfers of an engine. Nothing here blocks: libcurl names the sockets and timeouts to watch."""

    __slots__ = ("_authorities", "_epoll", "_fds", "_multi", "_net", "_timer", "_transfers")

    def __init__(self, net: "Net") -> None:
        self._net = net
        self._epoll = select.epoll()
        self._fds: set[int] = set()
        self._timer: Handle | None = None
        self._transfers: dict[object, Transfer] = {}
        self._authorities = -1
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._wake_in)
        net.watch(self._epoll.fileno(), self, select.EPOLLIN, shared=True)

    def start(self, transfer: "Transfer") -> None:
        """Run *transfer* until it is finished or stopped."""
        self._transfers[transfer.easy] = transfer
        self._multi.add_handle(transfer.easy)
        self._act([(pycurl.SOCKET_TIMEOUT, 0)])

    def stop(self, transfer: "Transfer") -> None:
        """Remove *transfer* in any state, and close its connection."""
        if self._transfers.pop(transfer.easy, None) is not None:
            self._multi.remove_handle(transfer.easy)

    def on_events(self, _events: int) -> None:
        """Tell libcurl which of its sockets are ready."""
        self._act(self._epoll.poll(0, _MOST_EVENTS))

    def close(self) -> None:
        for transfer in list(self._transfers.values()):
            self.stop(transfer)
            transfer.close()
        if self._timer is not None:
            self._timer.cancel()
        self._net.forget(self._epoll.fileno())
        self._multi.close()
        self._epoll.close()
        if self._authorities >= 0:
            os.close(self._authorities)

    def authorities(self) -> str:
        """A file of trusted authorities: libcurl caches the content of a path over all handshakes."""
        if self._authorities < 0:
            self._authorities = os.memfd_create("authorities", os.MFD_CLOEXEC)
            with os.fdopen(os.dup(self._authorities), "wb") as file:
                file.write(self._net.trust.authorities())
        return f"/proc/self/fd/{self._authorities}"

    def _act(self, ready: Sequence[tuple[int, int]]) -> None:
        for fd, events in ready:
            mask = 0
            if events & select.EPOLLIN:
                mask |= pycurl.CSELECT_IN
            if events & select.EPOLLOUT:
                mask |= pycurl.CSELECT_OUT
            if events & (select.EPOLLERR | select.EPOLLHUP):
                mask |= pycurl.CSELECT_ERR
            self._multi.socket_action(fd, mask)
        self._finish()

    def _finish(self) -> None:
        left = 1
        while left:
            left, good, bad = self._multi.info_read()
            for easy in good:
                self._transfers[easy].finish(pycurl.E_OK, "")
            for easy, code, text in bad:
                self._transfers[easy].finish(code, text)

    def _watch(self, what: int, fd: int, _multi: object, _data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            self._fds.discard(fd)
            with suppress(OSError):  # it may be closed already
                self._epoll.unregister(fd)
        elif fd in self._fds:
            self._epoll.modify(fd, _EVENTS[what])
        else:
            self._fds.add(fd)
            self._epoll.register(fd, _EVENTS[what])

    def _wake_in(self, ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if ms == 0:
            self._timer = self._net.loop.call_soon(self._wake)
        elif ms > 0:
            self._timer = self._net.loop.call_later(max(ms / 1000, _LEAST_S), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._act([(pycurl.SOCKET_TIMEOUT, 0)])
