"""A database for each test that asks for one: copies of a template, on one server for the whole run."""

import asyncio
import gc
import logging
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest
import structlog
from _pytest.unraisableexception import collect_unraisable
from hypothesis import HealthCheck, settings

from collector.platform.embedded.server import Embedded
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now
from shared.held import STRICTNESS
from tests import forked
from tests.catalog import remember_types
from tests.clones import Clones
from tests.shared_server import shares_server

TEMPLATE: Final = "template_tests"
# Nothing here outlives the run, so nothing waits for the disk.
FAST: Final = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "autovacuum": "off",
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
}
MEMORY: Final = Path("/dev/shm")
_TESTS: Final = Path(__file__).parent
# Folders, at any depth: their tests need a database; their tests start a whole product or a browser.
_STORED: Final = frozenset({"ingest", "jobs", "service", "storage"})
_WHOLE: Final = frozenset({"browser", "e2e", "faults", "senders"})
# Nearly no test of these folders is fast, and to import them takes longer than to run all that are.
_NOT_FAST: Final = _STORED | _WHOLE | {"api"}
# What a test makes stays in the two young generations until its end, where they alone are collected. To look
# through all that earlier tests left takes 0.1 s, and is done after so many tests.
_THRESHOLDS: Final = (50_000, 1_000, 1_000)
_ALL_EVERY: Final = 50
# What lies between who asks for a connection and who takes note of it.
_BETWEEN: Final = ("/shared/held.py", "/storage/db.py", "/contextlib.py")

# The same examples in every run, none too slow on a busy machine; --hypothesis-profile=default tries others.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def _without_the_server_s(_: Any, level: str, event: Any) -> Any:
    """What the tests' own PostgreSQL says of what they ask of it would hide what they say themselves."""
    if threading.current_thread().name == Server.NAME and level != "critical":
        raise structlog.DropEvent
    return event


structlog.configure(
    processors=[_without_the_server_s, *structlog.get_config()["processors"]],
    wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
)


