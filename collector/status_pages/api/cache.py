"""Rendered status pages: looked up once a second at most, however many visitors come."""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import structlog
from aiohttp import hdrs
from multidict import CIMultiDict

from collector.platform.storage.db import Db
from collector.status_pages.service import view as status_pages_view
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.service.view import PageView
from shared.clock import SecondClock
from shared.errors import Unavailable

log = structlog.get_logger()

FRESH_S: Final = 1.0
# How long a rendered page is served while only its timestamp would change.
DRAWN_S: Final = 5.0
# If a cached page exists, a visitor does not wait longer than this for the database.
PATIENCE_S: Final = 1.0
_MOST: Final = 250
_LEVEL: Final = 6

Key = tuple[str, ...]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CachedBody:
    """A body with its headers, plain and gzipped; both variants have the same entity tag."""

    body: bytes
    headers: CIMultiDict[str]
    packed: bytes
    packed_headers: CIMultiDict[str]
    tag: str


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A loaded page; *texts* (rendered bodies) and *past* (parts of the history) are filled on first use."""

    view: PageView
    looked_at: float
    drawn_since: float
    texts: dict[Key, CachedBody] = field(default_factory=dict)
    past: dict[int, asyncio.Task[list[PageIncidentDetails]]] = field(default_factory=dict)

    async def older(self, db: Db, number: int) -> list[PageIncidentDetails]:
        """A part of the history, read once for all concurrent requests. Raises Unavailable."""
        if (task := self.past.get(number)) is None:
            task = self.past[number] = asyncio.create_task(
                status_pages_view.past(db, self.view.page, number), name="status-page-past"
            )
            task.add_done_callback(partial(self._read, number))
        return await asyncio.shield(task)

    async def incident(self, db: Db, id_: UUID) -> PageIncidentDetails | None:
        """The incident with this id, however old. Raises Unavailable."""
        for details in self.view.incidents:
            if details.row.id == id_:
                return details
        return await status_pages_view.incident(db, self.view.page, id_)

    def _read(self, number: int, task: "asyncio.Task[list[PageIncidentDetails]]") -> None:
        if task.cancelled() or task.exception() is not None:
            self.past.pop(number, None)


def text_of(body: str, headers: Mapping[str, str], at: datetime, fading: tuple[str, ...]) -> CachedBody:
    """Build the body and its headers; *fading*: timestamps in the body, excluded from the entity tag."""
    lasting = body
    for part in fading:
        lasting = lasting.replace(part, "")
    tag = f'W/"{hashlib.sha256(lasting.encode()).hexdigest()[:24]}"'
    plain = CIMultiDict(headers)
    plain[hdrs.ETAG] = tag
    plain[hdrs.LAST_MODIFIED] = format_datetime(at.astimezone(UTC), usegmt=True)
    packed = CIMultiDict(plain)
    packed[hdrs.CONTENT_ENCODING] = "gzip"
    raw = body.encode()
    return CachedBody(raw, plain, gzip.compress(raw, _LEVEL, mtime=0), packed, tag)


class Sites:
    """A cache of the most recently used pages, by address.

    While the database is unavailable, the cached page is shown, with its time.
    """

    def __init__(self, clock: SecondClock = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[Key, CachedPage] = OrderedDict()
        self._none: OrderedDict[Key, float] = OrderedDict()
        self._asked: dict[Key, asyncio.Task[CachedPage | None]] = {}
        self._changed: dict[int, float] = {}

    def outdate(self, team_id: int) -> None:
        """Invalidate the team's cached pages after something that they show was changed here."""
        self._changed[team_id] = self._clock()
        self._none.clear()
        self._asked.clear()

    async def find(self, db: Db, kind: str, address: str, now: datetime) -> CachedPage | None:
        """The page, at most a second old and loaded after the last `outdate`.

        Raises Unavailable if the page cannot be loaded and is not cached.
        """
        key = (kind, address)
        known = self._known.get(key)
        if known is not None and self._is_fresh(known):
            return known
        if key in self._none and self._clock() - self._none[key] < FRESH_S:
            return None
        if (task := self._asked.get(key)) is None:
            task = self._asked[key] = asyncio.create_task(self._look(db, key, now), name="status-page")
            task.add_done_callback(partial(self._ended, key))
        if known is None:
            return await asyncio.shield(task)
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await asyncio.shield(task)
        except (Unavailable, TimeoutError):
            log.info("status page served from cache", address=address)
            known = self._known[key] = replace(known, looked_at=self._clock())
            return known

    def _is_fresh(self, known: CachedPage) -> bool:
        changed_at = self._changed.get(known.view.page.team_id)
        if changed_at is not None and known.looked_at <= changed_at:
            return False
        return self._clock() - known.looked_at < FRESH_S

    def _ended(self, key: Key, task: "asyncio.Task[CachedPage | None]") -> None:
        """Forget the load and log its error: by now, nobody may be waiting for the result."""
        if self._asked.get(key) is task:
            del self._asked[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.info("status page not loaded", address=key[1], error=str(error) or type(error).__name__)

    async def _look(self, db: Db, key: Key, now: datetime) -> CachedPage | None:
        looked_at, before = self._clock(), self._known.get(key)
        kind, address = key
        view = await status_pages_view.load(db, kind, address, now, before.view if before else None)
        if view is None:
            self._known.pop(key, None)
            _put(self._none, key, looked_at)
            return None
        if before and looked_at - before.drawn_since < DRAWN_S and view.equals_but_for_time(before.view):
            site = replace(before, looked_at=looked_at)
        else:
            site = CachedPage(view, looked_at, looked_at)
        _put(self._known, key, site)
        return site


def _put(known: OrderedDict[Key, _Value], key: Key, value: _Value) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > _MOST:
        known.popitem(last=False)
