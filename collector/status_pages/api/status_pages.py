"""Status pages: list, create, read, update, delete."""

from typing import Any
from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id, warned
from collector.status_pages.api.parts import component
from collector.status_pages.core.domains import asked_of
from collector.status_pages.core.status_page import overall
from collector.status_pages.service import status_pages
from collector.status_pages.service.domains import Own, Prover
from collector.status_pages.service.fields import WHAT
from collector.status_pages.service.status_pages import StatusPageDetails
from shared import ids

PROVER: web.AppKey[Prover] = web.AppKey("prover", Prover)


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await status_pages.page(context_of(request).db, caller(request).team_id, limit, offset)
    items = [{**_shown(request, known), "components": known.counts.components} for known in found]
    return pages.answer(request, at, items, total) if at else ok({"data": items})


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


def own(request: web.Request) -> Own:
    """Return the names of the service itself."""
    context = context_of(request)
    return Own(context.public_url, context.hosts)


def _id(request: web.Request) -> UUID:
    return path_id(request, "sp", WHAT)


async def _found(request: web.Request) -> UUID:
    """The id of the page in the path, if it exists: 404 takes precedence over other errors."""
    return (await status_pages.found(context_of(request).db, caller(request).team_id, _id(request))).id


def _whole(request: web.Request, known: StatusPageDetails) -> dict[str, Any]:
    answer = {
        **_shown(request, known),
        "status": overall(seen.shown.status for seen in known.components),
        "components": [component(seen) for seen in known.components],
    }
    return warned(answer, list(known.warnings))


def _proof(known: StatusPageDetails) -> dict[str, Any] | None:
    """What must be published at the domain before it shows the page; either form is sufficient."""
    page = known.page
    if page.domain is None or known.answers:
        return None
    proof = asked_of(page.domain, page.id)
    return {
        "record": {"type": "TXT", "name": proof.record, "value": proof.value},
        "file": {"url": proof.url, "content": proof.value},
    }


def _shown(request: web.Request, known: StatusPageDetails) -> dict[str, Any]:
    page = known.page
    return {
        "id": ids.show("sp", page.id),
        **status_pages.settable(page),
        "domainVerified": known.answers if page.domain else None,
        "domainProof": _proof(known),
        "url": f"{context_of(request).public_url}/status/{page.slug}",
        "passwordSet": page.password is not None,
        "subscribers": known.counts.subscribers,
        "revision": page.revision,
        "createdAt": page.created_at,
        "updatedAt": page.updated_at,
    }
