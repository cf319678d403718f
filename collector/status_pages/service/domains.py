"""Custom domains of status pages: claims one for a page and verifies its ownership."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

import structlog

from collector.accounts.storage import teams
from collector.platform.access import Actor, system
from collector.platform.storage.db import Db, Tx
from collector.platform.transport import NoAnswer, Transport
from collector.status_pages.core.domains import FILE, DomainChallenge, asked_of, is_own, proves
from collector.status_pages.service.fields import record, there
from collector.status_pages.storage import domains as table
from collector.status_pages.storage import status_pages as pages
from collector.status_pages.storage.status_pages import StatusPage
from shared.errors import Conflict, Unavailable

log = structlog.get_logger()

_TAKEN: Final = "Another status page has this domain"
_WITHIN_S: Final = 10.0
_AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True)
class ServiceNames:
    """The service's own names, which pages cannot use."""

    public_url: str
    hosts: Collection[str] = ()

    def refuse(self, domain: str | None, before: str | None = None) -> None:
        """Raise Conflict if *domain* is one of them, unless the page already had it *before*."""
        if domain is not None and domain != before and is_own(domain, self.public_url, self.hosts):
            raise Conflict(f"{domain} is a name of this service itself")


class Prover:
    """Looks for proofs in DNS and at the domains themselves; *sites*: URL prefixes of the file's path."""

    def __init__(
        self, transport: Transport, sites: Sequence[str] = ("https://{domain}", "http://{domain}")
    ) -> None:
        self._transport = transport
        self._sites = sites
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def finds(self, domain: str, proof: DomainChallenge) -> bool:
        """Whether the proof was found; unreachable sources prove nothing.

        Raises Unavailable while many other domains are being checked.
        """
        if self._places.locked():
            raise Unavailable("Other domains are being checked; try again", retry_after=5)
        async with self._places:
            if proves(proof, await self._records(proof.record)):
                return True
            for site in self._sites:
                if proves(proof, await self._file(site.format(domain=domain) + FILE)):
                    return True
        return False

    async def _records(self, name: str) -> Sequence[str]:
        try:
            return await self._transport.texts(name, timeout_s=_WITHIN_S)
        except NoAnswer:
            return ()

    async def _file(self, url: str) -> Sequence[str]:
        try:
            answer = await self._transport.request("GET", url, {}, b"", timeout_s=_WITHIN_S)
        except NoAnswer:
            return ()
        return (answer.body.decode("utf-8", "replace"),) if answer.status == 200 else ()


async def addressed(tx: Tx, page: StatusPage, before: StatusPage | None, now: datetime) -> StatusPage:
    """The page, with its domain reserved if no proof is needed. Raises Conflict.

    With a single team a domain is reserved at once; with several, an unproved domain reserves nothing.
    """
    if before is not None and before.domain == page.domain:
        return page
    asked = replace(page, domain_since=now if page.domain else None, domain_proved_at=None)
    await table.release(tx, page.team_id, page.id)
    if page.domain is None:
        return asked
    if await teams.count(tx) == 1:
        if not await pages.claim(tx, page.team_id, page.id, "domain", page.domain):
            raise Conflict(_TAKEN)
    elif await table.is_taken(tx, page.team_id, page.domain):
        raise Conflict(_TAKEN)
    return asked


async def verify(db: Db, prover: Prover, who: Actor, id_: UUID, now: datetime) -> None:
    """Look for the proof of a page's domain now. Raises NotFound, Unavailable."""
    async with db.connection() as tx:
        page = there(await pages.get(tx, who.team_id, id_))
    await check(db, prover, page, now, who)


async def check(db: Db, prover: Prover, page: StatusPage, now: datetime, who: Actor | None = None) -> None:
    """Look for the proof; if found, the page gets the domain. *who* None: the service itself."""
    if page.domain is None or page.domain_proved_at is not None:
        return
    if await prover.finds(page.domain, asked_of(page.domain, page.id)):
        await _give(db, page, now, who)


async def _give(db: Db, page: StatusPage, now: datetime, who: Actor | None) -> None:
    """Give the page its proved domain, taking it from a page without a proof."""
    async with db.transaction() as tx:
        row = await pages.lock(tx, page.team_id, page.id)
        if row is None or row.domain != page.domain or row.domain_proved_at is not None:
            return
        assert row.domain is not None  # noqa: S101 - equal to *page*'s, which is set
        if not await table.take(tx, row.team_id, row.id, row.domain):
            return
        row = replace(row, domain_proved_at=now, revision=row.revision + 1, updated_at=now)
        await pages.save(tx, row)
        await record(tx, who or system(row.team_id), "verify", row)
    log.info("domain proved", domain=page.domain)
