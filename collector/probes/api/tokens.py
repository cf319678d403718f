"""Join tokens of the team's own probes: list, create, delete. The token is shown once."""

from typing import Any

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, no_content, ok, path_id, warned
from collector.platform.validation.validation import ignored
from collector.probes.service import join_tokens
from collector.probes.storage.join_tokens import JoinTokenRow
from shared import ids


async def list_(request: web.Request) -> web.Response:
    found = await join_tokens.list_(context_of(request).db, caller(request).team_id)
    return pages.of_all(request, [_shown(one) for one in found])


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await join_tokens.create(
        context.db, context.keyring, actor(request), await body(request), context.now()
    )
    return ok(warned({**_shown(made.token), "token": made.text}, ignored(made.unknown)), status=201)


async def delete(request: web.Request) -> web.Response:
    id_ = path_id(request, "tok", join_tokens.WHAT)
    await join_tokens.delete(context_of(request).db, actor(request), id_)
    return no_content()


def _shown(one: JoinTokenRow) -> dict[str, Any]:
    return {
        "id": ids.show("tok", one.id),
        "locations": one.locations,
        "uses": one.uses,
        "used": one.used,
        "createdAt": one.created_at,
        "expiresAt": one.expires_at,
    }
