"""Translates libcurl's errors to the engine's."""

import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from probe.net import faults
from probe.net.errors import ProbeError, TargetError
from probe.net.tls import openssl

Fault = TargetError | ProbeError

OK: Final = 0
HOST_MISMATCH: Final = 62
# CURLE_* codes, not all of which pycurl names.
_UNSUPPORTED, _UNCONNECTED, _WEIRD, _HTTP2, _PARTIAL = 1, 7, 8, 16, 18
_MEMORY, _TLS, _NOTHING, _SEND, _RECV, _CLIENT, _CERTIFICATE = 27, 35, 52, 55, 56, 58, 60
_HTTP2_STREAM, _HTTP3, _QUIC, _PROXY, _TOO_LARGE = 92, 95, 96, 97, 100
_ENDS: Final = frozenset({OK, _NOTHING, _PARTIAL})
_LOST: Final = frozenset({_SEND, _RECV})
_SYSTEMS: Final = frozenset({_UNCONNECTED, _TLS, _SEND, _RECV, _HTTP3, _QUIC})
# OpenSSL accepts the certificate then: libcurl compares the names itself.
_CONTENT: Final = frozenset({0, 1})
_REASON: Final = re.compile(r"error:[0-9A-Fa-f]{8}:[^:]*:[^:]*:([^,(]+)")
_NUMBER: Final = re.compile(r" \(\d+\)$")
_EOF: Final = "UNEXPECTED_EOF_WHILE_READING"
_UNSTANDING: Final = frozenset({"proxy", "connect", "tls"})
_LOGIN_WANTED: Final = 407
# Ways in which HTTP/2 and 3 streams and connections end without a response.
_STREAMS: Final = (
    (re.compile("while we expected SETTINGS frame"), "http: the server does not speak HTTP/{version}"),
    (re.compile(r"reset by server \(error 0x\w+ (\w+)\)"), "{phase}: stream reset by the server ({name})"),
    (re.compile(r"reset by curl \(error 0x\w+ (\w+)\)"), "{phase}: given up by the server ({name})"),
    (re.compile("closed cleanly"), "{phase}: stream closed by the server without an answer"),
    (re.compile(r"FRAME\[DATA"), "body: not as long as was said"),
    (re.compile(r"FRAME\[HEADERS|Invalid HTTP header"), "headers: malformed"),
    (re.compile(r"with error \d+: (\w+)"), "http: HTTP/{version} of the server is malformed ({name})"),
    (re.compile("ERR_CLOSING"), "http: HTTP/{version} of the server is malformed"),
)
_SAID: Final = {
    _UNSUPPORTED: "http: not an HTTP response",
    _WEIRD: "headers: malformed",
    _TOO_LARGE: "{where}: more than 64 KiB of headers",
    _HTTP2: "http: HTTP/{version} of the server is malformed",
    _HTTP2_STREAM: "http: HTTP/{version} of the server is malformed",
    _HTTP3: "http: HTTP/{version} of the server is malformed",
}
# CURLPX_*
_SOCKS: Final = {
    2: "does not speak SOCKS5",
    12: "wants a login",
    14: "does not take the login",
    17: "cannot reach addresses of this kind",
    18: "does not connect for others",
    19: "is refused by the target",
    20: "failed",
    21: "cannot reach the target",
    22: "cannot reach the target's network",
    23: "does not allow it",
    24: "cannot reach the target in time",
    33: "does not take the login",
}


@dataclass(frozen=True, slots=True)
class EndedTransfer:
    """A transfer that ended with *code* and libcurl's *text*: its phase, and other known facts.

    *stood*: there was a connection; *verdict*: OpenSSL's on the certificate; *connect_code*: the proxy's
    response to CONNECT; *proxy_code*: the SOCKS error.
    """

    code: int
    text: str
    phase: str
    peer: str
    os_error: int
    verdict: int
    version: str
    stood: bool
    connect_code: int = 0
    proxy_code: int = 0


def ended(seen: EndedTransfer) -> bool:
    """Whether the peer closed the connection; the reader of the response decides what that means."""
    if seen.phase in _UNSTANDING:
        return False
    quietly = seen.code == _HTTP2 and not seen.text
    return quietly or seen.code in _ENDS or (seen.code in _LOST and _reason(seen.text) == _EOF)


def cut(seen: EndedTransfer) -> TargetError | None:
    """The error of a response that was cut off, except one delimited by the end of the connection."""
    if seen.code == OK or (seen.version == "1.1" and seen.code != _PARTIAL):
        return None
    return TargetError(f"{seen.phase}: connection closed by {seen.peer} before its end")


def fault(seen: EndedTransfer) -> Fault:
    """Why the transfer failed."""
    for say in _IN_TURN if seen.phase != "proxy" else _OF_THE_PROXY:
        told = say(seen)
        if told is not None:
            return told
    return ProbeError(f"probe: libcurl failed ({seen.code})")


