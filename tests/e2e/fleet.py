"""Several collectors over one database and several probes, each a process of its own, driven from outside."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import psutil

from probe.spool.segments import Sealed, scan
from shared.tokens import new_key, new_token
from shared.wire.convert import decode
from tests.e2e.product import eventually
from tests.ports import free_port

_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Part:
    """One ``tocsin collector`` or ``tocsin probe``, with its directory and its TOCSIN_ variables.

    *executed*: it is never forked from a process that has loaded its code.
    *source*: the tree whose program is run; *python*: the interpreter of its environment.
    *variables*: further ones of its environment.
    """

    role: str
    home: Path
    settings: dict[str, str]
    executed: bool = False
    source: Path = _ROOT
    python: str = sys.executable
    variables: Mapping[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, *(["-P"] if self.executed else []), "-m", "shared.command", self.role],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment(self.settings),
                cwd=self.source,
            )

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Of a process in this directory with these TOCSIN_ variables."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        told = {f"TOCSIN_{name}": value for name, value in settings.items()}
        return kept | told | {"TOCSIN_DATA_DIR": str(self.home), **self.variables}

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        if number is signal.SIGKILL:
            self.process.wait(timeout=15)

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)

    def workers(self) -> list[int]:
        """The processes that this one started."""
        assert self.process is not None
        return sorted(child.pid for child in psutil.Process(self.process.pid).children())


@dataclass(slots=True)
class Fleet:
    """*collectors* and *probes* as they were started; calls go to one of the collectors.

    *executed*: of the collectors that are started; see `Part`.
    """

    database_url: str
    directory: Path
    session: aiohttp.ClientSession
    token: str = field(default_factory=new_token)
    key: str = field(default_factory=new_key)
    collectors: list[Part] = field(default_factory=list)
    probes: list[Part] = field(default_factory=list)
    executed: bool = False

    async def collector(self, **settings: str) -> Part:
        """Start one more, and wait until it is ready."""
        made = Part(
            "collector",
            self.directory / f"collector-{len(self.collectors) + 1}",
            {
                "DATABASE_URL": self.database_url,
                "SECRET_KEY": self.key,
                "BOOTSTRAP_TOKEN": self.token,
                "HTTP_LISTEN": f"127.0.0.1:{free_port()}",
                "GRPC_LISTEN": f"127.0.0.1:{free_port()}",
                **settings,
            },
            self.executed,
        )
        self.collectors.append(made)
        made.start()
        await self.ready(made)
        return made

    async def ready(self, collector: Part) -> None:
        deadline = time.monotonic() + 60
        url = f"http://{collector.settings['HTTP_LISTEN']}/readyz"
        while True:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with self.session.get(url, timeout=aiohttp.ClientTimeout(2)) as response:
                    if response.status == 200:
                        return
            assert collector.process is not None
            assert collector.process.poll() is None, collector.log[-4000:]
            assert time.monotonic() < deadline, collector.log[-4000:]

    async def probe(self, location: str, *collectors: Part, operators: bool = False, **settings: str) -> Part:
        """Start one more, which knows these collectors in this order.

        *operators*: it serves every team; otherwise it is the team's own.
        """
        workers = int(settings.get("WORKERS", "1"))
        if operators:
            token = await asyncio.to_thread(self._operators_token, location, collectors[0])
        else:
            asked = {"location": location, "uses": workers}
            token = (await self.made("/v1/probe-tokens", asked, at=collectors[0]))["token"]
        made = Part(
            "probe",
            self.directory / f"probe-{len(self.probes) + 1}",
            {
                "COLLECTOR": ",".join(each.settings["GRPC_LISTEN"] for each in collectors),
                "JOIN_TOKEN": token,
                "CANARIES": "none",
                **settings,
            },
        )
        self.probes.append(made)
        made.start()
        return made

    def _operators_token(self, location: str, beside: Part) -> str:
        """What the operator's command prints."""
        settings = {name: beside.settings[name] for name in ("DATABASE_URL", "SECRET_KEY")}
        command = [sys.executable, "-m", "shared.command", "probe-token", "create", "--location", location]
        done = subprocess.run(
            command,
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
            env=beside.environment(settings),
            cwd=Path(__file__).parents[2],
        )
        return done.stdout.strip()

    async def call(self, method: str, path: str, body: Any = None, *, at: Part | None = None) -> Any:
        """Status and body."""
        url = f"http://{(at or self.collectors[0]).settings['HTTP_LISTEN']}{path}"
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.session.request(method, url, json=body, headers=headers) as response:
            return response.status, await response.json() if response.status != 204 else None

    async def made(self, path: str, body: Any = None, *, at: Part | None = None) -> Any:
        status, answer = await self.call("POST", path, body, at=at)
        assert status in {200, 201}, answer
        return answer

    async def got(self, path: str, *, at: Part | None = None) -> Any:
        status, answer = await self.call("GET", path, at=at)
        assert status == 200, answer
        return answer

    async def monitors(self, count: int, url: str, *, interval: int = 1, location: str = "eu") -> list[str]:
        """Monitors of one target; their ids."""
        body = {"type": "http", "interval": interval, "timeout": min(interval, 10), "locations": [location]}
        return [
            (await self.made("/v1/monitors", {**body, "name": f"m {number}", "config": {"url": url}}))["id"]
            for number in range(count)
        ]

    async def rows(self, sql: str, *args: Any) -> list[dict[str, Any]]:
        """The database itself, for what the API does not show."""
        connection = await asyncpg.connect(self.database_url)
        try:
            return [dict(row) for row in await connection.fetch(sql, *args)]
        finally:
            await connection.close()

    async def shares(self) -> dict[str, int]:
        """How many monitors each probe holds, by its id."""
        rows = await self.rows(
            "SELECT probe_id, count(*) FROM states WHERE probe_id IS NOT NULL GROUP BY probe_id"
        )
        return {str(row["probe_id"]): row["count"] for row in rows}

    async def shared_by(self, probes: int, monitors: int) -> dict[str, int]:
        """Wait until so many probes hold so many monitors, and each has been checked."""

        async def are() -> dict[str, int] | None:
            unknown = await self.rows("SELECT count(*) FROM states WHERE last_at IS NULL")
            shares = await self.shares()
            whole = len(shares) == probes and sum(shares.values()) == monitors
            return shares if whole and unknown == [{"count": 0}] else None

        found: dict[str, int] = await eventually(are, timeout_s=40)
        return found

    async def pause_all(self, monitors: Iterable[str]) -> None:
        for monitor in monitors:
            await self.made(f"/v1/monitors/{monitor}/pause")

    async def assert_all_stored_once(self) -> None:
        """Each result that lies in a probe's spool (24 h are kept) is in the database once, and no other."""

        async def equal() -> bool:
            return await self._stored() == self._spooled()

        await eventually(equal, timeout_s=40)

    async def _stored(self) -> dict[int, int]:
        rows = await self.rows("SELECT monitor, count(*) FROM results GROUP BY monitor")
        return {row["monitor"]: row["count"] for row in rows}

    def _spooled(self) -> dict[int, int]:
        batches = {
            (record.incarnation, record.seq): record.data
            for probe in self.probes
            for path in sorted(probe.home.rglob("*.seg"))
            for record in scan(path.read_bytes())
            if isinstance(record, Sealed)
        }
        counted = Counter[int]()
        for data in batches.values():
            counted.update(decode(data).monitor)
        return dict(counted)


@asynccontextmanager
async def fleet(database_url: str, directory: Path) -> AsyncIterator[Fleet]:
    """Nothing runs yet; whatever was started is ended with the block."""
    async with aiohttp.ClientSession() as session:
        made = Fleet(database_url, directory, session)
        try:
            yield made
        finally:
            for part in (*made.probes, *made.collectors):
                if part.process is not None and part.process.poll() is None:
                    part.process.kill()
                    part.process.wait(timeout=15)
