"""The file of a backup: read back as it was written, and refused when anything is wrong with it."""

import gzip
import io
import random
from collections.abc import Callable
from datetime import UTC, date, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.ops.storage.backup_file import (
    BackupHeader,
    BackupReader,
    BackupWriter,
    BrokenBackup,
    Trailer,
    check,
)

HEADER = BackupHeader(
    format="tocsin backup 1",
    tocsin="0.1.0",
    postgres="18",
    at=datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC),
    migrations=["0001_first_light"],
    keys=["00112233aabbccdd"],
    days=[date(2026, 1, 1), date(2026, 1, 2)],
    results_since=None,
    tables={"teams": ["team_id", "name"], "users": ["id"], "results": ["ts"]},
    left_out=["leases"],
)
NOISE = random.Random(1).randbytes(200_000).hex().encode() + b"\n"
ROWS = {"teams": b"1\t\\\\.\n2\tb\n", "users": b"", "results": b"a\n" * 5_000 + NOISE}


def written(header: BackupHeader = HEADER, rows: dict[str, bytes] = ROWS, *, piece: int = 1 << 16) -> bytes:
    out = io.BytesIO()
    writer = BackupWriter(out.write)
    writer.begin(header)
    for name, text in rows.items():
        writer.table(name)
        for start in range(0, len(text), piece):
            writer.rows(text[start : start + piece])
        writer.table_ends()
    writer.end(Trailer({name: text.count(b"\n") for name, text in rows.items()}, {"numbers": 7}))
    return out.getvalue()


def read(data: bytes) -> dict[str, bytes]:
    reader = BackupReader(io.BytesIO(data))
    found = {}
    for name in reader.begin().tables:
        reader.table(name)
        found[name] = b"".join(reader.rows())
    reader.end()
    return found


WHOLE = written()


def anew(text: bytes) -> bytes:
    return gzip.compress(text)


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_it_reads_back_as_it_was_written(piece: int) -> None:
    rows = ROWS if piece > 1 else {**ROWS, "results": b"x\n"}
    data = written(rows=rows, piece=piece)

    assert read(data) == rows
    checked = check(io.BytesIO(data))
    assert checked.header == HEADER
    assert checked.trailer.rows == {name: text.count(b"\n") for name, text in rows.items()}
    assert checked.trailer.sequences == {"numbers": 7}


@given(st.lists(st.lists(st.text(alphabet="\\.\tN ", max_size=4), max_size=4), min_size=3, max_size=3))
def test_no_row_is_taken_for_the_end(tables: list[list[str]]) -> None:
    """Rows as COPY writes them, where each backslash of a value is two."""
    rows = {
        name: b"".join(row.replace("\\", "\\\\").encode() + b"\n" for row in table)
        for name, table in zip(HEADER.tables, tables, strict=True)
    }

    assert read(written(rows=rows)) == rows


def test_what_unpacks_it_anywhere_shows_what_it_is() -> None:
    lines = gzip.decompress(WHOLE).split(b"\n")

    assert orjson.loads(lines[0])["migrations"] == ["0001_first_light"]
    assert orjson.loads(lines[1]) == {"table": "teams"}
    assert lines[2:5] == [b"1\t\\\\.", b"2\tb", b"\\."]
    assert orjson.loads(lines[-3])["rows"]["teams"] == 2
    assert len(orjson.loads(lines[-2])["sha256"]) == 64


def test_one_that_is_cut_anywhere_is_refused() -> None:
    small = written(rows={**ROWS, "results": b"x\n"})
    for length in range(len(small)):
        with pytest.raises(BrokenBackup):
            check(io.BytesIO(small[:length]))


def test_one_with_a_flipped_bit_is_refused_or_says_the_same() -> None:
    """The packing itself has a few bits that mean nothing, as the time of its making."""
    small = written(rows={**ROWS, "results": b"x\n"})
    sound = check(io.BytesIO(small))
    same = 0
    for place in range(len(small) * 8):
        data = bytearray(small)
        data[place // 8] ^= 1 << place % 8
        try:
            assert check(io.BytesIO(bytes(data))) == sound
        except BrokenBackup:
            continue
        same += 1
    assert same < 80


def swapped(text: bytes) -> bytes:
    return text.replace(b"2\tb", b"2\tc")


def without_a_row(text: bytes) -> bytes:
    return text.replace(b"2\tb\n", b"")


def without_a_table(text: bytes) -> bytes:
    return text.replace(b'{"table":"users"}\n\\.\n', b"")


def with_a_wrong_count(text: bytes) -> bytes:
    return text.replace(b'"teams":2', b'"teams":3')


@pytest.mark.parametrize("change", [swapped, without_a_row, without_a_table, with_a_wrong_count])
def test_one_that_was_edited_is_refused(change: Callable[[bytes], bytes]) -> None:
    text = gzip.decompress(WHOLE)
    assert change(text) != text

    with pytest.raises(BrokenBackup):
        check(io.BytesIO(anew(change(text))))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "cut off", id="empty"),
        pytest.param(b"-- PostgreSQL database dump\n", "no backup at all", id="somebody else's"),
        pytest.param(NOISE, "no backup at all", id="noise"),
        pytest.param(anew(b""), "ends too early", id="nothing packed"),
        pytest.param(anew(b"hello\n"), "does not begin", id="text packed"),
        pytest.param(anew(b"[]\n"), "does not begin", id="a header that is none"),
        pytest.param(anew(b'{"format":"tocsin backup 2"}\n'), "does not begin", id="another format"),
        pytest.param(anew(b"[" * 100_000 + b"\n"), "does not begin", id="a deep header"),
        pytest.param(anew(b" " * 5_000_000 + b"\n"), "too long", id="a huge header"),
        pytest.param(WHOLE + b"\n", "follows its end", id="something after it"),
        pytest.param(WHOLE + WHOLE, "follows its end", id="twice"),
        pytest.param(anew(gzip.decompress(WHOLE) + b"x"), "follows its end", id="something packed after it"),
    ],
)
def test_what_is_no_backup_is_refused_and_told_why(data: bytes, why: str) -> None:
    with pytest.raises(BrokenBackup, match=why):
        check(io.BytesIO(data))


def test_a_row_of_any_length_is_read_in_small_pieces() -> None:
    """As does a file that unpacks to a thousand times its size."""
    rows = {**ROWS, "results": b"0" * 50_000_000 + b"\n"}
    data = written(rows=rows)
    assert len(data) < 1_000_000
    reader = BackupReader(io.BytesIO(data))
    sizes = []
    for name in reader.begin().tables:
        reader.table(name)
        sizes += [len(piece) for piece in reader.rows()]

    assert max(sizes) < 1 << 20
    assert sum(sizes) == sum(map(len, rows.values()))


def test_a_file_that_cannot_be_read_is_told() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(BrokenBackup, match="Input/output error"):
        check(Failing(WHOLE))
