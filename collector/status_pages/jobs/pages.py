"""Starts and ends planned maintenance of status pages; deletes unconfirmed subscribers and old updates."""

from collections.abc import Callable
from datetime import datetime

import structlog

from collector.platform.storage.db import Db
from collector.status_pages.core.links import CONFIRM_FOR
from collector.status_pages.service import incidents as status_pages_incidents
from collector.status_pages.storage import incidents, news, status_pages, subscribers

log = structlog.get_logger()

_AT_ONCE = 50


class StatusPages:
    """Starts and ends maintenance. Any number may run: each page is locked and checked again first."""

    def __init__(self, db: Db, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        now = self._now()
        async with self._db.connection() as tx:
            due = await incidents.due(tx, now, _AT_ONCE)
        for team_id, page_id, id_ in due:
            async with self._db.transaction() as tx:
                page = await status_pages.lock(tx, team_id, page_id)
                row = await incidents.get(tx, team_id, page_id, id_)
                if page is not None and row is not None:
                    await status_pages_incidents.come_to(tx, page, row, now)
        async with self._db.transaction() as tx:
            await subscribers.forget(tx, now - CONFIRM_FOR)
            gone = await news.forget(tx)
        if gone:
            log.warning("status page letters dropped after a day", letters=gone)
        return len(due) == _AT_ONCE
