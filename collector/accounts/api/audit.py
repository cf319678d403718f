"""The audit log: who did what to which resource, from where."""

from aiohttp import web

from collector.accounts.answers import AuditActor, AuditLogEntry, AuditResource
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
    entries, total = await audit.page(
        context_of(request).db, caller(request).team_id, wanted, at.limit, at.offset
    )
    return pages.answer(request, at, [_shown(entry) for entry in entries], total)


def _shown(entry: AuditEntry) -> AuditLogEntry:
    return AuditLogEntry(
        id=ids.show("aud", entry.id),
        timestamp=entry.at,
        actor=AuditActor(
            type=entry.actor_kind,
            id=entry.actor_id,
            name=entry.actor_name,
            token_id=ids.show("tok", entry.token_id) if entry.token_id else None,
        ),
        action=entry.action,
        resource=AuditResource(type=entry.resource, id=entry.resource_id, name=entry.resource_name),
        fields=list(entry.fields),
        address=entry.address,
        request_id=entry.request_id,
    )
