"""HTTP/2 over TLS and, between those who both know, without: good answers, and each way to fail at one."""

import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shared.assertions import Assertion
from shared.results import Status
from tests.probe import targets
from tests.probe.net import h2_server as h2
from tests.probe.net.curl_check import check
from tests.probe.net.h2_server import END_HEADERS, END_STREAM, HEADERS, STREAM, answers, data, ends, field
from tests.probe.net.test_broken_targets_nginx import NGINX, wait_for, write
from tests.probe.net.zoo import HERE, MIDDLE, ROOT, issue
from tests.probe.targets import Behaviour, over_tls, says, target

pytestmark = pytest.mark.races

LEAF = issue("leaf", MIDDLE)
CLIENT = issue("probe.example.com", MIDDLE)
PAIR: dict[str, Any] = {
    "client_cert": (CLIENT.pem + MIDDLE.pem).decode(),
    "client_key": CLIENT.key_pem.decode(),
}


@pytest.fixture(scope="module")
def context() -> ssl.SSLContext:
    return h2.context(LEAF, MIDDLE)


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "root.pem"
    path.write_bytes(ROOT.pem)
    return path


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(answers(h2.headers(), data(b"ok")), id="sends a body"),
        pytest.param(
            answers(h2.headers(200, field("content-length", "2")), data(b"ok")), id="says its length"
        ),
        pytest.param(answers(h2.headers(204, end=True)), id="has no body"),
        pytest.param(
            answers(h2.headers(), data(b"ok", end=False), h2.frame(HEADERS, 5, STREAM, field("x", "y"))),
            id="sends trailers",
        ),
        pytest.param(answers(h2.goes_away(0, STREAM), h2.headers(), data(b"ok")), id="goes away after it"),
        pytest.param(answers(h2.frame(h2.PING, 0, 0, bytes(8)), h2.headers(), data(b"ok")), id="pings"),
    ],
)
@pytest.mark.parametrize("secure", [True, False], ids=["TLS", "plain"])
async def test_is_content_with_a_server_that(
    behave: Behaviour, secure: bool, context: ssl.SSLContext, ca_file: Path
) -> None:
    with target(over_tls(context, behave) if secure else behave) as server:
        scheme = "https" if secure else "http"
        outcome = await check(f"{scheme}://{server.peer}/", ca_file=ca_file, http_version="2")

    assert (outcome.status, outcome.error) == (Status.UP, "")
    phases = outcome.phases
    assert None not in (phases.connect_us, phases.first_byte_us, phases.transfer_us)
    assert (phases.tls_us is None) == (not secure)
    assert (outcome.ends is None) == (not secure)


@dataclass(frozen=True)
class Row:
    does: str
    behave: Behaviour
    error: str
    code: int = 0
    timeout_s: float = 5.0


