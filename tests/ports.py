"""Ports of 127.0.0.1 for servers that start a while after the port was chosen."""

import secrets
import socket
from contextlib import closing, suppress


def free_port() -> int:
    """None of those that the system gives to whoever asks for any: one of them would be gone again."""
    while True:
        port = 10_000 + secrets.randbelow(22_000)
        with suppress(OSError), closing(socket.socket()) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            return port
