"""Results as Parquet, read back by duckdb: the same rows as the CSV has, in groups of bounded size."""

import csv
import io
import sys
from pathlib import Path

import duckdb
import pytest

from shared.phases import pack
from shared.results import Phases, Status
from tests.http.client import Api
from tests.monitors.monitors import details, make, number, result
from tests.reports.history import lived


def read(data: bytes, folder: Path) -> list[tuple[object, ...]]:
    file = folder / "results.parquet"
    file.write_bytes(data)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows: list[tuple[object, ...]] = connection.execute(
            """
            SELECT strftime(time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ'), location, status, duration_ms,
                code, error, dns, connect, tls, "firstByte", transfer FROM read_parquet(?)
            """,
            [str(file)],
        ).fetchall()
    return rows


async def test_another_reader_reads_the_rows_of_the_csv(api: Api, tmp_path: Path) -> None:
    known = await lived(api)
    now = api.clock().replace(microsecond=0)
    await result(
        api,
        known.monitor,
        now,
        status=Status.DOWN,
        code=503,
        phases=pack(Phases(1_000, 2_000, 3_000, 4_000, 5_000)),
    )
    path = f"/v1/monitors/{known.id}/results/export?from={known.start:%Y-%m-%d}"
    table = [*csv.reader(io.StringIO((await api.get(path)).body.decode()))][1:]

    answer = await api.get(f"{path}&format=parquet")

    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert answer.headers["Content-Disposition"].endswith('.parquet"')
    rows = read(answer.body, tmp_path)
    assert len(rows) == len(table) > 200
    assert [tuple("" if cell is None else cell for cell in row[:6]) for row in rows] == [
        (*line[:3], int(line[3]), int(line[4]) if line[4] else "", line[5]) for line in table
    ]
    assert [*rows[0][6:]] == [float(cell) for cell in table[0][6:]]


async def test_a_range_without_results_is_an_empty_table(api: Api, tmp_path: Path) -> None:
    id_ = await make(api)
    await number(api, id_)

    answer = await api.get(f"/v1/monitors/{id_}/results/export?format=parquet")

    assert read(answer.body, tmp_path) == []


async def test_many_results_come_in_groups(api: Api, tmp_path: Path) -> None:
    known = await lived(api)
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO results (ts, monitor, location, ms, status, run, n)
            SELECT $2::timestamptz + i * interval '1 s', $1, (SELECT min(location) FROM locations),
                i % 900, 1, 1, 1
            FROM generate_series(1, 45000) i
            """,
            known.monitor,
            known.start,
        )
    path = f"/v1/monitors/{known.id}/results/export?from={known.start:%Y-%m-%d}&format=parquet"

    data = (await api.get(path)).body

    assert len(read(data, tmp_path)) >= 45_000
    with duckdb.connect() as connection:
        groups = connection.execute(
            "SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(?) ORDER BY 1",
            [str(tmp_path / "results.parquet")],
        ).fetchall()
    assert [size for _, size in groups][:2] == [20_000, 20_000]
    assert len(groups) == 3


async def test_a_collector_without_the_library_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = await make(api)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    answer = await api.get(f"/v1/monitors/{id_}/results/export?format=parquet")

    assert details(answer) == {
        "format": "parquet needs pyarrow on the collector: pip install 'tocsin[parquet]'"
    }