def _of_the_product() -> bool:
    """A test may hold a connection, and with it a lock that something else waits for."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.endswith(_BETWEEN):
        frame = frame.f_back
    return _TESTS not in Path(frame.f_code.co_filename).parents


remember_types()

# What is slow while the product holds a connection fails, instead of only being logged.
STRICTNESS.strict = True
STRICTNESS.counts = _of_the_product


class Server:
    """The run's PostgreSQL, in a thread with a loop of its own, so that it outlives every test's loop."""

    NAME: Final = "postgres of the tests"

    def __init__(self) -> None:
        # A new database in memory takes a thirtieth of the time that it takes on a disk.
        roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 1 << 30
        self.directory = Path(tempfile.mkdtemp(prefix="tocsin-tests-", dir=MEMORY if roomy else None))
        self._embedded = Embedded(self.directory, extra=FAST)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=self.NAME, daemon=True)

    def start(self) -> str:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._embedded.start(), self._loop).result()
        return self._embedded.url

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._embedded.stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        # Under load one of its processes may outlast the first by a moment, and take its files away itself.
        shutil.rmtree(self.directory, ignore_errors=True)


SERVER: Final = pytest.StashKey[Server]()
LOADED: Final = pytest.StashKey[forked.Loaded]()
URL: Final = pytest.StashKey[str]()
LIMIT: Final = pytest.StashKey[Any]()
ENDED: Final = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-url", help="run on this PostgreSQL server, as a superuser, not on our own")
    parser.addoption("--second-tries", type=int, help="tests marked as races get one, at most so many a run")
    parser.addoption("--allowed-skips", help="a file of reasons, one a line; any other skip fails the run")
    parser.addoption("--no-forks", action="store_true", help="execute each process; see tests/forked.py")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--no-forks"):
        loaded = config.stash[LOADED] = forked.Loaded()
        forked.install(loaded.start)


def pytest_plugin_registered(manager: pytest.PytestPluginManager) -> None:
    """Add what `api` and `console` choose between: a conftest.py need not name these fixtures."""
    for name in ("tests.http.fixtures", "tests.console.fixtures"):
        if name in sys.modules and not manager.has_plugin(name):
            manager.register(sys.modules[name], name)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with too many second tries, or with a skip that the list of allowed ones does not hold."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    for fault in (_too_many_tries(session.config, reporter), _surprising_skips(session.config, reporter)):
        if fault is not None:
            reporter.write_line("")
            reporter.write_line(fault, red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _too_many_tries(config: pytest.Config, reporter: Any) -> str | None:
    most, tries = config.getoption("--second-tries"), len(reporter.stats.get("rerun", []))
    return f"second tries: {tries} (limit {most})" if most is not None and tries > most else None


def _surprising_skips(config: pytest.Config, reporter: Any) -> str | None:
    allowed = config.getoption("--allowed-skips")
    if allowed is None:
        return None
    reasons = set(map(_reason, reporter.stats.get("skipped", [])))
    listed = {line for line in Path(allowed).read_text().splitlines() if line and not line.startswith("#")}
    surprising = sorted(reasons - listed)
    return f"skipped, and not listed in {allowed}: {'; '.join(surprising)}" if surprising else None


def _reason(report: Any) -> str:
    """Why it was skipped."""
    text: str = report.longrepr[2]
    return text.removeprefix("Skipped: ")


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    item.stash[LIMIT] = settings


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a second try a limit of its own: the plugin's one ends with the first failure."""
    if getattr(item, "execution_count", 1) > 1 and LIMIT in item.stash:
        item.ihook.pytest_timeout_cancel_timer(item=item)
        item.ihook.pytest_timeout_set_timer(item=item, settings=item.stash[LIMIT])


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long values by their argument: one made by chance would have another name in each worker."""
    if isinstance(val, bytes) or (isinstance(val, str) and len(val) > 30):
        return argname
    return None


def _server_url(config: pytest.Config) -> str:
    """The server's URL. Started when first asked for; the template is made then, once for all workers."""
    if URL not in config.stash:
        url = config.getoption("--database-url")
        if not url:
            server = config.stash[SERVER] = Server()
            url = server.start()
        asyncio.run(_make_template(url))
        config.stash[URL] = url
    return config.stash[URL]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist where the server is, unless this run needs none, as no fast test does."""
    wanted: str = node.config.option.markexpr
    if wanted != "fast" and "not database" not in wanted:
        node.workerinput["database_url"] = _server_url(node.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    if LOADED in config.stash:
        config.stash[LOADED].close()
    if SERVER in config.stash:
        config.stash[SERVER].stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Each reason to skip once, and in full what failed at a first try: else nobody could find out why."""
    reasons = Counter(map(_reason, terminalreporter.getreports("skipped")))
    if reasons:
        terminalreporter.section("skipped", "-")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:5}  {reason}")
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}", "_")
        terminalreporter.line(report.longreprtext)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file without a fast test, or one for the oldest PostgreSQL, if those alone are asked for."""
    if _TESTS not in collection_path.parents:
        return None
    wanted: str = config.option.markexpr
    not_fast = wanted == "fast" and collection_path.name in _NOT_FAST
    not_oldest = wanted.startswith("oldest and ") and _names_no_oldest(collection_path)
    return True if not_fast or not_oldest else None


def _names_no_oldest(path: Path) -> bool:
    """Whether it is a file of tests of which none has that marker, by its folder or by name."""
    is_of_tests = path.name.startswith("test_") and path.suffix == ".py"
    return is_of_tests and "storage" not in path.parts and "mark.oldest" not in path.read_text()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        _mark(item)
        if config.getoption("--second-tries") is not None and item.get_closest_marker("races"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if hasattr(config, "workerinput"):
        items[:] = _spread(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load what tests will start. Set apart what collection made: garbage is looked for among the rest."""
    if LOADED in session.config.stash and any(item.get_closest_marker("races") for item in session.items):
        session.config.stash[LOADED].load()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Collect a test's garbage before its end: a socket that it left open fails it, and no later one."""
    yield
    if isinstance(item, pytest.Function):
        item.funcargs.clear()  # else they would hold what the test left
    ended = item.config.stash[ENDED] = item.config.stash.get(ENDED, 0) + 1
    gc.collect(1 if ended % _ALL_EVERY else 2)
    collect_unraisable(item.config)  # pytest did so before this


