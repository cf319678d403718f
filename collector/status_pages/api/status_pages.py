"""Status pages: list, create, read, update, delete."""

from dataclasses import fields
from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.status_pages.answers import (
    DomainProof,
    PageAnswer,
    PageFields,
    PageItem,
    ProofFile,
    ProofRecord,
)
from collector.status_pages.api.parts import component
from collector.status_pages.core.domains import asked_of
from collector.status_pages.core.fields import branding_of
from collector.status_pages.core.status_page import of_page
from collector.status_pages.service import status_pages
from collector.status_pages.service.domains import Prover, ServiceNames
from collector.status_pages.service.fields import WHAT
from collector.status_pages.service.status_pages import StatusPageDetails
from shared import ids

PROVER: web.AppKey[Prover] = web.AppKey("prover", Prover)


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    rows, total = await status_pages.page(context_of(request).db, caller(request).team_id, limit, offset)
    items = [_item(request, known) for known in rows]
    return pages.listed(request, at, items, total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    known = await status_pages.create(
        context.db, actor(request), await body(request), context.now(), own=own(request)
    )
    return ok(_whole(request, known), 201, conditional.tagged(known.page.revision))


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    known = await status_pages.one(context.db, caller(request).team_id, _id(request), context.now())
    if (same := conditional.unchanged(request, known.page.revision)) is not None:
        return same
    return ok(_whole(request, known), headers=conditional.shown(known.page.revision))


async def update(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    only, sent = conditional.only(request), await body(request)
    known = await status_pages.update(
        context.db, actor(request), id_, sent, context.now(), own=own(request), only=only
    )
    return ok(_whole(request, known), headers=conditional.tagged(known.page.revision))


async def verify_domain(request: web.Request) -> web.Response:
    """Check the proof now; a missing proof is a normal response, not an error."""
    context = context_of(request)
    known = await status_pages.verify(
        context.db, request.app[PROVER], actor(request), _id(request), context.now()
    )
    return ok(_whole(request, known), headers=conditional.tagged(known.page.revision))


async def delete(request: web.Request) -> web.Response:
    id_ = await _found(request)
    await status_pages.delete(context_of(request).db, actor(request), id_, only=conditional.only(request))
    return no_content()


def own(request: web.Request) -> ServiceNames:
    """Return the names of the service itself."""
    context = context_of(request)
    return ServiceNames(context.public_url, context.hosts)


def _id(request: web.Request) -> UUID:
    return path_id(request, "sp", WHAT)


async def _found(request: web.Request) -> UUID:
    """The id of the page in the path, if it exists: 404 takes precedence over other errors."""
    return (await status_pages.existing(context_of(request).db, caller(request).team_id, _id(request))).id


def _whole(request: web.Request, known: StatusPageDetails) -> PageAnswer:
    item = _item(request, known)
    return PageAnswer(
        **{field.name: getattr(item, field.name) for field in fields(PageFields)},
        status=of_page([seen.part for seen in known.components]),
        components=[component(seen) for seen in known.components],
        warnings=list(known.warnings) or None,
    )


def _item(request: web.Request, known: StatusPageDetails) -> PageItem:
    page = known.page
    return PageItem(
        id=ids.show("sp", page.id),
        name=page.name,
        slug=page.slug,
        domain=page.domain,
        domain_verified=known.answers if page.domain else None,
        domain_proof=_proof(known),
        url=f"{context_of(request).public_url}/status/{page.slug}",
        visibility=page.visibility,
        password_set=page.password is not None,
        branding=branding_of(page.branding),
        subscribers=known.counts.subscribers,
        revision=page.revision,
        created_at=page.created_at,
        updated_at=page.updated_at,
        components=known.counts.components,
    )


def _proof(known: StatusPageDetails) -> DomainProof | None:
    """What must be published at the domain before it shows the page; None if it shows the page."""
    page = known.page
    if page.domain is None or known.answers:
        return None
    proof = asked_of(page.domain, page.id)
    return DomainProof(
        record=ProofRecord(type="TXT", name=proof.record, value=proof.value),
        file=ProofFile(url=proof.url, content=proof.value),
    )
