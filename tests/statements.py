"""A plugin, `-p tests.statements`: fails a run in which a function that executes SQL was never called."""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import asyncpg
import pytest

_ROOT: Final = Path(__file__).parent.parent
_METHODS: Final = (
    "execute",
    "executemany",
    "fetch",
    "fetchrow",
    "fetchval",
    "copy_from_query",
    "copy_to_table",
)
_OUTPUT: Final = "statements"
# "collector/monitors/storage/monitors.py insert", of this process and of the workers that ended.
_CALLED: Final[set[str]] = set()


def pytest_configure() -> None:
    for name in _METHODS:
        setattr(asyncpg.Connection, name, _noting(getattr(asyncpg.Connection, name)))


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        _note(sys._getframe(1))
        return method(*args, **kwargs)

    return noted


def _note(frame: FrameType | None) -> None:
    """Note the innermost function of a storage module that *frame* is in."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_ROOT / "collector") and _is_storage(path):
            _CALLED.add(f"{path.relative_to(_ROOT)} {frame.f_code.co_qualname.partition('.<locals>')[0]}")
            return
        frame = frame.f_back


def _is_storage(path: Path) -> bool:
    return "storage" in path.parts or path.name == "storage.py"


def pytest_testnodedown(node: Any) -> None:
    _CALLED.update(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's calls to the run; at the run's end fail it if a function is missing."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = sorted(_CALLED)
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.option.collectonly or reporter is None:
        return
    wanted = set(_functions())
    missing = sorted(wanted - _CALLED)
    reporter.write_line("")
    reporter.write_line(
        f"{len(wanted) - len(missing)} of {len(wanted)} functions that execute SQL were called"
    )
    for function in missing:
        reporter.write_line(f"never called: {function}", red=True)
    if missing:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _functions() -> Iterator[str]:
    """Name each function and method of the storage modules in which a connection's method is called."""
    for path in filter(_is_storage, sorted((_ROOT / "collector").rglob("*.py"))):
        text = path.read_text()
        # What an importer reads is not PostgreSQL's.
        for name, body in () if "import sqlite3" in text else _defined(ast.parse(text), ""):
            if any(map(_executes, ast.walk(body))):
                yield f"{path.relative_to(_ROOT)} {name}"


def _defined(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.ClassDef):
            yield from _defined(part, f"{prefix}{part.name}.")
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{part.name}", part


def _executes(part: ast.AST) -> bool:
    return isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _METHODS
