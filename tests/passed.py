"""A plugin, `-p tests.passed`: lists the tests that passed, and leaves out those of such a list."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--list-passed", metavar="FILE", help="write the tests that passed there, one a line")
    parser.addoption("--leave-out", metavar="FILE", help="do not run the tests that it lists")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    path = config.getoption("--leave-out")
    if path is None:
        return
    listed = set(Path(path).read_text().splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in listed])
    items[:] = [item for item in items if item.nodeid not in listed]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list, in the process that hears of all tests."""
    path = session.config.getoption("--list-passed")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if path is None or reporter is None or hasattr(session.config, "workerinput"):
        return
    bad = {report.nodeid for outcome in ("failed", "error") for report in reporter.stats.get(outcome, [])}
    passed = {report.nodeid for report in reporter.stats.get("passed", [])} - bad
    Path(path).write_text("".join(f"{name}\n" for name in sorted(passed)))
