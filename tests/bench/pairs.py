"""An older checkout and this one in turn, in one run: ``python -m tests.bench.pairs OLD [ROUNDS]``.

Microseconds of user and system time for each check of the engine, which is comparable on a busy machine
only between processes that were measured in the same moments.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias

import uvloop

from probe.checks import CHECKS, Check
from probe.net.engine import Net
from probe.net.tls.openssl import TrustedChains
from probe.schedule.runner import run as run_check
from shared.kinds.http import Http
from shared.kinds.icmp import Icmp
from shared.kinds.tcp import Tcp
from shared.results import Status
from tests.bench.engine import target

_ROUNDS: Final = 15
_AT_ONCE: Final = 32
_TIMEOUT_S: Final = 10.0
_PINGS: Final = 3
# Checks in a round: each takes about a tenth of a second.
_CHECKS: Final = {
    "http": 1_500,
    "tcp": 2_500,
    "icmp": 1_000,
    "https, rustls": 200,
    "https, openssl": 100,
}

Runner: TypeAlias = "subprocess.Popen[str]"


def main(argv: Sequence[str]) -> None:
    """Print a line for each kind of check: both medians, and the median of the rounds' ratios."""
    old, rounds = Path(argv[0]).resolve(), int(argv[1]) if len(argv) > 1 else _ROUNDS
    kinds = argv[2:] or list(_CHECKS)
    new = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as folder, target(Path(folder)) as (plain, secure, ca_file):
        arguments = [str(plain), str(secure), str(ca_file)]
        with ExitStack() as stack:
            runners = [stack.enter_context(_runner(checkout, arguments)) for checkout in (old, new)]
            for kind in kinds:
                _print(kind, [[_took_us(each, kind) for each in runners] for _ in range(rounds + 1)][1:])
            for each in runners:
                each.kill()


def _print(kind: str, rounds: Sequence[Sequence[float]]) -> None:
    before, now = (statistics.median(times) for times in zip(*rounds, strict=True))
    ratio = statistics.median(old / new for old, new in rounds)
    print(f"{kind:<16} {before:7.1f}, now {now:7.1f} us a check: {ratio:.3f} times the rate", flush=True)


def _runner(checkout: Path, arguments: Sequence[str]) -> Runner:
    """This file, on the probe of *checkout*."""
    command = [sys.executable, "-P", "-c", _START, str(Path(__file__).parents[2]), *arguments]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    return subprocess.Popen(
        command, cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


_START: Final = """
import importlib, sys
import probe, shared
sys.path.insert(0, sys.argv[1])
importlib.import_module("tests.bench.pairs").serve(sys.argv[2:])
"""


def _took_us(runner: Runner, kind: str) -> float:
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdin.write(kind + "\n")
    runner.stdin.flush()
    return float(runner.stdout.readline())


def serve(argv: Sequence[str]) -> None:
    """Run a round of the kind of check that a line names; print microseconds of CPU for a check."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    uvloop.run(_serve(int(argv[0]), int(argv[1]), Path(argv[2])))


async def _serve(plain: int, secure: int, ca_file: Path) -> None:
    checks: dict[str, Check] = {
        "http": CHECKS["http"](Http(url=f"http://127.0.0.1:{plain}/")),
        "tcp": CHECKS["tcp"](Tcp(host="127.0.0.1", port=plain)),
        "icmp": CHECKS["icmp"](Icmp(host="127.0.0.1", count=_PINGS)),
    }
    https = CHECKS["http"](Http(url=f"https://127.0.0.1:{secure}/"))
    checks |= {"https, rustls": https, "https, openssl": https}
    nets: dict[bool, Net] = {}
    for rustls in (False, True):
        nets[rustls] = Net(ca_file=ca_file)
        nets[rustls].trust = TrustedChains(ca_file, rustls=rustls)
    for line in sys.stdin:
        kind = line.strip()
        took = await _round(checks[kind], nets["rustls" in kind], _CHECKS[kind])
        print(took * 1e6, flush=True)


async def _round(check: Check, net: Net, count: int) -> float:
    left = iter(range(count))

    async def one_after_another() -> None:
        for _ in left:
            ran = await run_check(check, net, _TIMEOUT_S)
            if ran.outcome.status is not Status.UP:
                raise RuntimeError(ran.outcome.error)

    began = _cpu_s()
    await asyncio.gather(*(one_after_another() for _ in range(_AT_ONCE)))
    return (_cpu_s() - began) / count


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
