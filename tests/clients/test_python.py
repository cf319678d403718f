"""The Python library against a real server: typed, repeated where that is safe, followed where it streams."""

import asyncio
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.client.test_api import answering
from tests.clients.conftest import ROOT
from tests.http.client import Api
from tests.monitors.monitors import make

pytestmark = [pytest.mark.slow, pytest.mark.shares_setup]

USE: Final = '''
"""What a user of the library writes, checked as strictly as that is possible."""

from tocsin_client import ApiError, AsyncTocsin, Tocsin, models


def use(tocsin: Tocsin) -> str:
    made = tocsin.create_monitor(
        models.TcpMonitorRequest(
            name="shop", type_="tcp", config=models.TcpMonitorConfig(host="db.example.com", port=5432)
        )
    )
    names: list[str] = [monitor.name for monitor in tocsin.iterate_monitors(status="up")]
    total: int = tocsin.list_monitors(type_="tcp", limit=1).meta.total
    try:
        tocsin.acknowledge_incident("inc_")
    except ApiError as error:
        return f"{error.status} {error.message} {error.details} {names} {total}"
    return made.id


async def follow(tocsin: AsyncTocsin) -> str:
    await tocsin.pause_monitor("mon_")
    async for event in tocsin.events(kinds=["monitor.down"]):
        payload = event.typed()
        if isinstance(payload, models.MonitorDownEvent):
            return payload.monitor.name
    async for incident in tocsin.iterate_incidents(status="open"):
        return incident.title
    return ""
'''
WRONG: Final = """
from tocsin_client import Tocsin, models

def use(tocsin: Tocsin) -> None:
    tocsin.create_monitor(models.TcpMonitorRequest(name="a", type_="tcp", config={"url": "b"}))
    tocsin.list_monitors(status="asleep")
"""


EXAMPLE: Final = re.compile("```python\\n(.+?)```", re.DOTALL)


def library() -> Any:
    return importlib.import_module("tocsin_client")


def test_its_types_are_strict_and_tell_what_is_wrong(python_client: Path) -> None:
    (python_client / "use.py").write_text(USE)
    (python_client / "wrong.py").write_text(WRONG)
    for number, page in enumerate((python_client / "README.md", ROOT / "docs" / "clients.md")):
        [example] = EXAMPLE.findall(page.read_text())
        (python_client / f"example{number}.py").write_text(f'token = incident_id = ""\n{example}')

    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=normal",
         *(f"tocsin_client/{name}.py" for name in ("client", "errors", "events", "operations", "retries")),
         "use.py", "wrong.py", "example0.py", "example1.py"],
        capture_output=True, text=True, check=False, cwd=python_client,
    )  # fmt: skip

    faults = [line for line in ended.stdout.splitlines() if ": error: " in line]
    ours = [line for line in faults if not line.startswith("tocsin_client/generated/")]
    assert [line.partition(":")[0] for line in ours] == ["wrong.py", "wrong.py"], ended.stdout
    assert '"TcpMonitorConfig"' in ours[0]
    assert "asleep" in ours[1]


def test_it_is_installed_as_a_package_and_has_all_of_its_files(python_client: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--wheel-dir", tmp_path, python_client],
        check=True, capture_output=True,
    )  # fmt: skip

    [wheel] = tmp_path.glob("tocsin_client-*.whl")
    listed = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True, check=True
    ).stdout
    assert wheel.name == f"tocsin_client-{library().VERSION}-py3-none-any.whl"
    for file in ("py.typed", "operations.py", "webhooks.py", "generated/models/monitor_item.py"):
        assert f"tocsin_client/{file}" in listed


async def test_a_monitor_is_made_listed_changed_and_deleted(python_client: Path, team: Api) -> None:
    models = library().models
    async with library().AsyncTocsin(f"{team.url}/v1/", team.token) as tocsin:
        body = models.HttpMonitorRequest(
            name="shop", type_="http", config=models.HttpMonitorConfig(url="https://shop.example.com/")
        )
        made = await tocsin.create_monitor(body)
        found = await tocsin.get_monitor(made.id)
        changed = await tocsin.update_monitor(made.id, models.UpdateMonitorRequest(interval=120))
        exported = await tocsin.export_monitor_results(made.id)
        assert await tocsin.delete_monitor(made.id) is None
        with pytest.raises(library().ApiError) as refused:
            await tocsin.get_monitor(made.id)

    assert isinstance(found, models.HttpMonitor)
    assert (found.config.url, changed.interval) == ("https://shop.example.com/", 120)
    assert exported.startswith(b"time,location,")
    assert (refused.value.status, refused.value.message) == (404, "Monitor not found")
    assert refused.value.request_id


