"""How many checks libcurl does for each second of CPU, and what it weighs: `python -m tests.bench.curl`."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme
import uvloop

from probe.checks import CHECKS
from probe.net.engine import Net
from shared.kinds.http import Http
from tests.bench.engine import _cpu_s, _many
from tests.bench.figures import Figure
from tests.probe.net.test_broken_targets_nginx import NGINX, wait_for
from tests.probe.targets import stall, target

_ROUNDS = 5
_WEIGHING = """
import psutil, sys
import probe.app
from probe.checks import CHECKS
from shared.kinds.http import Http
CHECKS["http"](Http(url="https://example.com/", http_version=sys.argv[1]))
print(psutil.Process().memory_info().rss, "pycurl" in sys.modules)
"""
_CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{
        listen 127.0.0.1:{plain} http2;
        listen 127.0.0.1:{secure} ssl http2;
        ssl_certificate {folder}/target.pem; ssl_certificate_key {folder}/target.pem;
        location / {{ return 200 "well"; }}
    }}
}}
"""


def run() -> Iterator[Figure]:
    """A new connection for each check; and the memory of a probe that has no such monitor, and has one."""
    weights = {version: _weight(version) for version in ("1.1", "2")}
    yield Figure("probe, memory without libcurl", weights["1.1"], "MB")
    yield Figure("probe, memory with libcurl", weights["2"], "MB")
    if NGINX is None:
        return
    home = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder, _nginx(Path(folder)) as (plain, secure, ca_file):
        os.sched_setaffinity(0, {min(home)})
        try:
            for name, url, count, least in (
                ("HTTP/2", f"http://127.0.0.1:{plain}/", 2_000, 3_000),
                ("HTTP/2 over TLS", f"https://127.0.0.1:{secure}/", 500, 600),
            ):
                rate = uvloop.run(_rate(Http(url=url, http_version="2"), count, ca_file))
                yield Figure(f"libcurl {name}", rate, "checks per CPU-second", least)
        finally:
            os.sched_setaffinity(0, home)


def _weight(version: str) -> float:
    lines = subprocess.check_output([sys.executable, "-c", _WEIGHING, version], text=True).split()
    if (lines[1] == "True") != (version != "1.1"):
        raise RuntimeError(f"libcurl is there or not, against expectation: {lines}")
    return int(lines[0]) / 1e6


async def _rate(kind: Http, count: int, ca_file: Path) -> float:
    net = Net(ca_file=ca_file)
    check = CHECKS["http"](kind)
    try:
        await _many(check, net, count // 10)
        rates = []
        for _ in range(_ROUNDS):
            before = _cpu_s()
            await _many(check, net, count)
            rates.append(count / (_cpu_s() - before))
    finally:
        net.close()
    return statistics.median(rates)


@contextmanager
def _nginx(folder: Path) -> Iterator[tuple[int, int, Path]]:
    authority = trustme.CA()
    ca_file = folder / "ca.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "target.pem")
    authority.cert_pem.write_to_path(ca_file)
    with target(stall) as first, target(stall) as second:
        plain, secure = first.port, second.port
    (folder / "nginx.conf").write_text(_CONFIG.format(folder=folder, plain=plain, secure=secure))
    command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "user root;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(secure)
            yield plain, secure, ca_file
        finally:
            process.terminate()


if __name__ == "__main__":
    for figure in run():
        print(figure)
