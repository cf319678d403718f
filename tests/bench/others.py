"""The same target checked by other programs, where they are installed: wrk and blackbox_exporter."""

import asyncio
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil

from tests.bench.figures import Figure
from tests.ports import free_port

SECONDS = 5
AT_ONCE = 32
UNIT = "checks per CPU-second"
MODULES = "modules:\n  http: {prober: http, timeout: 5s}\n  tcp: {prober: tcp, timeout: 5s}\n"


def run(port: int) -> Iterator[Figure]:
    """*port*: of the plain target. A peer that is not installed is reported by name."""
    for name, measure in (("wrk", _wrk), ("prometheus-blackbox-exporter", _blackbox)):
        program = shutil.which(name)
        if program is None:
            print(f"{name} is not installed: skipped")
        else:
            yield from measure(program, port)


def _wrk(program: str, port: int) -> Iterator[Figure]:
    """No check, but the least that HTTP over new connections costs."""
    before = _children_s()
    flags = ["-t1", f"-c{AT_ONCE}", f"-d{SECONDS}s", "-H", "Connection: close"]
    command = [program, *flags, f"http://127.0.0.1:{port}/"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    requests = re.search(r"(\d+) requests in", text)
    assert requests, text
    yield Figure("wrk, http", int(requests[1]) / (_children_s() - before), UNIT)


def _blackbox(program: str, port: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder:
        config = Path(folder) / "blackbox.yml"
        config.write_text(MODULES)
        own = free_port()
        command = [program, f"--config.file={config}", f"--web.listen-address=127.0.0.1:{own}"]
        with subprocess.Popen([*command, "--log.level=error"], stderr=subprocess.DEVNULL) as process:
            try:
                _wait_for(own)
                for module, to in (("tcp", f"127.0.0.1:{port}"), ("http", f"http://127.0.0.1:{port}/")):
                    asked = f"/probe?module={module}&target={quote(to, safe='')}"
                    yield Figure(f"blackbox, {module}", asyncio.run(_rate(process.pid, own, asked)), UNIT)
            finally:
                process.kill()


async def _rate(pid: int, port: int, asked: str) -> float:
    done, until = 0, time.monotonic() + SECONDS

    async def ask_on() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < until:
            writer.write(f"GET {asked} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            good = b"probe_success 1" in await _body(reader)
            done += good
        writer.close()

    before = psutil.Process(pid).cpu_times()
    await asyncio.gather(*[ask_on() for _ in range(AT_ONCE)])
    after = psutil.Process(pid).cpu_times()
    return done / (after.user + after.system - before.user - before.system)


async def _body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    return await (reader.readexactly(int(length[1])) if length else reader.readuntil(b"\r\n0\r\n\r\n"))


def _wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
