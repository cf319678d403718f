"""The stream of events that open pages live on: for as long as the session lasts, and no longer."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import StreamReader

from collector.console import render
from collector.events import stream as following
from collector.events.core.kinds import CHANGES, DELIVERED
from tests.console.client import Console, visiting

pytestmark = [pytest.mark.races, pytest.mark.shares_server]


@asynccontextmanager
async def opened(console: Console) -> AsyncIterator[StreamReader]:
    """The body of a stream that has begun."""
    async with console.session.get(f"{console.url}/events") as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        assert b"retry" in await answer.content.readline()
        yield answer.content


@pytest.mark.oldest
async def test_a_stream_outlasts_the_looks_at_its_session_and_tells_what_happens(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_TOKENS_EVERY_S", 0.0)
    await console.sign_in()

    async with opened(console) as stream, asyncio.timeout(20):
        for title in ("smoke", "fire"):
            await console.api.post("/v1/incidents", {"title": title})
            console.api.features.following.bell.ring()
            while title.encode() not in await stream.readline():
                pass


@pytest.mark.parametrize(
    "how", ["sign-out", "user removed", "too old", "token revoked", "second factor required"]
)
@pytest.mark.own_server
async def test_a_stream_ends_with_its_session(
    console: Console, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(following, "_TOKENS_EVERY_S", 0.0)
    if how == "token revoked":
        await console.post("/sign-in", {"token": (await console.api.reader()).token})
    else:
        await console.sign_in(await console.person("viewer", "viewer@example.com"))
    async with opened(console) as stream:
        async with console.api.context.db.transaction() as tx:
            await tx.execute(
                {
                    "sign-out": "DELETE FROM console_sessions",
                    "user removed": "DELETE FROM users WHERE email = 'viewer@example.com'",
                    "too old": "UPDATE console_sessions SET ends_at = now()",
                    "second factor required": "UPDATE teams SET two_factor_required = true",
                    "token revoked": "UPDATE tokens SET revoked_at = now() WHERE permission = 'read-only'",
                }[how]
            )

        async with asyncio.timeout(20):
            while await stream.readline():
                pass


async def test_nobody_hears_of_another_team(console: Console) -> None:
    other = await console.api.other_team()
    theirs = await console.person("admin", "theirs@example.com", other.team_id)
    await console.sign_in(theirs)
    async with opened(console) as stream, visiting(console.url, console.api) as mine:
        await mine.sign_in()
        await console.api.post("/v1/incidents", {"title": "secret smoke"})
        await other.post("/v1/incidents", {"title": "their own"})
        console.api.features.following.bell.ring()

        async with asyncio.timeout(20):
            heard = b""
            while b"their own" not in heard:
                heard += await stream.readline()

    assert b"secret smoke" not in heard


async def test_a_stream_is_for_who_is_signed_in(console: Console) -> None:
    answer = await console.get("/events", allow_redirects=False, headers={"X-Part": "x"})

    assert answer.status == 401
    bearer = {"Authorization": f"Bearer {console.api.token}"}
    assert (await console.get("/events", allow_redirects=False, headers=bearer)).status == 303


def test_pages_ask_for_events_that_there_are() -> None:
    """The stream refuses a kind that it does not know, and with it every other kind of the page."""
    templates = Path(render.__file__).parent / "templates"
    asked = {
        kind
        for template in templates.glob("*.j2")
        for kinds in re.findall(r'data-live="([^"]*)"', template.read_text())
        for kind in kinds.split()
    }

    assert {"monitor.down", "incident.created"} <= asked
    assert asked <= DELIVERED | CHANGES
