"""``make bench-guard``: ten figures beside floors of the same run; fails where one fell by a fifth.

``python -m tests.bench.guard --keep`` keeps the run's ratios as the baseline; ``--record`` adds a row to the
table of results in docs/performance.md.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
import psutil
import structlog
import uvloop

from collector.accounts.storage import teams
from shared import ids
from shared.clock import utc_now
from shared.settings import quiet_libraries
from shared.wire.v1 import probe_pb2
from tests.bench import api, apply, floors, ingest, pings, probe, writer
from tests.bench.collector import orders
from tests.bench.database import database
from tests.bench.engine import target
from tests.bench.ratios import Compared, Memory, kept, recorded, report

_BASELINE: Final = Path(__file__).with_name("guard.json")
_DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "performance.md"
_ROUNDS: Final = 5
_BATCH: Final = 500
_PINGS_S: Final = 1.5
_FEW: Final = 50
# Enough that the hundredths of a second in which the kernel counts do not matter.
_READS: Final = 2_500
_ANSWERS: Final = 25_000
# The bounds of memory are those of the tests and of docs/performance.md, and some room.
_PROBE_MB: Final = 90
_PRODUCT_MB: Final = 400

Rate = Callable[[], Awaitable[float]]


def main(argv: list[str]) -> int:
    """Measure, print the table, compare; return 1 if a figure fell."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.guard")
    parser.add_argument("--keep", action="store_true", help="keep these ratios as the baseline")
    parser.add_argument("--record", action="store_true", help="add a row to docs/performance.md")
    options = parser.parse_args(argv)
    keep: bool = options.keep
    quiet_libraries()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    measured = [*_probes(), *uvloop.run(_writes()), *uvloop.run(_requests())]
    baseline = {} if keep else json.loads(_BASELINE.read_text())
    compared = report(measured, baseline)
    print("\n".join(compared.lines))
    if keep:
        _BASELINE.write_text(json.dumps(kept(measured), indent=2) + "\n")
    if options.record:
        when = f"{utc_now():%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.0f}"
        _DOCUMENT.write_text(recorded(_DOCUMENT.read_text(), measured, when))
    for fault in compared.faults:
        print(f"fell: {fault}", file=sys.stderr)
    return 1 if compared.faults else 0


async def _in_turn(name: str, ours: Rate, floor: Rate) -> Compared:
    """Measure both in turn, after a round that only warms up."""
    await ours()
    await floor()
    rounds = [(await ours(), await floor()) for _ in range(_ROUNDS)]
    return Compared(name, *zip(*rounds, strict=True))


def _probes() -> Iterator[Compared | Memory]:
    """Whole probes beside a loop that only connects to the same target."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder, target(Path(folder)) as (port, _, ca):
        http = orjson.dumps({"url": f"http://127.0.0.1:{port}/"})
        tcp = orjson.dumps({"host": "127.0.0.1", "port": port})
        with floors.running("connects", str(port)) as bare:
            plan = orders("http", http, range(1, 6_001), interval_ms=1000)
            yield uvloop.run(_probe("probe, HTTP", plan, ca, bare))
            plan = orders("tcp", tcp, range(1, 10_001), interval_ms=1000)
            yield uvloop.run(_probe("probe, TCP", plan, ca, bare))
        plan = orders("http", http, range(1, 10_001), interval_ms=60_000)
        megabytes, _ = uvloop.run(probe.resident(plan, probe.SETTLE_S + probe.WATCHED_S))
        yield Memory("probe, memory with 10,000 monitors", megabytes, _PROBE_MB)


async def _probe(name: str, plan: list[probe_pb2.Assignment], ca: Path, bare: floors.Floor) -> Compared:
    async with probe.running(plan, ca) as (counting, process):
        process.cpu_affinity([min(os.sched_getaffinity(0))])  # as the target has the last
        await asyncio.sleep(probe.SETTLE_S)

        async def floor() -> float:
            return await asyncio.to_thread(floors.connects, bare)

        compared = await _in_turn(name, lambda: probe.rate(counting, process), floor)
        # On a machine that is busy enough, a check now and then gets no answer in time.
        if counting.bad * _FEW > counting.results:
            raise RuntimeError(counting.fault)
        return compared


async def _writes() -> list[Compared]:
    """What is stored, PostgreSQL included, beside a bare COPY and Python's json."""
    async with database() as db:
        async with writer.writing(db) as (written, server):

            async def copied() -> float:
                before = writer.cpu_s(server)
                async with db.transaction() as tx:
                    rows = await floors.copy(tx)
                return rows / (writer.cpu_s(server) - before)

            results = await _in_turn("writer, results", written, copied)
        async with db.transaction() as tx:
            team_id = await teams.insert(tx, ids.uuid7(), "shop", "enterprise", utc_now())
        declared = apply.monitors((_ROUNDS + 1) * _BATCH)
        batches = [declared[start : start + _BATCH] for start in range(0, len(declared), _BATCH)]

        async def parsed() -> float:
            return floors.json_round_trips(declared)

        async def applied() -> float:
            before = writer.cpu_s(server)
            await apply.took(db, team_id, batches.pop())
            return _BATCH / (writer.cpu_s(server) - before)

        made = await _in_turn("apply, monitors", applied, parsed)
        async with ingest.remote_writes(db) as taken:
            samples = await _in_turn("remote write, samples", taken, parsed)
    return [results, made, samples]


async def _requests() -> list[Compared | Memory]:
    """A collector's answers beside a server that answers without a look at the request."""
    with floors.running("http") as bare:
        async with api.collector() as served:
            await api.furnished(served)
            [known, *_] = await api.some(served)
            plain = replace(served, port=int(floors.line(bare)), pid=bare.pid)

            async def floor() -> float:
                return await api.rate(plain, ["/"], _ANSWERS)

            found: list[Compared | Memory] = [
                await _in_turn(name, lambda path=path: api.rate(served, [path], _READS), floor)  # type: ignore[misc]
                for name, path in (
                    ("API, a monitor", f"/v1/monitors/{known}"),
                    ("API, a list of 20", "/v1/monitors?limit=20"),
                )
            ]
            async with pings.pinging(served) as pinged:
                found.append(await _in_turn("pings", lambda: pinged(_PINGS_S), floor))
            found.append(Memory("collector and PostgreSQL, memory", _proportional_mb(served), _PRODUCT_MB))
    return found


def _proportional_mb(served: api.Served) -> float:
    """Return the memory of the collector and its server; what processes share counts once."""
    server = psutil.Process(served.db.get_server_pid()).parent()
    assert server is not None
    everyone = [psutil.Process(served.pid), server, *server.children(recursive=True)]
    return sum(float(process.memory_full_info().pss) for process in everyone) / 1e6


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
