"""Proxies on loopback that pass on every byte, every end and every reset as it comes."""

import selectors
import socket
import struct
from base64 import b64encode
from contextlib import suppress
from typing import cast

from tests.probe import targets
from tests.probe.targets import Behaviour

LOGIN = ("user", "pass word")
_REFUSED, _NO_HOST = 5, 4


def socks5(seen: list[str], *, login: tuple[str, str] | None = None) -> Behaviour:
    """Notes as ``host:port`` what it is asked for; refuses as SOCKS does."""

    def behave(client: socket.socket) -> None:
        _greet(client, login)
        head = _read(client, 4)
        host = _socks_host(client, head[3])
        (port,) = struct.unpack("!H", _read(client, 2))
        seen.append(f"{host}:{port}")
        try:
            server = socket.create_connection((host, port), 10)
        except OSError as error:
            code = _NO_HOST if isinstance(error, socket.gaierror) else _REFUSED
            client.sendall(bytes([5, code, 0, 1]) + bytes(6))
            return
        client.sendall(b"\5\0\0\1" + bytes(6))
        relay(client, server)

    return behave


def http(seen: list[str], *, login: tuple[str, str] | None = None) -> Behaviour:
    """Notes the first line of what it is asked for; for CONNECT a tunnel, else it asks in its own name."""

    def behave(client: socket.socket) -> None:
        asked = targets.read_request(client)
        if not asked:
            return
        line = asked.split(b"\r\n")[0].decode()
        seen.append(line)
        if login is not None and _basic(login) not in asked:
            client.sendall(b"HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
            return
        method, where, _ = line.split(" ")
        host, _, port = where.removeprefix("http://").partition("/")[0].rpartition(":")
        try:
            server = socket.create_connection((host.strip("[]"), int(port)), 10)
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Connected\r\nX-Proxy: yes\r\n\r\n")
        else:
            server.sendall(asked)
        relay(client, server)

    return behave


def relay(client: socket.socket, server: socket.socket) -> None:
    """Until both have ended, or one is reset."""
    # select() itself refuses descriptors from 1,024 on.
    with server, selectors.DefaultSelector() as readable:
        readable.register(client, selectors.EVENT_READ, server)
        readable.register(server, selectors.EVENT_READ, client)
        try:
            while readable.get_map():
                for key, _ in readable.select():
                    source, sink = cast("socket.socket", key.fileobj), key.data
                    data = source.recv(65_536)
                    if data:
                        sink.sendall(data)
                    else:
                        readable.unregister(source)
                        sink.shutdown(socket.SHUT_WR)
        except (ConnectionResetError, BrokenPipeError):
            for one in (client, server):
                with suppress(OSError):
                    targets.reset(one)


def _greet(client: socket.socket, login: tuple[str, str] | None) -> None:
    _, count = _read(client, 2)
    methods = _read(client, count)
    if login is None:
        client.sendall(b"\5\0")
        return
    if 2 not in methods:
        client.sendall(b"\5\xff")
        raise ConnectionAbortedError
    client.sendall(b"\5\2")
    given = tuple(_read(client, _read(client, at)[-1]).decode() for at in (2, 1))
    client.sendall(b"\1\0" if given == login else b"\1\1")
    if given != login:
        raise ConnectionAbortedError


def _socks_host(client: socket.socket, kind: int) -> str:
    match kind:
        case 1:
            return socket.inet_ntoa(_read(client, 4))
        case 4:
            return socket.inet_ntop(socket.AF_INET6, _read(client, 16))
        case _:
            return _read(client, _read(client, 1)[0]).decode()


def _read(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise ConnectionAbortedError
        data += part
    return data


def _basic(login: tuple[str, str]) -> bytes:
    return b"Proxy-Authorization: Basic " + b64encode(":".join(login).encode()) + b"\r\n"
