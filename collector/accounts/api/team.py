"""The team: its admins read and rename it."""

from typing import Any

from aiohttp import web

from collector.accounts.service import team
from collector.accounts.storage.teams import Team
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, ok, warned
from shared import ids


async def get(request: web.Request) -> web.Response:
    return ok(_shown(request, await team.get(context_of(request).db, caller(request).team_id)))


async def update(request: web.Request) -> web.Response:
    changed, warnings = await team.rename(context_of(request).db, actor(request), await body(request))
    return ok(warned(_shown(request, changed), warnings))


def _shown(request: web.Request, one: Team) -> dict[str, Any]:
    plan = context_of(request).plans[one.plan]
    return {
        "id": ids.show("team", one.id),
        "name": one.name,
        "plan": one.plan,
        "limits": {
            "monitors": plan.monitors,
            "channels": plan.channels,
            "streams": plan.streams,
            "mailsPerHour": plan.mails_per_hour,
        },
        "createdAt": one.created_at,
    }
