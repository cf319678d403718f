"""docs/security.md: every row of the checklist is there, and every test that it names exists."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED: Final = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)
ROW: Final = re.compile(r"^\| (S?[0-9]+) \|.*\| (.*) \|$", re.MULTILINE)
ROWS: Final = dict(ROW.findall(PAGE))


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_the_page_names_exists(file: str) -> None:
    assert {name for named, name in NAMED if named == file} <= functions(file)


def test_each_row_names_a_test() -> None:
    wanted = {f"S{number}" for number in range(1, 26)} | {str(number) for number in range(1, 21)}

    assert set(ROWS) == wanted
    assert [row for row, tests in ROWS.items() if "::test_" not in tests] == []


def test_each_row_that_a_role_refers_to_is_there() -> None:
    roles = PAGE.partition("## How it is tested")[0]

    assert set(re.findall(r"\bS[0-9]+\b", roles)) <= set(ROWS)
