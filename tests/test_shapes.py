"""The shapes of the code itself: what is registered, where things lie, and how large they may become."""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from collector.notifications.channels import CHANNELS
from probe.checks import CHECKS, LASTING, TYPES
from shared.kinds import KINDS, RECEIVING

ROOT = Path(__file__).parent.parent
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")
SQL = re.compile(
    r"^\s*(SELECT\b.*\bFROM|SELECT\s+(pg_|\$\d|1\b)|INSERT\s+INTO|UPDATE\s+\w+(\s+\w+)?\s+SET|DELETE\s+FROM|"
    r"CREATE\s+(TABLE|INDEX|UNIQUE|DATABASE|SEQUENCE|FUNCTION)|ALTER\s+(TABLE|ROLE|DATABASE)|DROP\s+TABLE|"
    r"TRUNCATE\b|COPY\s+\w+\s+(FROM|TO)|LISTEN\s+\w+$|NOTIFY\s+\w+|SET\s+LOCAL\b|WITH\s+\w+\s+AS\s*\()",
    re.IGNORECASE | re.DOTALL,
)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef

MOST_LINES = 600
MOST_LINES_OF_TESTS = 600
MOST_LINES_OF_A_FUNCTION = 50
DEEPEST = 3


def sources(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not GENERATED.search(path.name)
    )


PRODUCT = sources("shared", "probe", "collector")
ALL = [*PRODUCT, *sources("tests", "protos"), ROOT / "setup.py"]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def at(path: Path, node: ast.AST | None = None) -> str:
    place = str(path.relative_to(ROOT))
    return f"{place}:{node.lineno}" if node is not None and hasattr(node, "lineno") else place


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def texts(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """String literals, docstrings aside; of one with values in it, the fixed parts."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.JoinedStr):
            yield (
                node,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node, node.value


def depth(node: ast.AST) -> int:
    """How deep blocks are nested; `elif` is no deeper than its `if`, and a function within starts anew."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda):
            continue
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        own = isinstance(child, BLOCKS) and not chained
        deepest = max(deepest, own + depth(child))
    return deepest


def test_each_kind_is_checked_by_a_check_and_no_other_is() -> None:
    assert set(KINDS) - set(RECEIVING) == TYPES
    assert not set(CHECKS) & set(LASTING)


def test_each_channel_s_file_is_registered() -> None:
    registered = {
        module.rpartition(".")[2] for module in (channel.__module__ for channel in CHANNELS.values())
    }
    table = ROOT / "collector" / "notifications" / "channels"
    makers = {
        path.stem
        for path in table.glob("*.py")
        if any(isinstance(node, ast.ClassDef) and node.name.lower() == path.stem for node in tree(path).body)
        and any(function.name == "send" for function in functions(path))
    }

    assert registered >= makers - {"transport"}


def test_each_kind_s_file_is_registered() -> None:
    registered = {kind.__module__.rpartition(".")[2] for kind in KINDS.values()}

    table = ROOT / "shared" / "kinds"
    assert registered == {path.stem for at in (table, table / "web3") for path in at.glob("*.py")} - {
        "__init__",
        "abi",
        "chains",
        "fields",
        "percents",
        "sought",
    }


def test_files_are_short() -> None:
    long = {at(path): len(path.read_text().splitlines()) for path in ALL}

    assert not {
        place: lines
        for place, lines in long.items()
        if lines > (MOST_LINES_OF_TESTS if place.startswith("tests/") else MOST_LINES)
    }


def test_functions_are_short() -> None:
    assert not {
        at(path, function): function.name
        for path in ALL
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    }


def test_blocks_are_not_nested_deeply() -> None:
    assert not {
        at(path, function): function.name
        for path in PRODUCT
        for function in functions(path)
        if depth(function) > DEEPEST
    }


def test_each_file_says_what_it_is_for() -> None:
    assert not [at(path) for path in ALL if path.read_text().strip() and not ast.get_docstring(tree(path))]


def test_sql_is_in_storage_alone() -> None:
    assert not [
        f"{at(path, node)} {text[:60]!r}"
        for path in PRODUCT
        if path.stem != "storage" and path.parent.name != "storage"
        for node, text in texts(path)
        if SQL.match(text)
    ]


@pytest.mark.parametrize(
    ("text", "is_sql"),
    [
        ("SELECT a FROM b", True),
        ("\n    UPDATE states SET a = 1", True),
        ("INSERT INTO x VALUES (1)", True),
        ("DELETE FROM x", True),
        ("WITH due AS (SELECT 1)", True),
        ("SELECT pg_notify('x', '')", True),
        ("Select one of these", False),
        ("DELETE", False),
        ("update the plan", False),
    ],
)
def test_sql_is_told_from_words(text: str, is_sql: bool) -> None:
    assert bool(SQL.match(text)) == is_sql


def test_the_environment_is_read_in_settings_alone() -> None:
    readers = [
        at(path, node)
        for path in PRODUCT
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv", "putenv"})
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and {"environ", "getenv"} & _names(node))
    ]

    assert {place.partition(":")[0] for place in readers} == {"shared/settings.py"}


def test_nothing_is_left_unfinished() -> None:
    # This file has to name what it looks for.
    marks = [
        f"{at(path)}:{token.start[0]}"
        for path in ALL
        if path != Path(__file__)
        for token in _comments(path)
        if UNFINISHED.search(token.string)
    ]
    stubs = [
        at(path, node)
        for path in ALL
        if path != Path(__file__)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and node.id == "NotImplementedError"
    ]

    assert not marks
    assert not stubs


def _names(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


def _comments(path: Path) -> Iterator[tokenize.TokenInfo]:
    with path.open("rb") as file:
        yield from (token for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT)


def test_no_library_of_the_tests_has_lifted_the_bound_on_recursion() -> None:
    assert sys.getrecursionlimit() <= 3000, "what is nested too deeply would end this process, not a test"
