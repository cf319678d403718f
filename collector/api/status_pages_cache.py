"""What visitors of status pages are shown: looked up once a second at most, however many come."""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import structlog

from collector.services import status_pages_view
from collector.services.status_pages_view import View
from collector.storage.db import Db
from shared.errors import Unavailable

log = structlog.get_logger()

FRESH_S: Final = 1.0
_MOST: Final = 1_000
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Text:
    """A body, the same packed by gzip, and the entity tag that both have."""

    body: bytes
    packed: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class Site:
    """A page as it was looked up; *texts* are drawn from it when first asked for."""

    view: View
    looked_at: float
    texts: dict[str, Text] = field(default_factory=dict)

    def text(self, name: str, draw: Callable[[View], str]) -> Text:
        if (known := self.texts.get(name)) is None:
            body = draw(self.view).encode()
            known = self.texts[name] = Text(body, gzip.compress(body, _LEVEL, mtime=0), _tag(body))
        return known


def _tag(body: bytes) -> str:
    return f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'


class Sites:
    """The pages that were asked for last, by their slugs; the oldest give way.

    While the database is away, what was known last is shown, with the time of it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[str, Site] = OrderedDict()
        self._asked: dict[str, asyncio.Task[Site | None]] = {}

    async def find(self, db: Db, slug: str, now: datetime) -> Site | None:
        """The page, no older than a second. Raises Unavailable where nothing was known before."""
        known = self._known.get(slug)
        if known is not None and self._clock() - known.looked_at < FRESH_S:
            return known
        if (task := self._asked.get(slug)) is None:
            task = self._asked[slug] = asyncio.create_task(self._look(db, slug, now), name="status-page")
            task.add_done_callback(lambda _: self._asked.pop(slug, None))
        try:
            return await asyncio.shield(task)
        except Unavailable:
            if known is None:
                raise
            log.info("status page shown as it was known last", slug=slug)
            known = self._known[slug] = replace(known, looked_at=self._clock())
            return known

    async def _look(self, db: Db, slug: str, now: datetime) -> Site | None:
        looked_at = self._clock()
        view = await status_pages_view.load(db, slug, now)
        if view is None:
            self._known.pop(slug, None)
            return None
        site = self._known[slug] = Site(view, looked_at)
        self._known.move_to_end(slug)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return site
