"""What targets and name servers send to probes, and what teams write that probes run: its parsers."""

import gzip
import json
import ssl
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import brotli
from cryptography.hazmat.primitives.serialization import Encoding

import shared.json_query
from probe.net import assertions, bodies, http1, json_body
from probe.net.assertions import CheckAnswer, compile_assertions
from probe.net.bodies import Body
from probe.net.dns import message
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.net.json_body import NotJson, TooManyValues
from probe.net.tls import certificates
from probe.net.tls.certificates import Case
from probe.web3 import decode, values
from probe.web3.rpc import NodeFault
from shared import ids, join_tokens, json_paths, net, patterns, tokens, url_secrets
from shared.assertions import Assertion, Op
from shared.effort import Meter, TooCostly
from shared.kinds.web3 import abi
from shared.wire import convert
from shared.wire.convert import BadBatch, Batch, Gap
from tests.hostile.fuzzing import Parser
from tests.probe.net.zoo import MIDDLE, ROOT

MOST: Final = 2_000
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


def text_of(data: bytes) -> str:
    """Any bytes as text."""
    return data.decode("utf-8", "replace")


def http(data: bytes) -> None:
    """Feed a response in two pieces, of which the first byte says where the first ends."""
    body = Body(MOST)
    reply = HttpReply(head=False, most=MOST, body=body, headers=[])
    cut = data[0] if data else 0
    pieces = filter(None, (data[1 : cut + 1], data[cut + 1 :]))
    if not any(reply.feed(piece) for piece in pieces):
        reply.end("peer")
    assert len(body.data) <= MOST
    assert 0 <= reply.code <= 999


def packed(data: bytes) -> None:
    """Unpack in three pieces; the first byte names the encoding."""
    body = Body(MOST)
    body.begin(("gzip", "deflate", "br", "identity")[data[0] % 4 if data else 3])
    for at in range(1, len(data), 1_000):
        if body.feed(data[at : at + 1_000]):
            break
    body.end()
    assert len(body.data) <= MOST


