"""A small server to be checked, `python -m tests.bench.target`: plain epoll, answers 200 and 99 bytes."""

import os
import select
import socket
import ssl
import sys
from contextlib import suppress
from pathlib import Path

_BODY = b"x" * 99
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: target\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 99\r\nConnection: close\r\n\r\n" + _BODY
)
_MOST = 256


class Target:
    """Serves both a plain port, which the TCP check takes too, and a TLS port if there is a certificate."""

    def __init__(self, certificate: Path | None) -> None:
        self._epoll = select.epoll()
        self._open: dict[int, socket.socket] = {}
        self._plain = self._listen()
        self._secure = self._listen()
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)

    @property
    def ports(self) -> tuple[int, int]:
        return self._plain.getsockname()[1], self._secure.getsockname()[1]

    def serve(self) -> None:
        listeners = {self._plain.fileno(): self._plain, self._secure.fileno(): self._secure}
        while True:
            for fd, _ in self._epoll.poll(-1, _MOST):
                listener = listeners.get(fd)
                if listener is None:
                    self._answer(fd)
                else:
                    self._accept(listener)

    def _listen(self) -> socket.socket:
        sock = socket.create_server(("127.0.0.1", 0), backlog=4096)
        sock.setblocking(False)
        self._epoll.register(sock.fileno(), select.EPOLLIN)
        return sock

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(64):
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            sock.setblocking(False)
            if listener is self._secure and self._context is not None:
                sock = self._context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            self._open[sock.fileno()] = sock
            self._epoll.register(sock.fileno(), select.EPOLLIN)

    def _answer(self, fd: int) -> None:
        sock = self._open[fd]
        try:
            if not sock.recv(4096):
                raise ConnectionResetError
            sock.send(_ANSWER)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            pass
        del self._open[fd]
        with suppress(OSError):
            sock.close()


def main() -> None:
    """Print the two ports, then serve until killed."""
    certificate = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    target = Target(certificate)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    print(*target.ports, flush=True)
    target.serve()


if __name__ == "__main__":
    main()
