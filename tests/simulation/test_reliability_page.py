"""The page on reliability has a row for each fault, and names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/reliability.md").read_text()
ROWS = dict(re.findall(r"^\| (T\d+) \| (.*) \|$", TEXT, re.MULTILINE))


def test_each_fault_has_its_row() -> None:
    assert list(ROWS) == [f"T{number}" for number in range(1, 32)]


def test_each_test_that_is_named_exists() -> None:
    for path, _, name in re.findall(r"`(tests/[\w/.]+\.py)(::(\w+))?`", TEXT):
        assert (ROOT / path).is_file(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(), name
