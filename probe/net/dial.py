"""One connection attempt: started without blocking, and its outcome."""

import socket
import struct
from errno import ECONNREFUSED, ECONNRESET, EINPROGRESS
from select import EPOLLERR, EPOLLHUP
from typing import Final

from probe.net import faults

_STREAM: Final = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
# Reset on close: nothing is left to send, and ports in TIME_WAIT slow down later connects.
_NO_LINGER: Final = struct.pack("ii", 1, 0)


def dial(address: str, port: int) -> socket.socket:
    """A socket connecting to *address*. Raises OSError if there is no route."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, _STREAM)
    start(sock, address, port)
    return sock


def start(sock: socket.socket, address: str, port: int) -> None:
    """Connect *sock* to *address* without blocking. On failure closes it, and raises OSError."""
    try:
        code = sock.connect_ex((address, port))
    except OSError:
        sock.close()
        raise
    if code not in {0, EINPROGRESS}:
        sock.close()
        raise OSError(code, "connect")


def fault(sock: socket.socket, address: str, port: int, events: int) -> int:
    """The errno of a failed connect, 0 on success; *events*: epoll's, of *sock*."""
    if events & (EPOLLERR | EPOLLHUP):
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        # A reset follows the handshake: the next send or read will report it.
        return 0 if code == ECONNRESET else code
    return ECONNREFUSED if faults.met_itself(sock, address, port) else 0


def drop(sock: socket.socket) -> None:
    try:  # noqa: SIM105 - half a microsecond for each check
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    except OSError:  # on a socket that was already reset
        pass
    sock.close()
