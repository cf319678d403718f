"""Results as Parquet, by pyarrow, which is the extra tocsin[parquet]."""

import importlib
import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from collector.history.storage.result_reads import Result
from collector.monitors.api import views
from collector.platform.answer_json import json_object

MISSING: Final = "parquet needs pyarrow on the collector: pip install 'tocsin[parquet]'"
_PHASES: Final = ("dns", "connect", "tls", "firstByte", "transfer")
# Rows of a group, which is all that is held in memory.
_GROUP: Final = 20_000


def is_available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("pyarrow") is not None


class ParquetWriter:
    """Writes one file, a group of rows after the other; the same columns as the CSV has."""

    head: bytes = b""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._writer: Any = importlib.import_module("pyarrow.parquet").ParquetWriter(
            self._sink, _schema(), compression="zstd"
        )
        self._rows: list[Result] = []

    def lines(self, some: Sequence[Result]) -> bytes:
        """Return the bytes of the groups that are full."""
        self._rows += some
        if len(self._rows) >= _GROUP:
            self._write()
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the bytes of the last group, and the index of all."""
        if self._rows:
            self._write()
        self._writer.close()
        return self._sink.taken()

    def _write(self) -> None:
        shown = [views.result(each) for each in self._rows]
        phases = [json_object(each.phases) for each in shown]
        columns = {
            "time": [each.ts for each in self._rows],
            "location": [each.name for each in self._rows],
            "status": [each.status for each in shown],
            "duration_ms": [each.ms for each in self._rows],
            "code": [each.code for each in self._rows],
            "error": [each.error for each in self._rows],
            **{name: [each.get(name) for each in phases] for name in _PHASES},
        }
        self._writer.write_table(
            importlib.import_module("pyarrow").table(columns, schema=_schema()), row_group_size=_GROUP
        )
        self._rows = []


class _Sink:
    """A file that keeps what was written until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


@cache
def _schema() -> Any:
    arrow = importlib.import_module("pyarrow")
    return arrow.schema(
        [
            ("time", arrow.timestamp("ms", tz="UTC")),
            ("location", arrow.string()),
            ("status", arrow.string()),
            ("duration_ms", arrow.int32()),
            ("code", arrow.int32()),
            ("error", arrow.string()),
            *((name, arrow.float64()) for name in _PHASES),
        ]
    )
