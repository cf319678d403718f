"""Keeps status pages up to date: maintenance by schedule, proofs of domains, unconfirmed subscribers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import structlog

from collector.platform.storage.db import Db, Tx
from collector.status_pages.core.links import CONFIRM_FOR
from collector.status_pages.service import domains
from collector.status_pages.service import incidents as status_pages_incidents
from collector.status_pages.service.domains import Prover
from collector.status_pages.storage import domains as domain_table
from collector.status_pages.storage import incidents, news, status_pages, subscribers
from collector.status_pages.storage.incidents import PageIncident
from collector.status_pages.storage.status_pages import StatusPage
from shared.clock import UtcClock

log = structlog.get_logger()

_AT_ONCE = 50
_DOMAINS_AT_ONCE = 5


class StatusPages:
    """Starts and ends maintenance, and reminds of it.

    Any number may run: each page is locked and checked again first.
    """

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        now = self._now()
        async with self._db.connection() as tx:
            due = await incidents.due(tx, now, _AT_ONCE)
            ahead = await incidents.to_remind(tx, now, _AT_ONCE)
        await self._each(due, lambda tx, page, row: status_pages_incidents.come_to(tx, page, row, now))
        await self._each(ahead, lambda tx, _, row: status_pages_incidents.remind(tx, row, now))
        async with self._db.transaction() as tx:
            await subscribers.forget(tx, now - CONFIRM_FOR)
            gone = await news.forget(tx)
        if gone:
            log.warning("status page letters dropped after a day", letters=gone)
        return _AT_ONCE in {len(due), len(ahead)}

    async def _each(
        self,
        ids: Sequence[tuple[int, UUID, UUID]],
        change: Callable[[Tx, StatusPage, PageIncident], Awaitable[bool]],
    ) -> None:
        """Change each maintenance of *ids* (team, page, incident) while its page is locked."""
        for team_id, page_id, id_ in ids:
            async with self._db.transaction() as tx:
                page = await status_pages.lock(tx, team_id, page_id)
                row = await incidents.get(tx, team_id, page_id, id_)
                if page is not None and row is not None:
                    await change(tx, page, row)


class DomainProofs:
    """Looks for domain proofs. Any number may run: each page is claimed by one of them."""

    def __init__(self, db: Db, prover: Prover, *, now: UtcClock) -> None:
        self._db = db
        self._prover = prover
        self._now = now

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        async with self._db.transaction() as tx:
            due = await domain_table.due(tx, _DOMAINS_AT_ONCE)
        await asyncio.gather(*(domains.check(self._db, self._prover, page, self._now()) for page in due))
        return len(due) == _DOMAINS_AT_ONCE
