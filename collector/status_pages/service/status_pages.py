"""Creates, reads, updates and deletes the status pages of a team."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.accounts.service import password_hashes
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import to_json
from collector.status_pages.core.domains import asked_of
from collector.status_pages.core.fields import NewPage, PageSettings
from collector.status_pages.core.status_page import MAX_SLUG, slug_of
from collector.status_pages.service import components, domains
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.domains import Prover, ServiceNames
from collector.status_pages.service.fields import asked_for, record, there
from collector.status_pages.storage import domains as domain_table
from collector.status_pages.storage import status_pages as table
from collector.status_pages.storage.status_pages import PageCounts, StatusPage
from shared import ids
from shared.errors import Conflict

_TRIES = 9


@dataclass(frozen=True, slots=True)
class StatusPageDetails:
    """A page with its components; *answers*: whether its domain shows it."""

    page: StatusPage
    counts: PageCounts
    answers: bool
    components: Sequence[ComponentDetails] = ()
    warnings: Sequence[str] = ()


def settable(page: StatusPage) -> dict[str, Any]:
    """The writable fields of a page, with their current values."""
    return {
        "name": page.name,
        "slug": page.slug,
        "domain": page.domain,
        "visibility": page.visibility,
        "branding": page.branding,
    }


async def create(
    db: Db, who: Actor, body: Mapping[str, Any], now: datetime, *, own: ServiceNames
) -> StatusPageDetails:
    """Create a page; *own*: the service's own names. Raises Invalid, Conflict."""
    request = asked_for(NewPage, body, {})
    strangers: Mapping[str, str] = {}
    if request.faults:
        async with db.connection() as tx:
            _, strangers = await components.named_first(tx, who.team_id, request)
    asked = request.checked(strangers)
    own.refuse(_domain(asked.domain))
    page = StatusPage(
        team_id=who.team_id,
        id=ids.uuid7(),
        name=asked.name,
        slug=asked.slug or "",
        domain=_domain(asked.domain),
        visibility=asked.visibility,
        password=await _hashed(who, asked.password),
        branding=to_json(asked.branding),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    async with db.transaction() as tx:
        page = await _addressed(tx, page, None, now)
        await table.insert(tx, page)
        await components.add_first(tx, page, request, now)
        await record(tx, who, "create", page)
        return await _known(tx, page, now, request.warnings)


async def page(db: Db, team_id: int, limit: int | None, offset: int) -> tuple[list[StatusPageDetails], int]:
    """Pages, newest first, and their total number; without the status of their components."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id)
        rows = await table.newest(tx, team_id, limit, offset)
        counts = await table.counts(tx, team_id, [row.id for row in rows])
        answering = await domain_table.answering(tx, team_id, [row.id for row in rows])
    return [StatusPageDetails(row, counts[row.id], row.id in answering) for row in rows], total


async def existing(db: Db, team_id: int, id_: UUID) -> StatusPage:
    """The row of the page. Raises NotFound."""
    async with db.connection() as tx:
        return there(await table.get(tx, team_id, id_))


async def one(db: Db, team_id: int, id_: UUID, now: datetime) -> StatusPageDetails:
    """One page with its components. Raises NotFound."""
    async with db.connection() as tx:
        row = there(await table.get(tx, team_id, id_))
        return await _known(tx, row, now)


async def update(
    db: Db,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    own: ServiceNames,
    only: frozenset[str] | None = None,
) -> StatusPageDetails:
    """Update a page. Without a change the revision stays; *only*: the accepted revisions.

    Raises NotFound, PreconditionFailed, Invalid, Conflict, in this order.
    """
    hashed = await _hashed_anew(db, who, id_, body)
    async with db.transaction() as tx:
        before = there(await table.lock(tx, who.team_id, id_))
        require(before.revision, only)
        request = asked_for(PageSettings, _merged(body, before), settable(before))
        asked = request.checked({})
        own.refuse(_domain(asked.domain), before.domain)
        after = replace(
            before,
            name=asked.name,
            slug=asked.slug or before.slug,
            domain=_domain(asked.domain),
            visibility=asked.visibility,
            password=hashed if "password" in body else before.password,
            branding=to_json(asked.branding),
        )
        if after != before:
            after = replace(after, revision=before.revision + 1, updated_at=now)
            after = await _addressed(tx, after, before, now)
            await table.save(tx, after)
            changed = audit.differing(settable(before), settable(after))
            changed += ["password"] if before.password != after.password else []
            await record(tx, who, "update", after, changed)
        return await _known(tx, after, now, request.warnings)


async def delete(db: Db, who: Actor, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """Delete a page; *only*: the accepted revisions. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = there(await table.lock(tx, who.team_id, id_))
        require(row.revision, only)
        await table.delete(tx, who.team_id, id_)
        await record(tx, who, "delete", row)


async def verify(db: Db, prover: Prover, who: Actor, id_: UUID, now: datetime) -> StatusPageDetails:
    """Look for the proof of its domain now. Raises NotFound, Unavailable."""
    await domains.verify(db, prover, who, id_, now)
    return await one(db, who.team_id, id_, now)


def _domain(name: str | None) -> str | None:
    return name.lower() if name else None


def _merged(body: Mapping[str, Any], before: StatusPage) -> dict[str, Any]:
    """*body* with its branding merged into the stored one; null removes all branding."""
    branding = body.get("branding")
    if isinstance(branding, dict):
        return {**body, "branding": {**before.branding, **branding}}
    return dict(body)


async def _hashed(who: Actor, password: str | None) -> str | None:
    return None if password is None else await password_hashes.stored(password, who.team_id)


async def _hashed_anew(db: Db, who: Actor, id_: UUID, body: Mapping[str, Any]) -> str | None:
    """The hash of the new password, computed before a row is locked because it is slow. Raises NotFound.

    Invalid passwords are not hashed: `update` rejects them.
    """
    password = body.get("password")
    if (
        not isinstance(password, str)
        or "password" in asked_for(PageSettings, {"password": password}, {}).faults
    ):
        return None
    await existing(db, who.team_id, id_)
    return await _hashed(who, password)


async def _addressed(tx: Tx, page: StatusPage, before: StatusPage | None, now: datetime) -> StatusPage:
    """The page with its slug and domain reserved. Raises Conflict."""
    page = await domains.addressed(tx, page, before, now)
    if page.slug:
        if not await table.claim(tx, page.team_id, page.id, "slug", page.slug):
            raise Conflict("Another status page has this slug")
        return page
    for slug in _slugs(page):
        if await table.claim(tx, page.team_id, page.id, "slug", slug):
            return replace(page, slug=slug)
    raise Conflict("Another status page has this slug; choose one")


def _slugs(page: StatusPage) -> Iterator[str]:
    """Candidate slugs derived from a page's name."""
    base = slug_of(page.name) or "status"
    yield base
    for number in range(2, _TRIES):
        yield f"{base[: MAX_SLUG - 2].rstrip('-')}-{number}"
    yield f"{base[: MAX_SLUG - 13].rstrip('-')}-{page.id.hex[-12:]}"


def _warnings(page: StatusPage, *, answers: bool) -> list[str]:
    warnings = []
    if page.visibility == "private" and page.password is None:
        warnings.append("the page is private and has no password: nobody can see it")
    if page.domain is not None and not answers:
        proof = asked_of(page.domain, page.id)
        warnings.append(
            f"{page.domain} does not show the page before it is proved: "
            f"put the TXT record {proof.record} there with the value {proof.value}"
        )
    return warnings


async def _known(tx: Tx, page: StatusPage, now: datetime, warnings: Sequence[str] = ()) -> StatusPageDetails:
    counts = await table.counts(tx, page.team_id, [page.id])
    answers = page.id in await domain_table.answering(tx, page.team_id, [page.id])
    all_warnings = [*warnings, *_warnings(page, answers=answers)]
    return StatusPageDetails(
        page, counts[page.id], answers, await components.seen(tx, page.team_id, page.id, now), all_warnings
    )
