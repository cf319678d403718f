"""docs/development.md: its examples fit the code, touch no more files than it says, and work."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared import ids
from tests.e2e.product import Caller, Product, eventually
from tests.receiver import answer, receiving
from tests.streams import stream_server

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "development.md"
SNIPPET = re.compile(
    r"^(?P<how>New file|In|At the end of) `(?P<path>[^`]+)`[^\n]*:\n\n```\w+\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
MOST_FILES = {
    "A check type": 6,
    "A channel type": 3,
    "A background job": 3,
    "A plain field of monitors": 5,
    "A field that decides": 10,
    "An action on incidents": 7,
}

pytestmark = [pytest.mark.slow, pytest.mark.races, pytest.mark.timeout(300)]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of an example: a new *text*, or a difference."""

    section: str
    how: str
    path: str
    text: str

    def apply(self, tree: Path) -> Path:
        """Apply it to *tree*; return the file."""
        path = tree / self.path.replace("<next>", f"{_newest_migration(tree) + 1:04}")
        if self.how == "New file":
            assert not path.exists(), f"{self} is there already"
            path.parent.mkdir(exist_ok=True)
            path.write_text(self.text)
        elif self.how == "At the end of":
            path.write_text(f"{path.read_text().rstrip()}\n\n\n{self.text}")
        else:
            for hunk in self.text.split("@@\n"):
                path.write_text(self._changed(path.read_text(), hunk.splitlines()))
        return path

    def _changed(self, before: str, hunk: list[str]) -> str:
        """Return *before* with one hunk applied, whose old lines must stand there once."""
        old = "".join(f"{line[1:]}\n" for line in hunk if line[:1] != "+")
        new = "".join(f"{line[1:]}\n" for line in hunk if line[:1] != "-")
        found = f"\n{before}".count(f"\n{old}")
        assert found == 1, f"{self} no longer applies: these lines stand there {found} times:\n{old}"
        return f"\n{before}".replace(f"\n{old}", f"\n{new}")[1:]

    def __str__(self) -> str:
        return f"the snippet for {self.path} in “{self.section}” of docs/development.md"


def snippets() -> Iterator[Snippet]:
    for section in PAGE.read_text().split("\n## ")[1:]:
        title = section.partition(":")[0]
        for match in SNIPPET.finditer(section):
            yield Snippet(title, match["how"], match["path"], match["text"])


def _newest_migration(tree: Path) -> int:
    return max(int(path.name[:4]) for path in (tree / "collector" / "migrations").glob("[0-9]*.sql"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository to which all examples are applied."""
    copy = tmp_path_factory.mktemp("tree")
    unwanted = shutil.ignore_patterns("__pycache__")
    for folder in ("collector", "probe", "shared", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", copy)
    changed = [snippet.apply(copy) for snippet in snippets()]
    (copy / "changed").write_text("\n".join(str(path) for path in changed if path.suffix == ".py"))
    return copy


def _in(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_no_example_touches_more_files_than_it_may() -> None:
    touched: dict[str, set[str]] = {}
    for snippet in snippets():
        if not snippet.path.startswith("tests/"):
            touched.setdefault(snippet.section, set()).add(snippet.path)

    assert touched.keys() == MOST_FILES.keys()
    assert {title: len(paths) for title, paths in touched.items() if len(paths) > MOST_FILES[title]} == {}


def test_every_block_of_code_is_a_snippet() -> None:
    assert PAGE.read_text().count("\n```\n") == len(list(snippets()))


def test_what_is_added_keeps_the_style_and_passes_its_tests(tree: Path) -> None:
    files = (tree / "changed").read_text().splitlines()
    for command in (["check"], ["format", "--check"]):
        done = _in(tree, "-m", "ruff", *command, *files)
        assert done.returncode == 0, done.stdout
    tests = [snippet.path for snippet in snippets() if snippet.path.startswith("tests/")]

    done = _in(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", *tests)

    assert done.returncode == 0, done.stdout


async def test_the_command_checks_a_target_of_the_new_type(tree: Path) -> None:
    assert "memcached" in _in(tree, "-m", "probe.cli.check", "--help").stdout
    async with stream_server(_memcached) as port:
        command = ("-m", "probe.cli.check", "memcached", f"127.0.0.1:{port}")
        done = await asyncio.to_thread(_in, tree, *command)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_a_product_with_all_of_it_works(tree: Path, tmp_path: Path) -> None:
    product = Product(tmp_path / "var", {"LOG_LEVEL": "info"}, source=tree)
    product.start()
    try:
        await product.ready()
        async with stream_server(_memcached) as port, aiohttp.ClientSession() as session:
            caller = Caller(product, session, product.token)
            await _a_monitor_of_the_new_type_is_up(caller, port)
            await _the_new_channel_sends(caller)
            await _the_job_takes_its_turn(product, caller)
            await _an_incident_is_dismissed(caller)
    finally:
        product.stop()


async def _a_monitor_of_the_new_type_is_up(caller: Caller, port: int) -> None:
    body: dict[str, Any] = {"name": "cache", "type": "memcached", "config": {"host": "127.0.0.1", "port": 0}}
    status, refused = await caller.call("POST", "/v1/monitors", body)
    assert (status, list(refused["details"])) == (400, ["port"])

    body |= {"config": {"host": "127.0.0.1", "port": port}, "owner": "shop team", "strictRecovery": True}
    made = await caller.made("/v1/monitors", body)

    async def measured() -> Any:
        return (await caller.got(f"/v1/monitors/{made['id']}/results?status=up"))["data"]

    await eventually(measured)
    shown = await caller.got(f"/v1/monitors/{made['id']}")
    assert (shown["owner"], shown["strictRecovery"]) == ("shop team", True)


async def _the_new_channel_sends(caller: Caller) -> None:
    async with receiving(answer()) as service:
        config = {"topic": "on-call", "server": service.url("/")}
        made = await caller.made("/v1/alert-channels", {"name": "ntfy", "type": "ntfy", "config": config})
        tested = await caller.made(f"/v1/alert-channels/{made['id']}/test", {})
        [received] = service.received
    assert tested["success"]
    assert received.json["topic"] == "on-call"
    assert received.json["title"].startswith("Test: ")


async def _the_job_takes_its_turn(product: Product, caller: Caller) -> None:
    tokens = [await caller.made("/v1/probe-tokens", {"locations": ["eu"]}) for _ in range(2)]
    database = await product.connect()
    try:
        await database.execute(
            "UPDATE join_tokens SET expires_at = now() - interval '31 days' WHERE id = $1",
            ids.read("tok", tokens[0]["id"]),
        )
    finally:
        await database.close()

    async def listed() -> bool:
        left = {token["id"] for token in (await caller.got("/v1/probe-tokens"))["data"]}
        return tokens[0]["id"] not in left and tokens[1]["id"] in left

    await eventually(listed, timeout_s=30)


async def _an_incident_is_dismissed(caller: Caller) -> None:
    made = await caller.made("/v1/incidents", {"title": "It is slow"})
    done = await caller.made(f"/v1/incidents/{made['id']}/dismiss", None)
    assert (done["status"], done["resolutionNote"]) == ("resolved", "False alarm")


async def _memcached(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if await reader.readline() == b"version\r\n":
        writer.write(b"VERSION 1.6.38\r\n")
        await writer.drain()
    writer.close()