SILENT = "first byte: no answer within 0.3 s"
ROWS = [
    Row("answers 500", answers(h2.headers(500, end=True)), "status 500, expected 200-299", 500),
    Row("refuses the stream", answers(h2.resets(7)), "http: the server refused the request unprocessed"),
    Row("wants HTTP/1.1", answers(h2.resets(13)), "http: the server refused the request unprocessed"),
    Row(
        "resets the stream", answers(h2.resets(2)), "first byte: stream reset by the server (INTERNAL_ERROR)"
    ),
    Row(
        "closes the stream",
        answers(h2.resets(0)),
        "first byte: stream closed by the server without an answer",
    ),
    Row(
        "resets the stream in the body",
        answers(h2.headers(), data(b"o", end=False), h2.resets(8)),
        "body: stream reset by the server (CANCEL)",
        200,
    ),
    Row("goes away", answers(h2.goes_away(0)), "http: the server refused the request unprocessed"),
    Row(
        "goes away in anger",
        answers(h2.goes_away(11)),
        "first byte: given up by the server (ENHANCE_YOUR_CALM)",
    ),
    Row("closes", answers(then=ends), "first byte: connection closed by {peer} without an answer"),
    Row("resets", answers(then=targets.reset), "first byte: connection reset by {peer}"),
    Row(
        "closes after the headers",
        answers(h2.headers(), then=ends),
        "body: connection closed by {peer} before its end",
        200,
    ),
    Row(
        "closes in the body",
        answers(h2.headers(), data(b"o", end=False), then=ends),
        "body: connection closed by {peer} before its end",
        200,
    ),
    Row(
        "closes in a body whose length it said",
        answers(h2.headers(200, field("content-length", "9")), data(b"o", end=False), then=ends),
        "body: connection closed after 1 of 9 bytes",
        200,
    ),
    Row(
        "sends less than it said",
        answers(h2.headers(200, field("content-length", "9")), data(b"ok")),
        "body: not as long as was said",
        200,
    ),
    Row("is silent", answers(), SILENT, timeout_s=0.3),
    Row("never begins", targets.stall, SILENT, timeout_s=0.3),
    Row(
        "stalls in the body",
        answers(h2.headers(), data(b"o", end=False)),
        "body: not complete within 0.3 s",
        200,
        0.3,
    ),
    Row("answers in HTTP/1.1", says(b"HTTP/1.1 400 Bad\r\n\r\n"), "http: the server does not speak HTTP/2"),
    Row(
        "sends a frame that is too long",
        answers(h2.frame(h2.DATA, 0, STREAM, bytes(20_000)), then=ends),
        "http: HTTP/2 of the server is malformed (FRAME_SIZE_ERROR)",
    ),
    Row(
        "garbles its headers",
        answers(h2.frame(HEADERS, END_HEADERS | END_STREAM, STREAM, b"\xff" * 6), then=ends),
        "http: HTTP/2 of the server is malformed (COMPRESSION_ERROR)",
    ),
    Row(
        "has no status",
        answers(h2.frame(HEADERS, END_HEADERS | END_STREAM, STREAM, field("a", "b"))),
        "headers: malformed",
    ),
    Row("has a bad header", answers(h2.headers(200, field("A B", "c"), end=True)), "headers: malformed"),
    Row(
        "frames as HTTP/1.1 does",
        answers(h2.headers(200, field("transfer-encoding", "chunked")), data(b"0\r\n\r\n")),
        "headers: malformed",
    ),
    Row(
        "has headers without end",
        answers(
            h2.frame(HEADERS, 0, STREAM, h2.STATUS[200]),
            *[h2.frame(h2.CONTINUATION, 0, STREAM, field("x-a", "b" * 300) * 50)] * 20,
            then=ends,
        ),
        "headers: more than 64 KiB of headers",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.does)
async def test_says_what_is_wrong_with_a_server_that(row: Row) -> None:
    with target(row.behave) as server:
        outcome = await check(server.url, row.timeout_s, http_version="2")

    expected = row.error.format(peer=server.peer)
    assert (outcome.status, outcome.error, outcome.code) == (Status.DOWN, expected, row.code)
    assert outcome.phases.connect_us is not None


@pytest.mark.parametrize("protocols", [["http/1.1"], ["spdy/3"]], ids=lambda names: names[0])
async def test_a_server_that_agrees_to_http_1_only_is_named(protocols: list[str], ca_file: Path) -> None:
    with target(over_tls(h2.context(LEAF, MIDDLE, protocols=protocols), says(targets.OK))) as server:
        outcome = await check(f"https://{server.peer}/", ca_file=ca_file, http_version="2")

    assert outcome.error == "http: the server answers in HTTP/1.1, not in HTTP/2"


async def test_what_was_seen_of_a_bad_answer_is_kept_without_secrets() -> None:
    behave = answers(h2.headers(500, field("x-token", "abc"), field("server", "it")), data(b"no: s3cr3t-key"))
    with target(behave) as server:
        outcome = await check(server.url, http_version="2", headers={"X-Key": "s3cr3t-key"})

    assert outcome.evidence is not None
    seen = outcome.evidence()
    assert seen.address == server.peer
    assert seen.headers == (("x-token", "[redacted]"), ("server", "it"))
    assert seen.body == "no: [redacted]"


@pytest.mark.parametrize(
    ("assertion", "error"),
    [
        (Assertion(source="body", op="contains", value="well"), ""),
        (Assertion(source="header", path="x-is", op="eq", value="here"), ""),
        (Assertion(source="status", op="eq", value=404), ""),
        (Assertion(source="certificateDays", op="gt", value=1), ""),
        (Assertion(source="certificateDays", op="gt", value=1000), "certificateDays gt 1000, found 59"),
        (Assertion(source="body", op="contains", value="tea"), 'body contains "tea", found "all is well"'),
    ],
    ids=["body", "header", "status", "days", "too few days", "another body"],
)
async def test_assertions_are_judged(
    assertion: Assertion, error: str, context: ssl.SSLContext, ca_file: Path
) -> None:
    behave = answers(h2.headers(404, field("x-is", "here")), data(b"all is well"))
    with target(over_tls(context, behave)) as server:
        url = f"https://{server.peer}/"
        outcome = await check(
            url, ca_file=ca_file, http_version="2", assertions=[assertion], expected_status=404
        )

    assert (error in outcome.error) if error else (outcome.error == "")
    assert outcome.status is (Status.DOWN if error else Status.UP)


NGINX_CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    map $http_x_key $key {{ default $http_x_key; "" "-"; }}
    map $content_length $length {{ default $content_length; "" "-"; }}
    map $ssl_client_s_dn $client {{ default $ssl_client_s_dn; "" "-"; }}
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; gzip on; gzip_types *; gzip_min_length 1;
    server {{
        listen {here}:{port} ssl http2; ssl_certificate {folder}/good.pem;
        ssl_certificate_key {folder}/good.key; ssl_client_certificate {folder}/root.pem;
        ssl_verify_client optional;
        location = / {{ return 200 "well"; }}
        location = /long {{ return 200 "{long}"; }}
        location = /moved {{ return 302 /; }}
        location = /near {{ return 302 /told; }}
        location = /away {{ return 302 https://localhost:{port}/told; }}
        location = /told {{
            return 200 "$server_protocol $request_method $request_uri $key $length $http_user_agent $client";
        }}
        location = /gone {{ return 404; }}
        location = /mine {{ if ($ssl_client_verify != SUCCESS) {{ return 403; }} return 200 "yours"; }}
    }}
}}
"""


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory, ca_file: Path) -> Iterator[int]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "root.pem").write_bytes(ROOT.pem)
    write(folder, "good", issue("leaf", MIDDLE, hosts=[HERE, "localhost"]), MIDDLE)
    with target(targets.stall) as taken:
        port = taken.port
    (folder / "nginx.conf").write_text(
        NGINX_CONFIG.format(folder=folder, here=HERE, port=port, long="x" * 3_000)
    )
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "user root;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("path", "config", "error"),
    [
        ("/", {}, ""),
        ("/long", {"assertions": [Assertion(source="body", op="contains", value="xxx")]}, ""),
        ("/long", {"max_body_bytes": 10}, ""),
        ("/", {"method": "HEAD"}, ""),
        ("/long", {"method": "HEAD"}, ""),
        ("/moved", {}, ""),
        ("/moved", {"follow_redirects": False}, "status 302, expected 200-299"),
        ("/gone", {}, "status 404, expected 200-299"),
        ("/mine", {}, "status 403, expected 200-299"),
        ("/mine", PAIR, ""),
        ("/mine", {**PAIR, "verify_tls": False}, ""),
        ("/", {"method": "DELETE"}, ""),
        ("/", {"method": "POST"}, ""),
        ("/", {"method": "OPTIONS"}, ""),
    ],
)
async def test_a_real_server_is_understood(
    path: str, config: dict[str, Any], error: str, nginx: int, ca_file: Path
) -> None:
    url = f"https://{HERE}:{nginx}{path}"
    outcome = await check(url, ca_file=ca_file, http_version="2", **config)

    assert outcome.error == error
    assert (outcome.status is Status.UP) == (not error)


async def test_a_real_server_hears_the_request_in_http_2(nginx: int, ca_file: Path) -> None:
    text = "HTTP/2.0 POST /told?a=%20b value 9 Tocsin/"
    config: dict[str, Any] = {
        "method": "POST",
        "body": "all of it",
        "headers": {"X-Key": "value", "Empty": ""},
    }
    outcome = await check(
        f"https://{HERE}:{nginx}/told?a=%20b",
        ca_file=ca_file,
        http_version="2",
        assertions=[Assertion(source="body", op="contains", value=text)],
        **config,
    )

    assert outcome.error == ""


@pytest.mark.parametrize(
    ("path", "told"), [("/near", "value - Tocsin/0 CN=probe.example.com"), ("/away", "- - Tocsin/0 -")]
)
async def test_another_origin_hears_no_secret(path: str, told: str, nginx: int, ca_file: Path) -> None:
    outcome = await check(
        f"https://{HERE}:{nginx}{path}",
        ca_file=ca_file,
        http_version="2",
        headers={"X-Key": "value", "User-Agent": "Tocsin/0"},
        ip_version="4",
        assertions=[Assertion(source="body", op="contains", value=told)],
        **PAIR,
    )

    assert outcome.error == ""
