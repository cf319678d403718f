"""Errors of the system in words that name the phase."""

import errno
import os
import socket
from typing import Final

from probe.net.errors import ProbeError, TargetError

# Which of several addresses' errors is reported: the target's first, then the network's, then ours.
TOLD_FIRST: Final = 0
_TOLD_NEXT: Final = 1
_TOLD_LAST: Final = 2
_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EAFNOSUPPORT})
# Errors of this machine, which do not concern the target.
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
# The last one is reported for a socket that was reset before TLS could be set up.
_CUT: Final = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ENOTCONN})
_LOOPBACK: Final = ("127.", "::1")
_FIRST_EPHEMERAL: Final = 1024


def rank(code: int) -> int:
    if code in _OURS:
        return _TOLD_LAST
    return _TOLD_NEXT if code in _UNREACHABLE else TOLD_FIRST


def unconnected(code: int, peer: str) -> TargetError | ProbeError:
    """The error for a failed connection to *peer*."""
    if code in _OURS:
        return ProbeError(f"probe: {_OURS[code]}")
    return TargetError(f"connect: {_refused(code, peer)}")


def of_machine(error: OSError) -> ProbeError:
    """The error of something that this machine refused, whatever the target is."""
    code = error.errno or 0
    return ProbeError(f"probe: {_OURS.get(code) or os.strerror(code).lower()}")


def _refused(code: int, peer: str) -> str:
    if code == errno.ECONNREFUSED:
        return f"refused by {peer}"
    if code == errno.ETIMEDOUT:
        return f"no answer from {peer}"
    if code in _UNREACHABLE:
        return f"no route to {peer}"
    if code < 0:  # of getaddrinfo, used only for the zone of an IPv6 address
        return f"no such zone ({peer})"
    return f"{os.strerror(code).lower()} ({peer})"


def broken(error: OSError, peer: str) -> str:
    """How an established connection was lost."""
    if error.errno in _CUT:
        return f"connection reset by {peer}"
    if error.errno == errno.ETIMEDOUT:
        return f"connection to {peer} was lost"
    return f"{os.strerror(error.errno or 0).lower()} ({peer})"


def late(phase: str, words: str) -> str:
    """The check timed out in *phase*."""
    match phase:
        case "tls":
            return f"tls: handshake not done within {words}"
        case "first byte":
            return f"first byte: no answer within {words}"
    return f"{phase}: not complete within {words}"


def met_itself(sock: socket.socket, address: str, port: int) -> bool:
    """Whether the system chose the target's port as the local port: then TCP connects to itself."""
    if port < _FIRST_EPHEMERAL or not address.startswith(_LOOPBACK):
        return False
    local = sock.getsockname()
    return bool(local[1] == port and local[0] == address)
