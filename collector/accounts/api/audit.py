"""The audit log: who did what to which resource, from where."""

from typing import Any

from aiohttp import web

from collector.http import pages
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import Query
from collector.platform import audit
from collector.platform.storage.audit import AuditEntry, AuditFilter
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    since, until = query.span()
    wanted = AuditFilter(
        actor=query.text("actor"),
        resource=query.text("resource"),
        action=query.text("action"),
        since=since,
        until=until,
    )
    query.done()
    found, total = await audit.page(
        context_of(request).db, caller(request).team_id, wanted, at.limit, at.offset
    )
    return pages.answer(request, at, [_shown(one) for one in found], total)


def _shown(one: AuditEntry) -> dict[str, Any]:
    return {
        "id": ids.show("aud", one.id),
        "timestamp": one.at,
        "actor": {
            "type": one.actor_kind,
            "id": one.actor_id,
            "name": one.actor_name,
            "tokenId": ids.show("tok", one.token_id) if one.token_id else None,
        },
        "action": one.action,
        "resource": {"type": one.resource, "id": one.resource_id, "name": one.resource_name},
        "fields": one.fields,
        "address": one.address,
        "requestId": one.request_id,
    }
