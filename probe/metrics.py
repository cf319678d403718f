"""The probe's own metrics: ``GET /metrics`` and ``/healthz`` at TOCSIN_METRICS_LISTEN."""

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from probe.blackbox import Board
from probe.link.plan import Plan
from probe.link.session import Session
from probe.schedule.egress import Egress
from probe.schedule.scheduler import Scheduler
from probe.schedule.tally import BOUNDS_US, Histogram
from probe.spool.spool import Spool
from shared import __version__
from shared.errors import CannotStart
from shared.setting_table import address

_LAG_EVERY_S: Final = 0.25
_MOST_BYTES: Final = 8192
_MOST_AT_ONCE: Final = 16
_PATIENCE_S: Final = 5.0
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
_REASONS: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


@asynccontextmanager
async def serving(
    listen: str | None, text: Callable[[Histogram], str], patience_s: float = _PATIENCE_S
) -> AsyncIterator[None]:
    """Serve *text* of the loop's lag at *listen*; does nothing if *listen* is None.

    Clients that do not send or read within *patience_s* are disconnected.
    """
    if listen is None:
        yield
        return
    lag = Histogram()
    host, port = address(listen)
    responder = _Responder(lambda: text(lag), patience_s)
    try:
        server = await asyncio.start_server(responder.answer, host, port, limit=_MOST_BYTES)
    except OSError as error:
        raise CannotStart(f"TOCSIN_METRICS_LISTEN: cannot listen on {listen}: {error.strerror}") from error
    watching = asyncio.create_task(_watch(lag))
    try:
        yield
    finally:
        watching.cancel()
        server.close()
        responder.close()


class _Responder:
    """Speaks the minimum of HTTP for scrapers: few connections at a time, a few seconds each."""

    def __init__(self, text: Callable[[], str], patience_s: float) -> None:
        self._text = text
        self._patience_s = patience_s
        self._writers: set[asyncio.StreamWriter] = set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._writers) >= _MOST_AT_ONCE:
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            async with asyncio.timeout(self._patience_s):
                writer.write(self._reply(await _request_line(reader)))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, EOFError):
            pass  # a scraper that disconnects or stalls does not matter
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _reply(self, line: bytes) -> bytes:
        words = line.split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return _response(400, "not HTTP/1.1\n")
        method, target = words[0], words[1].partition(b"?")[0]
        pages: dict[bytes, Callable[[], str]] = {b"/metrics": self._text, b"/healthz": lambda: "ok\n"}
        page = pages.get(target)
        if page is None:
            return _response(404, "there are /metrics and /healthz\n")
        if method not in {b"GET", b"HEAD"}:
            return _response(405, "GET only\n", "Allow: GET, HEAD\r\n")
        return _response(200, page(), body=method == b"GET")


async def _request_line(reader: asyncio.StreamReader) -> bytes:
    """The first line of a completely received request head; empty if the head is too large."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return b""
    return head.partition(b"\r\n")[0]


def _response(status: int, text: str, headers: str = "", *, body: bool = True) -> bytes:
    content = text.encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {_TEXT}\r\n"
        f"Content-Length: {len(content)}\r\n{headers}Connection: close\r\n\r\n"
    )
    return head.encode() + (content if body else b"")


async def _watch(lag: Histogram) -> None:
    """Measure the delay of the event loop."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        await asyncio.sleep(_LAG_EVERY_S)
        lag.add(max(0, int((loop.time() - began - _LAG_EVERY_S) * 1_000_000)))


