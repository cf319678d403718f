"""A server of HTTP/3 on loopback, by aioquic, in a thread of its own."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration

from tests.probe.net.zoo import HERE, Issued

# What a server does once it has the headers of a request: with its HTTP, its connection and the stream.
Deed = Callable[[H3Connection, "Protocol", int], None]
Headers = list[tuple[bytes, bytes]]


class Protocol(QuicConnectionProtocol):
    """One client."""

    deed: Deed
    seen: list[Headers]
    protocols = H3_ALPN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._http = H3Connection(self._quic)

    def quic_event_received(self, event: Any) -> None:
        for h3_event in self._http.handle_event(event):
            if isinstance(h3_event, HeadersReceived):
                self.seen.append(h3_event.headers)
                self.deed(self._http, self, h3_event.stream_id)
                self.transmit()


def says(status: int = 200, body: bytes = b"ok", *fields: tuple[bytes, bytes], end: bool = True) -> Deed:
    def deed(http: H3Connection, _client: Protocol, stream: int) -> None:
        http.send_headers(stream, [(b":status", str(status).encode()), *fields])
        http.send_data(stream, body, end)

    return deed


def resets(code: int) -> Deed:
    return lambda _http, client, stream: client._quic.reset_stream(stream, code)


def closes(code: int) -> Deed:
    return lambda _http, client, _stream: client.close(code)


def is_silent(_http: H3Connection, _client: Protocol, _stream: int) -> None:
    """Says nothing more."""


@contextmanager
def h3_server(
    deed: Deed, leaf: Issued, *chain: Issued, protocols: list[str] | None = None
) -> Iterator[tuple[int, list[Headers]]]:
    """The port, and the headers of each request."""
    seen: list[Headers] = []

    class Client(Protocol):
        pass

    Client.deed, Client.seen = staticmethod(deed), seen
    configuration = QuicConfiguration(is_client=False, alpn_protocols=protocols or H3_ALPN)
    with tempfile.NamedTemporaryFile() as pem, tempfile.NamedTemporaryFile() as key:
        pem.write(leaf.pem + b"".join(one.pem for one in chain))
        pem.flush()
        key.write(leaf.key_pem)
        key.flush()
        configuration.load_cert_chain(pem.name, key.name)
    ready, port = threading.Event(), [0]
    loop = asyncio.new_event_loop()

    async def run() -> None:
        server = await serve(HERE, 0, configuration=configuration, create_protocol=Client)
        assert server._transport is not None
        port[0] = server._transport.get_extra_info("sockname")[1]
        ready.set()
        await stop.wait()
        server.close()
        await asyncio.sleep(0)

    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield port[0], seen
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
