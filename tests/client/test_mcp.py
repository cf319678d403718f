"""`tocsin mcp` by the official client: over its pipes and over HTTP, in bounds of the caller's token."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from collector.platform.access import Permission
from tests.e2e.product import eventually
from tests.http.client import Api
from tests.monitors.monitors import make, shown
from tests.ports import free_port

pytestmark = pytest.mark.races

ARGUMENTS = ["-m", "shared.command", "mcp"]


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    return {**kept, **variables}


@asynccontextmanager
async def over_pipes(api: Api) -> AsyncIterator[Client]:
    """Run the server as an assistant does, with a caller's token."""
    variables = environment(TOCSIN_URL=api.url, TOCSIN_TOKEN=str(api.token))
    parameters = StdioServerParameters(command=sys.executable, args=ARGUMENTS, env=variables)
    async with Client(stdio_client(parameters)) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answered; it must not have failed."""
    result = await client.call_tool(tool, arguments)
    text = getattr(result.content[0], "text", "")
    assert not result.is_error, text
    return json.loads(text)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


async def test_an_assistant_reads_an_outage_and_acknowledges_it(api: Api) -> None:
    monitor_id = await make(api, name="Front page")
    answer = await api.post("/v1/incidents", {"title": "Slow", "severity": "high", "monitorId": monitor_id})
    id_ = answer.json["id"]

    async with over_pipes(api) as client:
        listed = await called(client, "list_monitors", search="front")
        explained = await called(client, "explain_monitor", monitor="front page")
        statistics = await called(client, "monitor_statistics", monitor=monitor_id, step="1h")
        incidents = await called(client, "list_incidents", status="open", monitor="Front page")
        await called(client, "acknowledge_incident", incident="Front page")
        await called(client, "add_incident_note", incident=id_, text="Looking into it")
        incident = await called(client, "get_incident", incident=id_)
        preview = await called(
            client, "preview_alert_rule", conditions={"consecutiveFailures": 3}, monitors=[monitor_id]
        )
        await called(client, "silence_monitor", monitor="Front page", duration=3600, reason="Moving")

    assert [item["id"] for item in listed["data"]] == [monitor_id]
    assert "status" in explained
    assert "points" in statistics or "data" in statistics, statistics
    assert [item["id"] for item in incidents["data"]] == [id_]
    assert incident["status"] == "acknowledged"
    assert [event["type"] for event in incident["timeline"]] == ["created", "acknowledged", "note_added"]
    assert preview
    assert (await shown(api, monitor_id))["silencedUntil"]


async def test_a_token_that_may_only_read_has_no_tools_that_change_anything(api: Api) -> None:
    async with over_pipes(await api.allowed(Permission.READ_ONLY)) as client:
        reader = {tool.name: tool for tool in (await client.list_tools()).tools}
    async with over_pipes(api) as client:
        writer = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert "explain_monitor" in reader
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in reader.values())
    assert {name for name in writer if name not in reader} == {
        "acknowledge_incident",
        "add_incident_note",
        "check_monitor",
        "pause_monitor",
        "preview_alert_rule",
        "resolve_incident",
        "resume_monitor",
        "silence_monitor",
    }
    assert all(tool.description for tool in writer.values())


async def test_the_service_s_own_words_say_what_is_wrong(api: Api) -> None:
    id_ = (await api.post("/v1/incidents", {"title": "Slow", "severity": "low"})).json["id"]
    async with over_pipes(api) as client:
        await called(client, "acknowledge_incident", incident=id_)
        assert "acknowledged" in await refused(client, "acknowledge_incident", incident=id_)
        assert "no monitor is called Nothing" in await refused(client, "get_monitor", monitor="Nothing")
        assert "duration" in await refused(client, "silence_monitor", monitor="x", duration=1, reason="")


async def test_without_a_sign_in_it_says_so(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *ARGUMENTS, env=environment(XDG_CONFIG_HOME=str(tmp_path)),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, errors = await process.communicate()

    assert (process.returncode, out) == (2, b"")
    assert b"tocsin login" in errors


async def test_over_http_each_caller_acts_with_a_token_of_its_own(api: Api) -> None:
    id_ = await make(api)
    reader = await api.allowed(Permission.READ_ONLY)
    address = f"127.0.0.1:{free_port()}"
    # The process's own token is used for nobody.
    variables = environment(TOCSIN_URL=api.url, TOCSIN_TOKEN=str(api.token))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *ARGUMENTS, "--listen", address, env=variables, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await eventually(lambda: listening(address), timeout_s=30)
        async with over_http(address, str(reader.token)) as client:
            assert (await called(client, "get_monitor", monitor="shop"))["id"] == id_
            assert "read" in await refused(client, "pause_monitor", monitor=id_)
        async with over_http(address, None) as client:
            assert "send an API token" in await refused(client, "get_monitor", monitor="shop")
        async with over_http(address, str(api.token)) as client:
            assert (await called(client, "pause_monitor", monitor="shop"))["status"] == "paused"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def over_http(address: str, token: str | None) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"http://{address}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def listening(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True