def _mark(item: pytest.Item) -> None:
    """Add the markers that follow from a test's fixtures and folder."""
    fixtures = getattr(item, "fixturenames", ())
    folders = set(item.path.relative_to(_TESTS).parts[:-1]) if item.path.is_relative_to(_TESTS) else set()
    if "server_url" in fixtures:
        item.add_marker(pytest.mark.database)
        if "storage" in folders:
            item.add_marker(pytest.mark.oldest)
    if folders & _WHOLE or {"chain", "chains"} & set(fixtures) or item.get_closest_marker("slow"):
        item.add_marker(pytest.mark.races)
    if not folders & _NOT_FAST and not any(map(item.get_closest_marker, ("database", "races"))):
        item.add_marker(pytest.mark.fast)
    if "module_api" in fixtures or shares_server(item):
        # In the loop in which the server that it shares with its neighbours runs.
        item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
    if "browser" in fixtures:
        # In the loop in which the driver of Chromium runs.
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def _spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Slow ones evenly among the first two thirds of the others: a worker is handed hundreds in a row.

    What is left then is quick and handed out in ever smaller parts, so that all workers end together.
    """
    spread = [item for item in items if not item.get_closest_marker("slow")]
    slow = (item for item in items if item.get_closest_marker("slow"))
    units = [list(unit) for _, unit in groupby(slow, key=_unit)]
    ahead = [len(spread) * 2 * turn // (3 * len(units)) for turn in range(len(units))]
    for place, unit in reversed(list(zip(ahead, units, strict=True))):
        spread[place:place] = unit
    return spread


def _unit(item: pytest.Item) -> Hashable:
    """What stays together: apart, tests of one module would each make anew what they share."""
    return item.path if item.get_closest_marker("shares_setup") else item


def _database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


async def _make_template(url: str) -> None:
    admin = await asyncpg.connect(url)
    try:
        await admin.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        await admin.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
    finally:
        await admin.close()
    await migrate(_database(url, TEMPLATE), utc_now())


@pytest.fixture(scope="session")
def server_url(request: pytest.FixtureRequest) -> str:
    """A superuser's way in to the server that all tests share."""
    worker = getattr(request.config, "workerinput", None)
    return worker["database_url"] if worker is not None else _server_url(request.config)


@pytest.fixture
async def empty_database_url(server_url: str) -> AsyncIterator[str]:
    """A database in which nothing was made yet."""
    name = f"test_{uuid4().hex}"
    admin = await asyncpg.connect(server_url)
    try:
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
        yield _database(server_url, name)
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await admin.close()


@pytest.fixture
def database_url(clones: Clones) -> Iterator[str]:
    """A database of this test's own, with every migration applied."""
    name = clones.take()
    yield _database(clones.server_url, name)
    clones.drop(name)


@pytest.fixture(scope="session")
def clones(server_url: str) -> Iterator[Clones]:
    """Copies of the template that are ready before a test asks."""
    made = Clones(server_url, TEMPLATE)
    yield made
    made.close()


@pytest.fixture(scope="module")
def module_database_url(clones: Clones) -> Iterator[str]:
    """A database that the cases of a module share: each acts in a team of its own."""
    name = clones.take()
    yield _database(clones.server_url, name)
    clones.drop(name)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Db]:
    """A pool on this test's database."""
    opened = await Db.open(database_url, size=4, name="test")
    yield opened
    await opened.close()
