"""A name server on loopback that answers what a test wants."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address

NXDOMAIN, SERVFAIL, REFUSED = 3, 2, 5
_A, _AAAA, _SOA, _TXT = 1, 28, 6, 16


class NameServer:
    """*names* maps to addresses or to an error's number; what is not in it gets no answer at all.

    *texts*: what the TXT records of names say, which need not be in *names*. *spoil* changes an answer before
    it is sent.
    """

    def __init__(self) -> None:
        self.names: dict[str, list[str] | int] = {}
        self.texts: dict[str, list[str]] = {}
        self.ttl = 60
        self.asked: list[str] = []
        self.spoil: Callable[[bytes], bytes] = bytes
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._sock.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        # An empty datagram is the sign to end: closing does not wake a thread that waits.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"", self._sock.getsockname())
        self._thread.join()
        self._sock.close()

    def _serve(self) -> None:
        while True:
            query, client = self._sock.recvfrom(4096)
            if not query:
                return
            answer = self._answer(query)
            if answer:
                self._sock.sendto(self.spoil(answer), client)

    def _answer(self, query: bytes) -> bytes:
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, question = ".".join(labels).lower(), query[12 : at + 5]
        kind = struct.unpack("!H", query[at + 1 : at + 3])[0]
        self.asked.append(name)
        known = [] if name in self.texts else self.names.get(name)
        if known is None:
            return b""
        code = known if isinstance(known, int) else 0
        found = [] if isinstance(known, int) else [ip_address(text).packed for text in known]
        records = [
            b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, self.ttl, len(packed)) + packed
            for packed in found
            if (kind, len(packed)) in {(_A, 4), (_AAAA, 16)}
        ]
        said = [bytes([len(text)]) + text.encode() for text in self.texts.get(name, []) if kind == _TXT]
        records += [b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, self.ttl, len(text)) + text for text in said]
        # Names that are not there stay so for an hour, says this zone.
        soa = (
            b"\xc0\x0c"
            + struct.pack("!HHIH", _SOA, 1, 3600, 22)
            + b"\0\0"
            + struct.pack("!IIIII", 1, 1, 1, 1, 3600)
        )
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0 if records else 1, 0)
        return head + question + b"".join(records) + (b"" if records else soa)


@contextmanager
def name_server() -> Iterator[NameServer]:
    server = NameServer()
    try:
        yield server
    finally:
        server.stop()
