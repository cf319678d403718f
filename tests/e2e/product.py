"""The product as its user runs it: ``tocsin up`` in a process of its own, driven over its API alone."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import psutil

from collector.platform.embedded import files
from tests.e2e.planted import plant
from tests.ports import free_port

_START_S = 60.0
_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Product:
    """One data directory and its processes; *settings* are TOCSIN_ variables by their short names.

    *source*: the tree whose program is run; *python*: the interpreter of its environment.
    """

    data_dir: Path
    settings: dict[str, str]
    http: int = field(default_factory=free_port)
    grpc: int = field(default_factory=free_port)
    otlp: int = field(default_factory=free_port)
    source: Path = _ROOT
    python: str = sys.executable
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    @property
    def token(self) -> str:
        return (self.data_dir / "admin-token").read_text().strip()

    @property
    def log(self) -> Path:
        return self.data_dir.parent / "log"

    def start(self, *flags: str) -> None:
        variables = {
            "DATA_DIR": str(self.data_dir),
            "HTTP_LISTEN": f"127.0.0.1:{self.http}",
            "GRPC_LISTEN": f"127.0.0.1:{self.grpc}",
            "OTLP_LISTEN": f"127.0.0.1:{self.otlp}",
            "PLAN": "enterprise",
            "RATE_PER_MINUTE": "60000000",
            **self.settings,
        }
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        environment |= {f"TOCSIN_{name}": value for name, value in variables.items()}
        environment["PYTHONPATH"] = str(self.source)  # its parts start elsewhere
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, "-m", "shared.command", "up", *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.source,
            )

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)

    def pids(self, name: str) -> list[int]:
        """The processes of one part: ``up``, ``collector``, ``probe`` or ``postgres`` with its backends."""
        assert self.process is not None
        if name == "up":
            return [self.process.pid]
        try:
            family = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return [child.pid for child in family if _is(child, name)]

    def kill(self, *names: str) -> None:
        """kill -9 of these parts at once; the supervisor's end takes its children along."""
        for pid in [pid for name in names for pid in self.pids(name)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if "up" in names:
            assert self.process is not None
            self.process.wait(timeout=15)

    async def ready(self, timeout_s: float = _START_S) -> None:
        """Wait until the API answers and the database with it."""
        deadline = time.monotonic() + timeout_s
        async with aiohttp.ClientSession() as session:
            while True:
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(
                        self.url + "/readyz", timeout=aiohttp.ClientTimeout(2)
                    ) as response:
                        if response.status == 200:
                            return
                assert self.process is not None
                assert self.process.poll() is None, self.log.read_text()[-4000:]
                assert time.monotonic() < deadline, self.log.read_text()[-4000:]
                await asyncio.sleep(0.05)

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """The database itself, for what the API does not show."""
        return await asyncpg.connect(files.url(self.data_dir))


def _is(process: psutil.Process, name: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        command = [word for word in process.cmdline() if word]  # of one that was forked, empty ones follow
    except psutil.NoSuchProcess:
        return False
    if name == "postgres":
        return bool(command) and (command[0].endswith("/postgres") or command[0].startswith("postgres:"))
    return command[-2:] in (["shared.command", name], ["shared.ahead", name])


@dataclass(slots=True)
class Caller:
    """One token's way to the API; answers are (status, body)."""

    product: Product
    session: aiohttp.ClientSession
    token: str

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = self.product.url + path
        async with self.session.request(method, url, json=body, headers=headers) as response:
            return response.status, await response.json() if response.status != 204 else None

    async def made(self, path: str, body: Any) -> Any:
        status, answer = await self.call("POST", path, body)
        assert status in {200, 201}, answer
        return answer

    async def got(self, path: str) -> Any:
        status, answer = await self.call("GET", path)
        assert status == 200, answer
        return answer


@asynccontextmanager
async def running(
    directory: Path, *flags: str, planted: bool = True, **settings: str
) -> AsyncIterator[tuple[Product, Caller]]:
    """A product of its own in *directory*, started and ready; stopped at the end of the block.

    It makes its first team, but finds a database with every migration, unless not *planted*.
    """
    product = Product(directory / "var", {"LOG_LEVEL": "info", **settings})
    if planted and not product.data_dir.exists():
        plant(product.data_dir)
    product.start(*flags)
    try:
        await product.ready()
        async with aiohttp.ClientSession() as session:
            yield product, Caller(product, session, product.token)
    finally:
        assert product.process is not None
        if product.process.poll() is None:
            product.stop()


async def connected(caller: Caller) -> bool:
    """Does a probe answer?"""
    status, _ = await caller.call(
        "POST", "/v1/monitors/test", {"type": "tcp", "config": {"host": "127.0.0.1", "port": 9}}
    )
    return status == 200


async def eventually(question: Any, timeout_s: float = 20.0) -> Any:
    """Ask again and again until the answer is true; that answer. *question* is an async function."""
    async with asyncio.timeout(timeout_s):
        while not (answer := await question()):
            await asyncio.sleep(0.05)
    return answer
