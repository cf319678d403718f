"""Bad HTTP/2, bad protobuf, bad hellos at the port for probes: refused soon, and a probe beside goes on."""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from structlog.testing import capture_logs

from collector.platform.storage.db import Db
from collector.probes.core import authority
from collector.probes.service import enrolment, join_tokens
from collector.probes.sessions import batches, certificates, link, sessions
from collector.probes.sessions import hello as hellos
from probe.link.credentials import Credentials
from shared import join_tokens as join_token_texts
from shared import pki
from shared.clock import utc_now
from shared.wire import convert
from shared.wire.v1 import probe_pb2
from tests.grpc_bytes import PREFACE, call, called, frame, header
from tests.hostile.fuzzing import Campaign, Parser, Violation, fuzz
from tests.pki import channel as channel_to
from tests.probes.peer import Collector, collecting, connected, enrolled, hello, sealed, spooled

pytestmark = [pytest.mark.races]

SECONDS: Final = float(os.environ.get("TOCSIN_TEST_FUZZ_S", "0"))
# Between two messages of a stream.
TURN: Final = b"\x1d\x1d"
_PATIENCE_S: Final = 0.1
_WITHIN: Final = [sessions, link, batches, hellos, certificates, enrolment, join_tokens, authority, convert]
# What a caller may hear. INTERNAL is the library's word for what is no message; UNKNOWN would be a defect.
_CODES: Final = frozenset(grpc.StatusCode) - {grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS}


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as made:
        yield made


def hello_message() -> bytes:
    said = hello(spooled=[spooled(7, 1, 5)])
    return probe_pb2.FromProbe(sent_us=1, hello=said).SerializeToString()


def messages() -> list[bytes]:
    vitals = probe_pb2.Vitals(wall_us=1)
    return [
        hello_message(),
        probe_pb2.FromProbe(sent_us=2, vitals=vitals).SerializeToString(),
        probe_pb2.FromProbe(sent_us=3, batch=sealed(1)).SerializeToString(),
    ]


async def beside(collector: Collector, name: str, parser: Parser) -> tuple[Campaign, Violation | None]:
    """Fuzz while a probe has a session, which must go on; nothing may be logged as a defect."""
    async with connected(collector, hello()) as peer:
        with capture_logs() as logs:
            campaign, violation = await fuzz(name, parser, seconds=SECONDS)
        await peer.say(batch=sealed(1, incarnation=7))
        await peer.hear_until(lambda: peer.acked)
    assert [entry for entry in logs if entry["log_level"] in {"error", "critical"}] == []
    if SECONDS:
        sys.stderr.write(f"{name}: {campaign.tried} inputs, {len(campaign.reached)} steps between lines\n")
    return campaign, violation


def tls(mine: Credentials, directory: Path) -> ssl.SSLContext:
    """Of a client that has a certificate, and no interest in that of the server."""
    for name, data in (("key", mine.key), ("certificate", mine.certificate)):
        (directory / name).write_bytes(data)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(directory / "certificate", directory / "key")
    context.set_alpn_protocols(["h2"])
    return context