def dns(data: bytes) -> None:
    asked = message.question("example.com", 1)
    message.answers(data, asked)
    for record in message.read(data).records:
        assert record.data.isascii()


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A certificate as OpenSSL gives those of a peer."""

    info: dict[str, Any]

    def get_info(self) -> dict[str, Any]:
        return self.info


def certificate(data: bytes) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=data)
    chain = certificates.read([_Loaded(dict(info)) for info in context.get_ca_certs()])
    for code in range(100):
        text = certificates.words(code, Case(chain, "example.com", 1.8e9, "reason"))
        assert text.isprintable()


def json_path(data: bytes) -> None:
    """A path, and after NUL the document."""
    written, _, body = data.partition(b"\0")
    wanted = text_of(written)[:4_000]
    fault = json_paths.fault(wanted)
    if fault == "must be a JSONPath":
        return
    find = json_paths.path(wanted)
    if not fault:
        assert len(find(json_body.document(body), Meter())) <= json_paths.MOST_FOUND


def pattern(data: bytes) -> None:
    """A pattern, and after NUL the text that it searches."""
    written, _, text = data.partition(b"\0")
    patterns.is_wanted(text_of(written))
    patterns.regex(text_of(written)).metered(text_of(text) * 200, Meter())


OPERATORS: Final[Sequence[Op]] = ("eq", "ne", "contains", "notContains", "matches", "exists", "gt", "le")


def asserted(data: bytes) -> None:
    """An operator, a value, and after NUL the JSON document that is compared with it."""
    value, _, body = data[1:].partition(b"\0")
    op = OPERATORS[data[0] % len(OPERATORS) if data else 0]
    judge = compile_assertions([Assertion(source="json", path="$", op=op, value=text_of(value))])
    words = judge(CheckAnswer(200, (), body, 1.0, None), Meter())
    assert not words or words.startswith("assertion failed: ")


def event_of_abi(data: bytes) -> None:
    """The declaration of an event, and after NUL the data of a log of it."""
    written, _, log = data.partition(b"\0")
    text = text_of(written)
    event = abi.event_of(text, "E") if text.startswith("[") else abi.event_of(None, text)
    assert len(event.signature) < 100 * len(written) + 100
    decode.decoded(event.inputs, log)


def values_of_nodes(data: bytes) -> None:
    value = json_body.document(data)
    for read in (values.quantity, values.data, values.hash32, values.block, values.result):
        with suppress(NodeFault):
            read(value, "answer")
    with suppress(NodeFault):
        values.words(value, 2, "answer")


def words(data: bytes) -> None:
    """Ids, tokens, addresses and URLs."""
    text = text_of(data)
    ids.read("mon", text)
    tokens.checksum_ok(text)
    url_secrets.masked(text)
    url_secrets.restored(text, "https://example.com/?key=secret")
    list(url_secrets.query_secrets(text))
    with suppress(ValueError):
        join_tokens.read(text)
    with suppress(ValueError):
        net.refusal(text, allow_private=False)


def batch() -> Batch:
    return Batch(
        1, 5, 5, "boot", 10, 20,
        monitor=[1, 2], location=[1, 1], assignment=[1, 1], revision=[1, 1], run=[1, 1],
        start_us=[0, 1], duration_us=[5, 6], outcome=[1, 2], code=[200, 0], phases=[b"", b"\1\2"],
        error=[0, 1], errors=["refused"], state={0: b"state"},
    )  # fmt: skip


EVENT: Final = json.dumps(
    [
        {
            "type": "event",
            "name": "E",
            "inputs": [
                {"type": "address", "name": "a", "indexed": True},
                {"type": "tuple[2][]", "name": "t", "components": [{"type": "string"}, {"type": "int8"}]},
            ],
        }
    ]
).encode()
GAP: Final = convert.encode(Batch(1, 2, 4, "boot", 10, 20, gap=Gap(3, "full")))
ANSWER: Final = (
    b"\0\1\x81\x80\0\1\0\2\0\0\0\0\7example\3com\0\0\1\0\1"
    b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1\xc0\x0c\0\x10\0\1\0\0\0\x3c\0\6\5hello"
)
OTHER_ANSWER: Final = (
    b"\0\1\x81\x80\0\0\0\3\0\0\0\0\xc0\x0c\0\6\0\1\0\0\0\1\0\x16\0\0" + bytes(20)
    + b"\0\0\x21\0\1\0\0\0\1\0\7\0\1\0\2\0\3\0\0\1\1\0\1\0\0\0\1\0\7\0\5issue"
)  # fmt: skip
PARSERS: Final[Mapping[str, Parser]] = {
    "HTTP answers": Parser(
        http,
        [
            b"\x20" + CHUNKED,
            b"\x05HTTP/1.0 302 Found\r\nLocation: /x\r\nContent-Length: 2\r\n\r\nok",
            b"\x40HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
            + gzip.compress(b"hello"),
        ],
        [http1, bodies],
        (TargetError,),
        [
            b"\r\n",
            b"Content-Length: 5\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Connection: close\r\n",
            b": ",
            b";",
        ],
    ),
    "packed bodies": Parser(
        packed,
        [
            b"\0" + gzip.compress(b"x" * 900),
            b"\1" + zlib.compress(b"x" * 900),
            b"\2" + brotli.compress(b"x" * 900),
        ],
        [bodies],
    ),
    "DNS": Parser(
        dns,
        [ANSWER, OTHER_ANSWER],
        [message],
        (message.MalformedMessage,),
        [b"\xc0\x0c", b"\0\x0f", b"\x01\x01"],
    ),
    "certificates": Parser(
        certificate,
        [one.certificate.public_bytes(Encoding.DER) for one in (ROOT, MIDDLE)],
        [certificates],
        (ssl.SSLError, ValueError),
        [
            b"\x30\x80",
            b"\x17\x0d491231235959Z",
            b"\x18\x0f99991231235959Z",
            b"\x06\x03\x55\x04\x03",
            b"\x13\x00",
        ],
        slowest_s=0.5,
    ),
    "JSONPath": Parser(
        json_path,
        [
            b'$.a[0].b\0{"a":[{"b":1}]}',
            b"$..[?@.a > 1 && match(@.b, 'x.*')]['a','b'][::2]\0[{\"a\":2,\"b\":\"xy\"}]",
        ],
        [json_paths, shared.json_query],
        (ValueError, TooCostly, NotJson, TooManyValues),
        [
            b"..",
            b"[*]",
            b"[?",
            b"]",
            b"@",
            b"$",
            b"count(",
            b"length(",
            b"value(",
            b")",
            b"!",
            b"==",
            b"'",
            b"[[",
        ],
    ),
    "patterns": Parser(
        pattern,
        [b"a+(b|c)*\0aabbcc", b"=~(?i)^\\d{2,5}[x-z]$\0123", b"(x+x+)+y\0xxxx"],
        [patterns],
        (ValueError, TooCostly),
        [b"(", b")", b"*", b"{1000}", b"[^", b"\\p{L}", b"(?P<n>", b"|", b"\\Q", b".*"],
        slowest_s=1.0,
    ),
    "assertions": Parser(
        asserted,
        [b"\0" + b"5\0" + b'{"a": [1, "x", null]}', b'\2x\0["x", 1.5e3]', b"\6" + b"1\0" + b"17"],
        [assertions],
        (ValueError, TooCostly, TooManyValues),
        [b"[", b"]", b'{"a":', b"}", b"1e308", b"-0", b'"', b"null", b",", b"[" * 300, b"\0"],
    ),
    "events of an ABI": Parser(
        event_of_abi,
        [
            EVENT + b"\0" + bytes(31) + b"\x20" + bytes(96),
            b"E(address indexed a, (int8,string)[] b, bytes32[3][2] c)\0" + bytes(400),
        ],
        [abi, decode],
        (ValueError,),
        [
            b"[]",
            b"[2]",
            b"[0]",
            b"(",
            b")",
            b",",
            b"uint256",
            b"tuple",
            b'"components":[',
            bytes(31) + b"\x20",
        ],
    ),
    "values of nodes": Parser(
        values_of_nodes,
        [
            b'"0x1f"',
            b'{"number":"0x1","hash":"0x'
            + b"a" * 64
            + b'","parentHash":"0x'
            + b"b" * 64
            + b'","timestamp":"0x5"}',
        ],
        [values],
        (NotJson, TooManyValues),
        [b'"0x', b"null", b"[", b"{", b'"number":', b'"timestamp":', b"_", b"+"],
    ),
    "batches of probes": Parser(convert.decode, [convert.encode(batch()), GAP], [convert], (BadBatch,)),
    "ids, tokens and URLs": Parser(
        words,
        [
            b"mon_01h455vb4pex5vsknk084sn02q",
            b"toc_" + b"a" * 40,
            b"https://u:p@example.com:8443/x?api_key=1&b#f",
            b"::ffff:127.0.0.1",
            b"64:ff9b::1",
        ],
        [ids, tokens, url_secrets, join_tokens, net],
        words=[b"://", b"@", b"[", b"]", b"%", b"?token=", b"%00", b"::"],
    ),
}
