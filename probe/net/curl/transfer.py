"""One libcurl transfer: its callbacks, progress and end."""

import socket
import struct
import time
from asyncio import Future
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pycurl

from probe.net import faults
from probe.net.curl import certificates
from probe.net.curl import faults as curl_faults
from probe.net.curl.faults import EndedTransfer
from probe.net.curl.route import ProxyRoute
from probe.net.endpoint import Endpoint
from probe.net.errors import ProbeError, TargetError
from probe.net.http1 import HttpReply
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls.openssl import UntrustedCertificate

if TYPE_CHECKING:
    from probe.net.engine import Net

# Closing resets the connection, as in the engine: see probe.net.dial.
_NO_LINGER: Final = struct.pack("ii", 1, 0)
_ABORT: Final = 0
_INFO_TEXT: Final = 0
# libcurl's message when the proxy has opened the tunnel; no timing reports it.
_THROUGH: Final = (b"Opened SOCKS connection", b"CONNECT phase completed", b"CONNECT tunnel established")
_VERSIONS: Final = {b"HTTP/2": "2", b"HTTP/3": "3"}


class _EventTimes:
    """Times of events on `time.monotonic()`; *through*: the proxy opened the tunnel."""

    __slots__ = ("began", "end", "first", "ready", "through")

    def __init__(self) -> None:
        self.began = self.end = time.monotonic()
        self.through: float | None = None
        self.ready: float | None = None
        self.first: float | None = None


