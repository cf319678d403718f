"""Sockets that connect again and again: that saves a quarter of the work of a TCP check."""

import ctypes
import socket
from typing import Final

from probe.net.dial import drop

# Python cannot connect to the address of no family, by which the kernel undoes a connection.
_CONNECT: Final = ctypes.CDLL(None).connect
_CONNECT.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int)
_NOWHERE: Final = bytes(16)
# A burst's worth. One costs 3 kB of the kernel's memory.
_MOST: Final = 128


class Spares:
    """Sockets for IPv4 without a connection, which stay registered in the engine's epoll.

    Undoing a connection does what closing with a linger time of 0 does: it sends a reset and discards
    everything. Sockets for IPv6 are not kept: they remember the interface of a link-local address.
    """

    __slots__ = ("_sockets",)

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def take(self, address: str) -> socket.socket | None:
        """A socket that can connect to *address*, if there is one. Only for callers outside of `on_events`.

        The batch of events that is being processed may have one from before, about its former connection.
        """
        return self._sockets.pop() if self._sockets and ":" not in address else None

    def keep(self, sock: socket.socket, address: str) -> None:
        """Undo the connection of *sock* to *address*, and keep it; close it if it cannot be kept."""
        wanted = ":" not in address and len(self._sockets) < _MOST
        if wanted and _CONNECT(sock.fileno(), _NOWHERE, len(_NOWHERE)) == 0:
            self._sockets.append(sock)
        else:
            drop(sock)

    def close(self) -> None:
        while self._sockets:
            self._sockets.pop().close()
