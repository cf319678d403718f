"""Servers that talk by a script."""

import socket
from contextlib import suppress

from tests.probe.targets import Behaviour

Script = tuple[tuple[bytes, bytes], ...]


def plays(*script: tuple[bytes, bytes]) -> Behaviour:
    """For each pair: read until the first came, say the second; then read until the other side goes."""

    def behave(sock: socket.socket) -> None:
        for heard, data in script:
            came = b""
            while heard not in came:
                part = sock.recv(65_536)
                if not part:
                    return
                came += part
            sock.sendall(data)
        with suppress(OSError):
            while sock.recv(65_536):
                pass

    return behave
