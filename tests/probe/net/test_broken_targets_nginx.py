"""What the probe says of a real nginx that is set up wrong."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.ports import free_port
from tests.probe.net.zoo import DAY, HERE, MIDDLE, ROOT, Issued, issue
from tests.probe.targets import shut_port

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") or shutil.which("nginx")
pytestmark = [pytest.mark.races, pytest.mark.skipif(NGINX is None, reason="nginx is not installed")]

CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    client_max_body_size 1k; gzip on; gzip_types *; gzip_min_length 1;
    server {{
        listen {here}:{plain};
        location = / {{ return 200 "well"; }}
        location = /drop {{ return 444; }}
        location = /gone {{ proxy_pass http://{here}:{shut}; }}
        location = /slow {{ limit_rate_after 500; limit_rate 1; return 200 "{long}"; }}
        location = /loop {{ return 301 /loop; }}
        location = /teapot {{ return 418; }}
        location = /post {{ proxy_pass http://{here}:{shut}; }}
    }}
    server {{
        listen {here}:{good} ssl; ssl_certificate {folder}/good.pem; ssl_certificate_key {folder}/good.key;
        location / {{ return 200 "well"; }}
    }}
    server {{
        listen {here}:{expired} ssl; ssl_certificate {folder}/expired.pem;
        ssl_certificate_key {folder}/expired.key;
    }}
    server {{
        listen {here}:{alone} ssl; ssl_certificate {folder}/alone.pem; ssl_certificate_key {folder}/alone.key;
    }}
    server {{
        listen {here}:{mutual} ssl; ssl_certificate {folder}/good.pem; ssl_certificate_key {folder}/good.key;
        ssl_client_certificate {folder}/root.pem; ssl_verify_client on;
        location / {{ return 200 "well"; }}
    }}
    server {{
        listen {here}:{reject} ssl; ssl_reject_handshake on;
    }}
}}
"""
PORTS = ("plain", "good", "expired", "alone", "mutual", "reject")


def free_ports() -> dict[str, int]:
    found: set[int] = set()
    while len(found) < len(PORTS):
        found.add(free_port())
    return dict(zip(PORTS, found, strict=True))


def write(folder: Path, name: str, leaf: Issued, *chain: Issued) -> None:
    (folder / f"{name}.key").write_bytes(leaf.key_pem)
    (folder / f"{name}.pem").write_bytes(leaf.pem + b"".join(one.pem for one in chain))


def wait_for(port: int) -> None:
    for _ in range(200):
        with suppress(ConnectionRefusedError), socket.create_connection((HERE, port), 1):
            return
        time.sleep(0.02)
    raise TimeoutError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "root.pem").write_bytes(ROOT.pem)
    write(folder, "good", issue("leaf", MIDDLE), MIDDLE)
    write(folder, "expired", issue("leaf", MIDDLE, ends=-3 * DAY), MIDDLE)
    write(folder, "alone", issue("leaf", MIDDLE))
    return folder


@pytest.fixture(scope="module")
def ports(folder: Path) -> Iterator[dict[str, int]]:
    with shut_port() as shut:
        ports = free_ports()
        config = CONFIG.format(folder=folder, here=HERE, shut=shut, long="x" * 3000, **ports)
        (folder / "nginx.conf").write_text(config)
        command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "user root;"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                wait_for(ports["plain"])
                yield ports
            finally:
                process.terminate()


@dataclass(frozen=True)
class Row:
    does: str
    url: str
    error: str
    body: str | None = None


ROWS = [
    Row(
        "drops",
        "http://{here}:{plain}/drop",
        "first byte: connection closed by {here}:{plain} without an answer",
    ),
    Row("has no upstream", "http://{here}:{plain}/gone", "status 502, expected 200-299"),
    Row("is slow", "http://{here}:{plain}/slow", "body: not complete within 0.8 s"),
    Row("loops", "http://{here}:{plain}/loop", "redirect: more than 10"),
    Row("has no such page", "http://{here}:{plain}/none", "status 404, expected 200-299"),
    Row("has another status", "http://{here}:{plain}/teapot", "status 418, expected 200-299"),
    Row("finds it too large", "http://{here}:{plain}/post", "status 413, expected 200-299", "x" * 200_000),
    Row("wants TLS", "http://{here}:{good}/", "status 400, expected 200-299"),
    Row("has none", "https://{here}:{plain}/", "tls: handshake failed: {here}:{plain} does not speak TLS"),
    Row("has let it expire", "https://{here}:{expired}/", "tls: certificate expired 3 days ago"),
    Row(
        "does not send its chain",
        "https://{here}:{alone}/",
        "tls: chain is incomplete: issuer Zoo Middle was not sent, and is no trusted authority itself",
    ),
    Row("wants a certificate", "https://{here}:{mutual}/", "status 400, expected 200-299"),
    Row(
        "rejects the handshake",
        "https://{here}:{reject}/",
        "tls: handshake failed: the server does not know this host",
    ),
]


async def check(url: str, folder: Path, **config: str) -> Outcome:
    net = Net(ca_file=folder / "root.pem")
    try:
        kind = Http(url=url, **config)  # type: ignore[arg-type]
        return (await run(CHECKS["http"](kind), net, 0.8)).outcome
    finally:
        net.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.does)
async def test_says_what_is_wrong_with_an_nginx_that(row: Row, ports: dict[str, int], folder: Path) -> None:
    config = {"method": "POST", "body": row.body} if row.body else {}
    outcome = await check(row.url.format(here=HERE, **ports), folder, **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error.format(here=HERE, **ports))


@pytest.mark.parametrize("url", ["http://{here}:{plain}/", "https://{here}:{good}/"])
async def test_is_content_with_an_nginx_that_is_well(url: str, ports: dict[str, int], folder: Path) -> None:
    outcome = await check(url.format(here=HERE, **ports), folder)

    assert (outcome.status, outcome.error) == (Status.UP, "")
