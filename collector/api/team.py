"""The team: read and renamed by its admins."""

from typing import Any

from aiohttp import web

from collector.api.auth import actor, caller
from collector.api.deps import deps
from collector.api.reading import body, ok, warned
from collector.services import team
from collector.storage.teams import Team
from shared import ids


async def get(request: web.Request) -> web.Response:
    return ok(_shown(await team.get(deps(request).db, caller(request).team_id)))


async def update(request: web.Request) -> web.Response:
    changed, warnings = await team.rename(deps(request).db, actor(request), await body(request))
    return ok(warned(_shown(changed), warnings))


def _shown(one: Team) -> dict[str, Any]:
    return {"id": ids.show("team", one.id), "name": one.name, "plan": one.plan, "createdAt": one.created_at}
