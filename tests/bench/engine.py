"""How many checks the connection engine does for each second of CPU: `python -m tests.bench.engine`."""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme
import uvloop

from probe.checks import CHECKS, Check
from probe.net.engine import Net
from probe.net.tls.openssl import TrustedChains
from probe.schedule.runner import run as run_check
from shared.kinds import Kind
from shared.kinds.dns import Dns
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.kinds.tls import Tls
from shared.results import Status
from tests.bench.figures import Figure

_ROUNDS = 5
_AT_ONCE = 32
_TIMEOUT_S = 10.0


def run() -> Iterable[Figure]:
    """The figures of the engine alone: a new connection for each check, run as the probe runs it."""
    with tempfile.TemporaryDirectory() as folder, target(Path(folder)) as (plain, secure, ca_file):
        home = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(home)})
        try:
            url = f"http://127.0.0.1:{plain}/"
            yield Figure("engine http", _rate("http", Http(url=url), 6_000), "checks per CPU-second", 12_000)
            yield Figure(
                "engine tcp",
                _rate("tcp", Tcp(host="127.0.0.1", port=plain), 8_000),
                "checks per CPU-second",
                14_000,
            )
            https = Http(url=f"https://127.0.0.1:{secure}/")
            for library, at_least in (("openssl", 1_000), ("rustls", 2_000)):
                rate = _rate("http", https, 1_000, ca_file, rustls=library == "rustls")
                yield Figure(f"engine https, {library}", rate, "checks per CPU-second", at_least)
            certificate = Tls(domain=f"127.0.0.1:{secure}", expiry_days=0)
            yield Figure("engine tls", _rate("tls", certificate, 600, ca_file), "checks per CPU-second", 800)
            with _names() as port:
                name = Dns(host="www.example.com", resolver=f"127.0.0.1:{port}", expected=["192.0.2.1"])
                yield Figure("engine dns", _rate("dns", name, 6_000), "checks per CPU-second", 10_000)
        finally:
            os.sched_setaffinity(0, home)


def _rate(name: str, kind: Kind, count: int, ca_file: Path | None = None, *, rustls: bool = False) -> float:
    return uvloop.run(_measure(CHECKS[name](kind), count, ca_file, rustls=rustls))


async def _measure(check: Check, count: int, ca_file: Path | None, *, rustls: bool) -> float:
    net = Net(ca_file=ca_file)
    net.trust = TrustedChains(ca_file, rustls=rustls)
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


async def _many(check: Check, net: Net, count: int) -> None:
    left = count

    async def one_after_another() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            ran = await run_check(check, net, _TIMEOUT_S)
            if ran.outcome.status is not Status.UP:
                raise RuntimeError(ran.outcome.error)

    await asyncio.gather(*[one_after_another() for _ in range(_AT_ONCE)])


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def _names() -> Iterator[int]:
    command = [sys.executable, "-m", "tests.bench.names"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def target(folder: Path) -> Iterator[tuple[int, int, Path]]:
    authority = trustme.CA()
    certificate, ca_file = folder / "target.pem", folder / "ca.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    authority.cert_pem.write_to_path(ca_file)
    command = [sys.executable, "-m", "tests.bench.target", str(certificate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            plain, secure = process.stdout.readline().split()
            yield int(plain), int(secure), ca_file
        finally:
            process.kill()


if __name__ == "__main__":
    for figure in run():
        print(f"{figure.name:<16} {figure.value:>10,.0f} {figure.unit} (at least {figure.at_least:,.0f})")
