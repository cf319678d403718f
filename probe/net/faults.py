"""Errors of the system in words that name the phase."""

import errno
import os
import socket
from typing import Final

from probe.net.errors import ProbeError, TargetError

# Which fault is told if a name's addresses have several: the target's own, then the way there, then ours.
TOLD_FIRST: Final = 0
_TOLD_NEXT: Final = 1
_TOLD_LAST: Final = 2
_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EAFNOSUPPORT})
# Faults of this machine, which say nothing of the target.
_OURS: Final = {
    errno.EMFILE: "out of file descriptors",
    errno.ENFILE: "the machine is out of file descriptors",
    errno.ENOBUFS: "out of socket buffers",
    errno.ENOMEM: "out of memory",
    errno.EADDRNOTAVAIL: "out of local ports",
    errno.ENOSPC: "out of epoll watches",
    errno.EACCES: "not permitted to connect",
    errno.EPERM: "not permitted to connect",
}
# The last is said of one that was reset before it could be wrapped in TLS.
_CUT: Final = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ENOTCONN})
_LOOPBACK: Final = ("127.", "::1")
_FIRST_EPHEMERAL: Final = 1024


def rank(code: int) -> int:
    if code in _OURS:
        return _TOLD_LAST
    return _TOLD_NEXT if code in _UNREACHABLE else TOLD_FIRST


def unconnected(code: int, peer: str) -> TargetError | ProbeError:
    """Why there is no connection to *peer*."""
    if code in _OURS:
        return ProbeError(f"probe: {_OURS[code]}")
    return TargetError(f"connect: {_refused(code, peer)}")


def _refused(code: int, peer: str) -> str:
    if code == errno.ECONNREFUSED:
        return f"refused by {peer}"
    if code == errno.ETIMEDOUT:
        return f"no answer from {peer}"
    if code in _UNREACHABLE:
        return f"no route to {peer}"
    if code < 0:  # of getaddrinfo, which is asked for nothing but the zone of an IPv6 address
        return f"no such zone ({peer})"
    return f"{os.strerror(code).lower()} ({peer})"


def broken(error: OSError, peer: str) -> str:
    """How a connection that stood was lost."""
    if error.errno in _CUT:
        return f"connection reset by {peer}"
    if error.errno == errno.ETIMEDOUT:
        return f"connection to {peer} was lost"
    return f"{os.strerror(error.errno or 0).lower()} ({peer})"


def late(phase: str, words: str) -> str:
    """The check's time ended in *phase*."""
    match phase:
        case "tls":
            return f"tls: handshake not done within {words}"
        case "first byte":
            return f"first byte: no answer within {words}"
    return f"{phase}: not complete within {words}"


def met_itself(sock: socket.socket, address: str, port: int) -> bool:
    """Was the local port that the system chose the very one connected to? Then TCP connects to itself."""
    if port < _FIRST_EPHEMERAL or not address.startswith(_LOOPBACK):
        return False
    local = sock.getsockname()
    return bool(local[1] == port and local[0] == address)
