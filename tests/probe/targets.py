"""Servers that misbehave on real sockets, each a function of one accepted connection."""

import resource
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

Behaviour = Callable[[socket.socket], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Target:
    """A listening socket and a thread for each connection, which does what *behave* says and then closes."""

    def __init__(self, behave: Behaviour, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=1024)
        self._behave = behave
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self.accepted = 0
        self.host = host
        self.port: int = self._listener.getsockname()[1]

    @property
    def peer(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.peer}/"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        for sock in (self._listener, *list(self._open)):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._open.add(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, suppress(OSError):
            self._behave(sock)
        self._open.discard(sock)


@contextmanager
def target(behave: Behaviour, host: str = "127.0.0.1", port: int = 0) -> Iterator[Target]:
    """A server that treats each connection as *behave* does, for the time of the block."""
    server = Target(behave, host, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def shut_port() -> Iterator[int]:
    """A port that refuses: bound, so that nobody else gets it, but not listening."""
    with closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@contextmanager
def mute_port(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A port whose queue of connections is full: it lets nobody in and says nothing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as listener:
        listener.bind((host, port))
        listener.listen(0)
        waiting = [socket.socket(family) for _ in range(2)]
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
        try:
            yield listener.getsockname()[1]
        finally:
            for sock in waiting:
                sock.close()


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """What is open stays open; nothing can be added."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def read_request(sock: socket.socket) -> bytes:
    """A request with its body, as far as Content-Length says there is one."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65_536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            left = int(line.partition(b":")[2]) - len(body)
            while left > 0:
                part = sock.recv(65_536)
                left -= len(part) if part else left
                data += part
    return data


def says(*parts: bytes) -> Behaviour:
    """Reads the request, sends *parts*, closes."""

    def behave(sock: socket.socket) -> None:
        read_request(sock)
        for part in parts:
            sock.sendall(part)

    return behave


def says_then_resets(answer: bytes) -> Behaviour:
    def behave(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(answer)
        # What is on its way must arrive before the reset does.
        time.sleep(0.05)
        reset(sock)

    return behave


def says_then_stalls(answer: bytes) -> Behaviour:
    def behave(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(answer)
        stall(sock)

    return behave


def drips(answer: bytes, pause_s: float) -> Behaviour:
    """Sends *answer* byte by byte."""

    def behave(sock: socket.socket) -> None:
        read_request(sock)
        for byte in answer:
            sock.sendall(bytes([byte]))
            time.sleep(pause_s)

    return behave


def repeats(start: bytes, part: bytes) -> Behaviour:
    """Sends *start*, then *part* for as long as it is taken."""

    def behave(sock: socket.socket) -> None:
        read_request(sock)
        sock.sendall(start)
        while True:
            sock.sendall(part)

    return behave


class _Connected(ssl.SSLSocket):
    """Asked for its peer, the standard library's leaves itself open if that has reset it just before."""

    def getpeername(self) -> None:
        """It was connected; whether it still is the handshake tells."""


def secure(context: ssl.SSLContext, sock: socket.socket) -> ssl.SSLSocket:
    """*sock* as a server's, its handshake done."""
    context.sslsocket_class = _Connected
    return context.wrap_socket(sock, server_side=True)


def over_tls(context: ssl.SSLContext, behave: Behaviour) -> Behaviour:
    def secured(sock: socket.socket) -> None:
        with secure(context, sock) as wrapped:
            behave(wrapped)

    return secured


def records(requests: list[bytes], behave: Behaviour) -> Behaviour:
    """Notes each request first; *behave* then finds it read."""

    def recording(sock: socket.socket) -> None:
        requests.append(read_request(sock))
        behave(sock)

    return recording


def sends(answer: bytes) -> Behaviour:
    """Sends *answer* without waiting for anything."""
    return lambda sock: sock.sendall(answer)


def stall(sock: socket.socket) -> None:
    """Says nothing more, until the other end goes."""
    while sock.recv(65_536):
        pass


def stall_unread(sock: socket.socket) -> None:
    """Neither reads nor says anything, until the other end goes."""
    gone = select.poll()
    gone.register(sock, select.POLLRDHUP)
    gone.poll()


def close(sock: socket.socket) -> None:
    """Reads the request and closes without a word."""
    read_request(sock)


def reset(sock: socket.socket) -> None:
    """Closes with a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def reset_after_request(sock: socket.socket) -> None:
    read_request(sock)
    reset(sock)
