"""``tocsin up`` from its start to ready: ``python -m tests.bench.start [ROUNDS] [CHECKOUT]``.

Each round has a first start, with a new database, and a later one; with another checkout, its rounds in turn.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.ports import free_port

_HERE: Final = Path(__file__).parents[2]
_READY: Final = "Tocsin is ready"


@dataclass(frozen=True, slots=True)
class Started:
    """Seconds until ready: on the clock, and of CPU of all processes."""

    clock_s: float
    cpu_s: float


def main(argv: Sequence[str]) -> None:
    """Print medians, and the shortest time on the clock."""
    rounds = int(argv[0]) if argv else 3
    checkouts = [_HERE, *(Path(each).resolve() for each in argv[1:])]
    starts: dict[tuple[Path, str], list[Started]] = {}
    for _ in range(rounds):
        for checkout in checkouts:
            with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder:
                for kind in ("first start", "later start"):
                    starts.setdefault((checkout, kind), []).append(_start(checkout, Path(folder) / "data"))
    print("\n".join(_lines(starts)))


def _lines(starts: Mapping[tuple[Path, str], Sequence[Started]]) -> Iterator[str]:
    for (checkout, kind), each in starts.items():
        clock = statistics.median(start.clock_s for start in each)
        cpu = statistics.median(start.cpu_s for start in each)
        least = min(start.clock_s for start in each)
        yield f"{checkout} {kind}: {cpu:.2f} s of CPU, {clock:.2f} s on the clock, at best {least:.2f} s"


def _start(checkout: Path, data_dir: Path) -> Started:
    listening = {name: f"127.0.0.1:{free_port()}" for name in ("HTTP", "GRPC", "OTLP")}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")} | {
        "PYTHONPATH": str(checkout),
        "TOCSIN_DATA_DIR": str(data_dir),
        **{f"TOCSIN_{name}_LISTEN": value for name, value in listening.items()},
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.monotonic()
    command = [sys.executable, "-m", "shared.entry", "up"]
    with subprocess.Popen(
        command, cwd=checkout, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as up:
        try:
            assert up.stdout is not None
            if not any(_READY in line for line in up.stdout):
                raise RuntimeError("it ended before it was ready")
            return Started(time.monotonic() - began, _cpu_s(psutil.Process(up.pid)))
        finally:
            up.terminate()


def _cpu_s(up: psutil.Process) -> float:
    """Return the CPU seconds of *up* and its descendants, those that have ended included."""
    everyone = [process.cpu_times() for process in (up, *up.children(recursive=True))]
    return sum(each.user + each.system + each.children_user + each.children_system for each in everyone)


if __name__ == "__main__":
    main(sys.argv[1:])
