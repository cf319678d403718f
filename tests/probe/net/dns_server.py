"""A name server on loopback, over UDP and TCP, that answers each question with the bytes a test wants."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from probe.net.dns.message import TYPES

Respond = Callable[[bytes], bytes | None]


def name(text: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".") if part) + b"\0"


def record(type_: str, data: bytes, ttl: int = 60) -> bytes:
    """One that is of the name asked for."""
    return b"\xc0\x0c" + struct.pack("!HHIH", TYPES[type_], 1, ttl, len(data)) + data


def answer(query: bytes, *records: bytes, flags: int = 0x8180) -> bytes:
    end = query.index(b"\0", 12) + 5
    return query[:2] + struct.pack("!5H", flags, 1, len(records), 0, 0) + query[12:end] + b"".join(records)


def gives(*records: bytes, flags: int = 0x8180) -> Respond:
    return lambda query: answer(query, *records, flags=flags)


class DnsServer:
    """*respond* answers over UDP, *whole* over TCP; None is no answer."""

    def __init__(self, respond: Respond, whole: Respond | None = None) -> None:
        self.respond = respond
        self.whole = whole or respond
        self.asked = 0
        while True:
            self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._udp.bind(("127.0.0.1", 0))
            self.port: int = self._udp.getsockname()[1]
            try:
                self._tcp = socket.create_server(("127.0.0.1", self.port))
                break
            except OSError:
                self._udp.close()
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._datagrams, self._streams)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def stop(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"", ("127.0.0.1", self.port))
        with suppress(OSError):
            self._tcp.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._udp.close()
        self._tcp.close()

    def _datagrams(self) -> None:
        while True:
            query, client = self._udp.recvfrom(4096)
            if not query:
                return
            self.asked += 1
            data = self.respond(query)
            if data is not None:
                self._udp.sendto(data, client)

    def _streams(self) -> None:
        while True:
            try:
                sock, _ = self._tcp.accept()
            except OSError:
                return
            with sock, suppress(OSError):
                query = sock.recv(4096)[2:]
                data = self.whole(query)
                if data is not None:
                    sock.sendall(struct.pack("!H", len(data)) + data)


@contextmanager
def dns_server(respond: Respond, whole: Respond | None = None) -> Iterator[DnsServer]:
    server = DnsServer(respond, whole)
    try:
        yield server
    finally:
        server.stop()
