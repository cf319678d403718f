"""A status page while the database is away: shown as it was known last."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from collector.platform.storage.db import Db
from collector.status_pages.api import cache
from collector.status_pages.api.cache import Sites
from shared.errors import Unavailable
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page
from tests.streams import stream_server

pytestmark = pytest.mark.races


class Line:
    """A socket that leads to the database's until it is cut."""

    def __init__(self, far: str) -> None:
        self._far = far
        self._laid = AsyncExitStack()
        self._open = asyncio.Event()
        self._open.set()

    async def lay(self, near: Path) -> None:
        await self._laid.enter_async_context(stream_server(self._join, path=near))

    async def cut(self) -> None:
        """Nothing gets through any more."""
        await self._laid.aclose()

    async def hang(self) -> None:
        """From now on nothing is delivered, and no one is notified."""
        self._open.clear()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._far)
        ways = ((reader, far_writer), (far_reader, writer))
        try:
            await asyncio.gather(*(_pass(*way, self._open) for way in ways), return_exceptions=True)
        finally:
            far_writer.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: asyncio.Event) -> None:
    try:
        while data := await reader.read(65_536):
            await way.wait()
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@pytest.mark.parametrize("fault", ["cut", "hang"])
async def test_it_is_shown_as_it_was_known_last(
    api: Api, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(cache, "PATIENCE_S", 0.1)
    await page(api, slug="example", name="Known before")
    parts = urlsplit(database_url)
    (folder,) = parse_qs(parts.query)["host"]
    line = Line(f"{folder}/.s.PGSQL.5432")
    await line.lay(tmp_path / ".s.PGSQL.5432")
    db = await Db.open(parts._replace(query=f"host={tmp_path}").geturl())
    seconds = iter(range(0, 1_000, 10))
    sites = Sites(clock=lambda: next(seconds))
    before = await sites.find(db, "slug", "example", api.clock())

    await (line.cut() if fault == "cut" else line.hang())

    async with asyncio.timeout(5):
        after = await sites.find(db, "slug", "example", api.clock())
    assert before is not None
    assert after is not None
    assert (after.view, after.view.page.name) == (before.view, "Known before")
    await line.cut()
    with pytest.raises(Unavailable):
        await sites.find(db, "slug", "other", api.clock())
    await db.close()