async def test_a_wrong_request_names_its_fields(python_client: Path, team: Api) -> None:
    models = library().models
    async with library().AsyncTocsin(team.url, team.token) as tocsin:
        config = models.HttpMonitorConfig(url="ftp://shop.example.com/")
        with pytest.raises(library().ApiError) as refused:
            await tocsin.create_monitor(models.HttpMonitorRequest(name="", type_="http", config=config))

    assert refused.value.status == 400
    assert {"name", "url"} <= set(refused.value.details)
    assert "url: " in str(refused.value)


async def test_a_list_is_read_to_its_end_by_both_clients(python_client: Path, team: Api) -> None:
    for number in range(103):
        await make(team, name=f"shop {number}")

    async with library().AsyncTocsin(team.url, team.token) as tocsin:
        awaited = [monitor.name async for monitor in tocsin.iterate_monitors()]

    def read() -> list[str]:
        with library().Tocsin(team.url, team.token) as tocsin:
            return [monitor.name for monitor in tocsin.iterate_monitors()]

    assert len(set(awaited)) == 103
    assert await asyncio.to_thread(read) == awaited


async def test_events_are_typed_and_resumed_after_the_last(python_client: Path, team: Api) -> None:
    async with library().AsyncTocsin(team.url, team.token) as tocsin:
        stream = tocsin.events(kinds=["incident.created"])
        first = asyncio.ensure_future(anext(stream))
        while not first.done():
            await team.post("/v1/incidents", {"title": "Slow", "severity": "low"})
            await asyncio.wait([first], timeout=0.2)
        event = first.result()
        await stream.aclose()
        await team.post("/v1/incidents", {"title": "The last", "severity": "low"})
        async for later in tocsin.events(after=event.id):
            if later.payload["incident"]["title"] == "The last":
                break

    assert isinstance(event.typed(), library().models.IncidentEvent)
    assert event.typed().incident.title == "Slow"


async def test_a_stream_that_is_refused_says_why(python_client: Path, team: Api) -> None:
    async with library().AsyncTocsin(team.url, "no-token-of-anybody") as tocsin:
        with pytest.raises(library().ApiError) as refused:
            await anext(tocsin.events())

    assert refused.value.status == 401


def test_a_busy_service_is_asked_again_with_the_same_key(python_client: Path) -> None:
    paused = b'{"id": "mon_1", "status": "paused", "pausedAt": "2026-01-01T00:00:00.000Z"}'
    with answering((503, {"Retry-After": "0"}, b"{}"), (200, {}, paused)) as (api, peer):
        with library().Tocsin(address(api), "token") as tocsin:
            assert tocsin.pause_monitor("mon_1").status == "paused"
        assert len({headers["Idempotency-Key"] for headers in peer.seen}) == 1
        assert len(peer.seen) == 2


def test_a_broken_answer_is_repeated_and_a_lasting_fault_is_raised(python_client: Path) -> None:
    broken = (200, {"Content-Length": "1000"}, b'{"id": "')
    with answering(broken) as (api, peer), library().Tocsin(address(api), "token", tries=2) as tocsin:
        with pytest.raises(httpx.TransportError):
            tocsin.pause_monitor("mon_1")
        assert len(peer.seen) == 2


def test_a_redirect_never_carries_the_token_away(python_client: Path) -> None:
    with answering((200, {}, b"{}")) as (_, other), answering((302, {}, b"")) as (api, peer):
        peer.answers[:] = [(302, {"Location": "http://127.0.0.1:9/v1/me"}, b"")]
        with library().Tocsin(address(api), "token") as tocsin:
            tocsin.get_current_user()
        assert other.seen == []


def test_both_clients_have_every_operation(python_client: Path) -> None:
    generated = {file.stem for file in python_client.glob("tocsin_client/generated/api/*/*.py")}
    wanted = generated - {"__init__", "stream_events"}

    for client in (library().Tocsin, library().AsyncTocsin):
        assert wanted <= set(dir(client))
        assert "events" in dir(client)


def address(api: Any) -> str:
    return str(api._base)
