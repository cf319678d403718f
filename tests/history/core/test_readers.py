"""Results have two forms, and one way to be read: `results_of`."""

import re
from pathlib import Path
from typing import Final

import pytest

_COLLECTOR: Final = Path(__file__).parents[3] / "collector"
# What handles rows as such: packs them, keeps their partitions.
_OF_ROWS: Final = {"history/storage/packing.py", "history/storage/partitions.py"}
_ROWS: Final = re.compile(r"\b(?:FROM|JOIN|USING)\s+results\b(?!_)")


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT ts FROM results WHERE monitor = 1", True),
        ("JOIN results r USING (monitor)", True),
        ("SELECT ts FROM results_of(1, 2, $1, $2)", False),
        ("SELECT min(ts) FROM results_default", False),
    ],
)
def test_a_read_of_rows_alone_is_recognized(sql: str, reads: bool) -> None:
    assert bool(_ROWS.search(sql)) is reads


def test_nobody_reads_rows_alone() -> None:
    readers = {
        str(path.relative_to(_COLLECTOR))
        for path in _COLLECTOR.rglob("*.py")
        if _ROWS.search(path.read_text(encoding="utf-8"))
    }
    assert readers == _OF_ROWS