class Transfer:
    """A transfer over *sock*, which is connected, or by UDP to *addresses*; feeds *reply*.

    Without a *reply* it ends once connected.
    """

    __slots__ = (
        "_addresses", "_closed", "_done", "_fault", "_limit", "_marks", "_peer", "_reply", "_sock", "_to",
        "_way", "chain", "due", "easy", "future",
    )  # fmt: skip

    def __init__(
        self,
        net: "Net",
        way: ProxyRoute,
        limit: Limit,
        to: Endpoint,
        addresses: Sequence[str],
        *,
        sock: socket.socket | None = None,
        reply: HttpReply | None = None,
    ) -> None:
        self.future: Future[None] = net.loop.create_future()
        self.due = 0.0
        self.easy = pycurl.Curl()
        self.chain: tuple[bytes, ...] = ()
        self._way = way
        self._limit = limit
        self._addresses = addresses
        self._peer = way.peer(addresses[0], way.first(to).port)
        self._to = to
        self._sock = sock
        self._reply = reply
        self._done = False
        self._closed = False
        self._fault: TargetError | ProbeError | None = None
        self._marks = _EventTimes()
        self._listen()

    def _listen(self) -> None:
        easy = self.easy
        easy.setopt(pycurl.OPENSOCKETFUNCTION, self._open)
        easy.setopt(pycurl.SOCKOPTFUNCTION, self._opened)
        easy.setopt(pycurl.PREREQFUNCTION, self._get_ready)
        easy.setopt(pycurl.HEADERFUNCTION, self._header)
        easy.setopt(pycurl.WRITEFUNCTION, self._feed)
        if self._reply is None:
            easy.setopt(pycurl.CONNECT_ONLY, 1)
        if self._way.proxy is not None:
            easy.setopt(pycurl.VERBOSE, 1)
            easy.setopt(pycurl.DEBUGFUNCTION, self._note)

    def finish(self, code: int, text: str) -> None:
        """The library has finished the transfer."""
        self._marks.end = time.monotonic()
        if self._to.tls:
            self.chain = certificates.pems(self.easy.getinfo_raw(pycurl.INFO_CERTINFO))
        if self.future.done():
            return
        try:
            self._conclude(code, text)
        except Exception as error:  # noqa: BLE001 - raised again by the waiter
            self.future.set_exception(error)
        else:
            self.future.set_result(None)

    def expire(self) -> None:
        """The time limit of the whole check has passed."""
        if not self.future.done():
            self.future.set_exception(curl_faults.late(self._phase(), self._peer, self._limit.words))

    def close(self) -> None:
        """Free everything; waiting callers are cancelled. Idempotent."""
        self._closed = True
        self.future.cancel()
        if self._sock is not None:
            self._sock.close()
        self.easy.close()

    def measure(self, spent: PhaseDurations) -> None:
        """Add the durations of the completed phases to *spent*; connecting includes the proxy's part."""
        marks = self._marks
        if marks.ready is None or self._closed:
            return
        if self._way.version == "3":
            spent.address = self.easy.getinfo(pycurl.PRIMARY_IP) or spent.address
        through = marks.ready
        if self._to.tls:
            through = marks.through or marks.began + self.easy.getinfo(pycurl.CONNECT_TIME)
            spent.tls = _more(spent.tls, marks.ready - through)
        spent.connect = _more(spent.connect, through - marks.began)
        if marks.first is not None:
            spent.first_byte = _more(spent.first_byte, marks.first - marks.ready)
            if self._done:
                spent.transfer = _more(spent.transfer, marks.end - marks.first)

    def _conclude(self, code: int, text: str) -> None:
        # libcurl falls back to the certificate's subject if it names no host.
        if self.chain and self._to.verify and not certificates.names_a_host(self.chain[0]):
            raise UntrustedCertificate(curl_faults.HOST_MISMATCH, "names no host")
        if self._fault is not None:
            raise self._fault
        if self._done or (code == curl_faults.OK and self._reply is None):
            self._done = True
            return
        seen = self._seen(code, text)
        if self._reply is not None and curl_faults.ended(seen):
            self._reply.end(self._peer)
            cut = curl_faults.cut(seen)
            self._done = cut is None
            if cut is None:
                return
            raise cut
        raise curl_faults.fault(seen)

    def _seen(self, code: int, text: str) -> EndedTransfer:
        ask = self.easy.getinfo
        phase = self._phase()
        return EndedTransfer(
            code=code,
            text=text,
            phase=phase,
            peer=self._peer,
            os_error=ask(pycurl.OS_ERRNO),
            verdict=ask(pycurl.PROXY_SSL_VERIFYRESULT if phase == "proxy" else pycurl.SSL_VERIFYRESULT),
            version=self._way.version,
            stood=self._marks.ready is not None,
            connect_code=ask(pycurl.HTTP_CONNECTCODE),
            proxy_code=ask(pycurl.PROXY_ERROR),
        )

    def _phase(self) -> str:
        reply, ask = self._reply, self.easy.getinfo
        if reply is not None and reply.phase != "first byte":
            return reply.phase
        if self._marks.ready is not None:
            return "first byte" if ask(pycurl.POSTTRANSFER_TIME_T) > 0 else "send"
        if self._way.proxy is not None and self._marks.through is None:
            return "proxy"
        return "connect" if self._way.version == "3" else "tls" if self._to.tls else "send"

    def _open(self, _purpose: int, to: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        """Allow only the one connection that we prepared, whatever libcurl requests."""
        if self._marks.ready is not None:
            return int(pycurl.SOCKET_BAD)
        family, kind, protocol, address = to
        if self._way.version == "3" and protocol == socket.IPPROTO_UDP and address[0] in self._addresses:
            try:
                self._sock = socket.socket(family, kind, protocol)
            except OSError as error:
                self._fault = faults.unconnected(error.errno or 0, self._peer)
        return self._sock or int(pycurl.SOCKET_BAD)

    def _opened(self, _fd: int, _purpose: int) -> int:
        """The library has duplicated the socket now, so ours can be closed."""
        assert self._sock is not None  # noqa: S101 - it was just set
        stream = self._sock.type == socket.SOCK_STREAM
        if stream:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._sock.close()
        self._sock = None
        return int(pycurl.SOCKOPT_ALREADY_CONNECTED) if stream else 0

    def _note(self, kind: int, text: bytes) -> None:
        if kind == _INFO_TEXT and self._marks.through is None and text.startswith(_THROUGH):
            self._marks.through = time.monotonic()

    def _get_ready(self, *_addresses: object) -> int:
        self._marks.ready = time.monotonic()
        return int(pycurl.PREREQFUNC_OK)

    def _header(self, line: bytes) -> int | None:
        reply = self._reply
        if reply is None or reply.phase == "body":
            return None  # a trailer
        if self._way.version != "1.1" and line.startswith(b"HTTP/"):
            name, _, rest = line.partition(b" ")
            got, wanted = _VERSIONS.get(name, "1.1"), self._way.version
            if got != wanted:
                self._fault = TargetError(f"http: the server answers in HTTP/{got}, not in HTTP/{wanted}")
                return _ABORT
            line = b"HTTP/1.1 " + rest
        return self._feed(line)

    def _feed(self, data: bytes) -> int | None:
        reply = self._reply
        assert reply is not None  # noqa: S101 - only called with a reply
        if self._marks.first is None:
            self._marks.first = time.monotonic()
        try:
            self._done = reply.feed(data)
        except TargetError as error:
            self._fault = error
            return _ABORT
        return _ABORT if self._done else None


def _more(before: float | None, seconds: float) -> float:
    return (before or 0.0) + max(seconds, 0.0)
