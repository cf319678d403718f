"""All results of a range, newest first, streamed as CSV, as a JSON object a line, or as Parquet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from aiohttp import hdrs, web

from collector.history.storage.result_reads import Result
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import Query, path_id
from collector.monitors.api import views
from collector.monitors.api.results import wanted_results
from collector.monitors.api.results_parquet import MISSING, ParquetWriter, is_available
from collector.monitors.service import reads as monitor_reads
from collector.monitors.service import results
from collector.platform.answer_json import encode, json_object
from collector.platform.csv_text import csv_lines, harmless
from shared import ids
from shared.clock import iso

_PHASES: Final = ("dns", "connect", "tls", "firstByte", "transfer")
CSV_HEADER: Final = ("time", "location", "status", "duration_ms", "code", "error", *_PHASES)


class ExportWriter(Protocol):
    """Writes one file: the bytes before all results, those of some of them, and those after all."""

    @property
    def head(self) -> bytes: ...

    def lines(self, some: Sequence[Result]) -> bytes: ...

    def end(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class TextWriter:
    """Writes a format of lines."""

    head: bytes
    line_of: Callable[[Sequence[Result]], bytes]

    def lines(self, some: Sequence[Result]) -> bytes:
        return self.line_of(some)

    def end(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format of the export: its media type, and what begins a file of it."""

    media: str
    begin: Callable[[], ExportWriter]


def csv_of(some: Sequence[Result]) -> bytes:
    """Return a line for each result, under CSV_HEADER; texts are no formulas of a spreadsheet."""
    return csv_lines(map(_cells, some))


def _cells(result: Result) -> list[Any]:
    shown = views.result(result)
    phases = json_object(shown.phases)
    error = result.error or ""
    return [
        iso(result.ts),
        result.name,
        shown.status,
        result.ms,
        result.code or "",
        harmless(error),
        *("" if phases.get(name) is None else phases[name] for name in _PHASES),
    ]


def _json_lines(some: Sequence[Result]) -> bytes:
    return b"".join(encode(views.result(each)) + b"\n" for each in some)


FORMATS: Final[Mapping[str, ExportFormat]] = {
    "csv": ExportFormat("text/csv; charset=utf-8", lambda: TextWriter(csv_lines([CSV_HEADER]), csv_of)),
    "ndjson": ExportFormat("application/x-ndjson", lambda: TextWriter(b"", _json_lines)),
    "parquet": ExportFormat("application/vnd.apache.parquet", ParquetWriter),
}


async def export(request: web.Request) -> web.StreamResponse:
    """Stream the results; the monitor is looked up before the query is read: 404 comes before 400."""
    context, id_ = context_of(request), path_id(request, "mon", monitor_reads.WHAT)
    monitor = await monitor_reads.found(context.db, caller(request).team_id, id_)
    query, now = Query(request), context.now()
    wanted = wanted_results(query, now)
    name = query.one_of("format", tuple(FORMATS)) or "csv"
    if name == "parquet" and not is_available():
        query.fault("format", MISSING)
    query.done()
    as_ = FORMATS[name]
    answer = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: as_.media,
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{ids.show("mon", id_)}.{name}"',
        }
    )
    await answer.prepare(request)
    if request.method != hdrs.METH_HEAD:
        writer = as_.begin()
        await answer.write(writer.head)
        async for some in results.pages(context.db, monitor, wanted, now):
            await answer.write(writer.lines(some))
        await answer.write(writer.end())
    await answer.write_eof()
    return answer