def late(phase: str, peer: str, words: str) -> TargetError:
    """The check timed out in *phase*."""
    if phase == "connect":
        return TargetError(f"connect: timed out after {words} to {peer}")
    if phase == "proxy":
        return TargetError(f"connect: no answer from {peer} within {words}")
    return TargetError(faults.late(phase, words))


def _of_ours(seen: EndedTransfer) -> Fault | None:
    return ProbeError("probe: out of memory") if seen.code == _MEMORY else None


def _of_certificates(seen: EndedTransfer) -> Fault | None:
    if seen.code == _CERTIFICATE:
        verdict = HOST_MISMATCH if seen.verdict in _CONTENT else seen.verdict
        return openssl.UntrustedCertificate(verdict, _NUMBER.sub("", seen.text.rpartition(": ")[2]))
    return TargetError("tls: the client certificate cannot be used") if seen.code == _CLIENT else None


def _of_streams(seen: EndedTransfer) -> Fault | None:
    if seen.version == "1.1":
        return None
    for pattern, words in _STREAMS:
        match = pattern.search(seen.text)
        if match is not None:
            name = match[1] if pattern.groups else ""
            return TargetError(words.format(phase=seen.phase, name=name, version=seen.version))
    return None


def _of_the_system(seen: EndedTransfer) -> Fault | None:
    if not seen.os_error or seen.code not in _SYSTEMS:
        return None
    if seen.phase == "connect":
        return faults.unconnected(seen.os_error, seen.peer)
    return TargetError(f"{seen.phase}: {faults.broken(OSError(seen.os_error, ''), seen.peer)}")


def _of_tls(seen: EndedTransfer) -> Fault | None:
    reason = _reason(seen.text) or (_EOF if seen.code == _TLS else "")
    if not reason:
        return None
    error = ssl.SSLEOFError() if reason == _EOF else ssl.SSLError()
    error.reason = reason
    return openssl.fault(error, seen.peer, phase="tls" if seen.phase == "proxy" else seen.phase)


def _of_http(seen: EndedTransfer) -> Fault | None:
    words = _SAID.get(seen.code, "")
    if seen.code == _RECV and seen.phase == "body" and seen.version == "1.1":
        words = "body: malformed chunk"
    where = "body" if seen.phase == "body" else "headers"
    return TargetError(words.format(where=where, version=seen.version)) if words else None


def _of_connections(seen: EndedTransfer) -> Fault | None:
    if seen.code == _UNCONNECTED and seen.stood:
        # The only case in which libcurl may retry on another connection.
        return TargetError("http: the server refused the request unprocessed")
    if seen.phase == "connect" and seen.code in _LOST:
        return TargetError(f"connect: refused by {seen.peer}")
    if seen.phase == "connect":
        return TargetError(f"connect: no HTTP/{seen.version} with {seen.peer}")
    if seen.code == _UNCONNECTED:
        # The socket was connected when libcurl should have used it.
        return ProbeError("probe: out of file descriptors")
    return TargetError(f"{seen.phase}: connection closed by {seen.peer}") if seen.code in _LOST else None


def _of_refusals(seen: EndedTransfer) -> Fault | None:
    if seen.connect_code == _LOGIN_WANTED:
        return TargetError(f"connect: {seen.peer} wants a login, or another one (407)")
    if seen.connect_code:
        return TargetError(f"connect: {seen.peer} answers {seen.connect_code}")
    words = _SOCKS.get(seen.proxy_code) if seen.code == _PROXY else None
    return TargetError(f"connect: {seen.peer} {words}") if words else None


def _of_its_tls(seen: EndedTransfer) -> Fault | None:
    told = _of_certificates(seen) or _of_tls(seen)
    if told is None or seen.peer in str(told):
        return told
    return TargetError(f"{told} (proxy)")


def _of_its_connection(seen: EndedTransfer) -> Fault | None:
    words = faults.broken(OSError(seen.os_error, ""), seen.peer) if seen.os_error else ""
    return TargetError(f"connect: {words or f'connection closed by {seen.peer}'}")


def _reason(text: str) -> str:
    """OpenSSL's error name, as in Python: ``TLSV1_ALERT_UNKNOWN_CA``."""
    match = _REASON.search(text)
    # Newer versions have renamed their oldest alert.
    return match[1].strip().upper().replace("SSL/TLS", "SSLV3").replace(" ", "_") if match else ""


_IN_TURN: Final[tuple[Callable[[EndedTransfer], Fault | None], ...]] = (
    _of_ours,
    _of_certificates,
    _of_streams,
    _of_the_system,
    _of_tls,
    _of_http,
    _of_connections,
)
_OF_THE_PROXY: Final[tuple[Callable[[EndedTransfer], Fault | None], ...]] = (
    _of_ours,
    _of_refusals,
    _of_its_tls,
    _of_its_connection,
)
