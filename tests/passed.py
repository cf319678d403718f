"""A plugin, `-p tests.passed`: lists the tests that passed, and leaves out those of such a list."""

from functools import cache
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--list-passed", metavar="FILE", help="write the tests that passed there, one a line")
    parser.addoption(
        "--leave-out",
        metavar="FILE",
        help="do not run the tests that it lists; a run beside this one may write it: "
        "tests that need no database and are not slow wait for it until two thirds of the others have run",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--leave-out") is None:
        return
    later = [item for item in items if _may_be_listed(item)]
    rest = [item for item in items if not _may_be_listed(item)]
    place = len(rest) * 2 // 3
    # Not in the middle of a file, whose tests may share what takes long to set up.
    while 0 < place < len(rest) and rest[place].path == rest[place - 1].path:
        place += 1
    items[:] = rest[:place] + later + rest[place:]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Pass over a test that is listed by now."""
    path = item.config.getoption("--leave-out")
    if path is None or not _may_be_listed(item) or item.nodeid not in _listed(Path(path)):
        return None
    # What the test before it left for its neighbours.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _may_be_listed(item: pytest.Item) -> bool:
    """Whether it can run where there is no database, in little time."""
    return not any(map(item.get_closest_marker, ("database", "slow")))


def _listed(path: Path) -> frozenset[str]:
    """The tests that it lists; none before it is there."""
    return _read(path) if path.exists() else frozenset()


@cache
def _read(path: Path) -> frozenset[str]:
    return frozenset(path.read_text().splitlines())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list, in the process that hears of all tests."""
    path = session.config.getoption("--list-passed")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if path is None or reporter is None or hasattr(session.config, "workerinput"):
        return
    bad = {report.nodeid for outcome in ("failed", "error") for report in reporter.stats.get(outcome, [])}
    passed = {report.nodeid for report in reporter.stats.get("passed", [])} - bad
    Path(path).write_text("".join(f"{name}\n" for name in sorted(passed)))