@pytest.mark.timeout(SECONDS + 120)
async def test_any_frames_are_refused_and_a_probe_beside_goes_on(
    collector: Collector, tmp_path: Path
) -> None:
    context = tls(await enrolled(collector, hello()), tmp_path)

    async def send(data: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", collector.port, ssl=context)
        try:
            with suppress(OSError, TimeoutError):
                writer.write(data)
                await writer.drain()
                async with asyncio.timeout(_PATIENCE_S):
                    while await reader.read(65_536):
                        pass
        finally:
            writer.transport.abort()

    seeds = [
        call(b"/shared.wire.v1.ProbeLink/Session", *messages()),
        call(
            b"/shared.wire.v1.Enrolment/Enrol", probe_pb2.EnrolRequest(secret=b"x" * 32).SerializeToString()
        ),
        PREFACE + frame(4, 0, 0, b"\0\3\0\0\0\x64\0\4\0\0\xff\xff") + frame(6, 0, 0, bytes(8)),
    ]
    words = [
        PREFACE, frame(4, 1, 0, b""), frame(6, 0, 0, bytes(8)), frame(8, 0, 0, b"\x7f\xff\xff\xff"),
        frame(3, 0, 1, bytes(4)), frame(9, 0, 1, b"\0\1a\1b"), frame(7, 0, 0, bytes(8)),
        frame(2, 0, 1, bytes(5)),
        frame(5, 4, 1, bytes(4)), b"\xff\xff\xff", header(b"grpc-encoding", b"gzip"), b"\x82\x86\x84",
    ]  # fmt: skip
    parser = Parser(send, seeds, _WITHIN, words=words, slowest_s=0.5, inputs=60)

    _, violation = await beside(collector, "gRPC frames", parser)

    assert violation is None, violation


@pytest.mark.parametrize("path", [b"/shared.wire.v1.Enrol\xffment/Enrol", b"/\xf2", b"/no.such.Service/Call"])
async def test_a_path_that_is_none_ends_neither_the_port_nor_a_session(
    collector: Collector, tmp_path: Path, path: bytes
) -> None:
    context = tls(await enrolled(collector, hello()), tmp_path)
    async with connected(collector, hello()) as peer:
        await called(*await asyncio.open_connection("127.0.0.1", collector.port, ssl=context), path)
        await peer.say(batch=sealed(1, incarnation=7))
        await peer.hear_until(lambda: peer.acked)
    async with connected(collector, hello()):
        pass


def raw(collector: Collector, mine: Credentials, method: str) -> Callable[[bytes], Awaitable[None]]:
    """Send the messages of an input on a stream of its own, and take what the collector says to them."""

    async def send(data: bytes) -> None:
        async with channel_to(collector.port, mine) as channel:
            stream: Any = channel.stream_stream(method)()
            code = None
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    for message in data.split(TURN):
                        await stream.write(message)
                    await stream.done_writing()
                    while await stream.read() is not grpc.aio.EOF:
                        pass
                    code = await stream.code()
            except grpc.aio.AioRpcError as error:
                code = error.code()
            except (TimeoutError, asyncio.InvalidStateError):
                stream.cancel()
        assert code is None or code in _CODES, code

    return send


@pytest.mark.timeout(SECONDS + 120)
async def test_any_messages_of_a_probe_are_refused_in_words_and_another_goes_on(collector: Collector) -> None:
    mine = await enrolled(collector, hello())
    parser = Parser(
        raw(collector, mine, "/shared.wire.v1.ProbeLink/Session"),
        [TURN.join(messages()), hello_message()],
        _WITHIN,
        words=[
            TURN,
            b"\x12\x00",
            b"\x1a\x00",
            b"\x22\x00",
            b"\x2a\x00",
            b"\x32\x00",
            b"\x0a\x02eu",
            bytes(16),
        ],
        slowest_s=0.5,
        inputs=60,
    )

    _, violation = await beside(collector, "messages of probes", parser)

    assert violation is None, violation


@pytest.mark.timeout(SECONDS + 120)
async def test_any_request_for_a_certificate_is_refused_in_words(collector: Collector) -> None:
    """The one call for which a token is enough."""
    mine = await enrolled(collector, hello())
    async with collector.db.transaction() as tx:
        _, text = await join_tokens.issue(
            tx, collector.credentials.trust, locations=("eu",), team_id=None, now=utc_now(), uses=100
        )
    secret, csr = join_token_texts.read(text).secret, pki.request(pki.new_key())
    request = probe_pb2.EnrolRequest(secret=secret, csr=csr, name="probe", locations=["eu"])
    parser = Parser(
        raw(collector, mine, "/shared.wire.v1.Enrolment/Enrol"),
        [request.SerializeToString()],
        _WITHIN,
        words=[b"\x0a\x20", b"\x12\x04", b"\x22\x02eu", b"\x30\x82", b"\0"],
        slowest_s=0.5,
        inputs=40,
    )

    _, violation = await beside(collector, "requests for certificates", parser)

    assert violation is None, violation