def write(
    scheduler: Scheduler,
    spool: Spool,
    plan: Plan,
    session: Session,
    egress: Egress,
    board: Board,
    lag: Histogram,
) -> str:
    """All metrics in Prometheus text format."""
    tasks = len(asyncio.all_tasks())
    single: list[tuple[str, str, str, int | float]] = [
        ("gauge", "session_connected", "1 while a collector takes results.", int(session.connected)),
        ("gauge", "blind", "1 while no canary answers.", int(egress.blind)),
        ("gauge", "canaries", "Canaries that have answered since the start.", egress.proven),
        ("gauge", "canaries_answering", "Canaries that answered when last asked.", egress.answering),
        ("gauge", "plan_assignments", "Assignments in the plan.", len(plan)),
        ("gauge", "plan_number", "The collector's number of the plan.", plan.number),
        ("gauge", "checks_waiting", "Checks that are due and have no room to run.", scheduler.waiting),
        ("gauge", "tasks", "Tasks of the event loop.", tasks),
        ("gauge", "spool_bytes", "Bytes of the spool.", spool.bytes),
        ("gauge", "spool_batches", "Batches that no collector has acknowledged.", spool.unacked),
        ("counter", "results_lost_total", "Results dropped before a collector had them.", spool.results_lost),
    ]
    info = f'{{version="{__version__}"}}'
    return "".join(
        [
            _family("gauge", "tocsin_probe_build_info", "Which version runs.", [(info, 1)]),
            *_checks(scheduler),
            *(
                _family(kind, f"tocsin_probe_{name}", text, [("", value)])
                for kind, name, text, value in single
            ),
            _histogram("tocsin_probe_start_late_seconds", "How late checks started.", scheduler.late),
            _histogram("tocsin_probe_loop_lag_seconds", "How late the event loop came around.", lag),
            *_process(),
            board.text(),
        ]
    )


def _checks(scheduler: Scheduler) -> Iterator[str]:
    tallies = sorted(scheduler.tallies.items())
    counts = (
        ("counter", "due_total", "Checks that should have started."),
        ("counter", "started_total", "Checks that started."),
        ("counter", "skipped_total", "Checks that were due and not made up for."),
        ("gauge", "running", "Checks that run now."),
    )
    for kind, name, text in counts:
        field = name.removesuffix("_total")
        samples = [(f'{{type="{type_}"}}', getattr(tally, field)) for type_, tally in tallies]
        yield _family(kind, f"tocsin_probe_checks_{name}", text, samples)
    outcomes = [
        (f'{{type="{type_}",outcome="{status.name.lower()}"}}', count)
        for type_, tally in tallies
        for status, count in tally.outcomes.items()
    ]
    yield _family("counter", "tocsin_probe_checks_total", "Checks that came to an end.", outcomes)


def _process() -> Iterator[str]:
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    boot = next(int(line.split()[1]) for line in _lines("/proc/stat") if line.startswith("btime"))
    rows: list[tuple[str, str, str, int | float]] = [
        ("counter", "cpu_seconds_total", "CPU time spent.", (int(fields[11]) + int(fields[12])) / ticks),
        ("gauge", "start_time_seconds", "When it started, Unix time.", boot + int(fields[19]) / ticks),
        ("gauge", "virtual_memory_bytes", "Virtual memory.", int(fields[20])),
        ("gauge", "resident_memory_bytes", "Memory.", int(fields[21]) * os.sysconf("SC_PAGE_SIZE")),
        ("gauge", "open_fds", "Open file descriptors.", sum(1 for _ in Path("/proc/self/fd").iterdir())),
        ("gauge", "max_fds", "File descriptors at most.", resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
    ]
    return (_family(kind, f"process_{name}", text, [("", value)]) for kind, name, text, value in rows)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _family(kind: str, name: str, text: str, samples: Sequence[tuple[str, int | float]]) -> str:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    return "\n".join([*lines, *(f"{name}{labels} {value}" for labels, value in samples), ""])


def _histogram(name: str, text: str, histogram: Histogram) -> str:
    lines, below = [f"# HELP {name} {text}", f"# TYPE {name} histogram"], 0
    for bound, count in zip((*(us / 1_000_000 for us in BOUNDS_US), "+Inf"), histogram.counts, strict=True):
        below += count
        lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
    sums = [f"{name}_sum {histogram.sum_us / 1_000_000}", f"{name}_count {below}"]
    return "\n".join([*lines, *sums, ""])
