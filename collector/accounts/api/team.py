"""The team: its admins read and change it."""

from collections.abc import Sequence

from aiohttp import web

from collector.accounts.answers import TeamAnswer, TeamLimits
from collector.accounts.service import team
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, ok
from collector.platform.storage.teams import Team
from shared import ids


async def get(request: web.Request) -> web.Response:
    return ok(_shown(request, await team.get(context_of(request).db, caller(request).team_id)))


async def update(request: web.Request) -> web.Response:
    changed, warnings = await team.update(context_of(request).db, actor(request), await body(request))
    return ok(_shown(request, changed, warnings))


def _shown(request: web.Request, team: Team, warnings: Sequence[str] = ()) -> TeamAnswer:
    plan = context_of(request).plans[team.plan]
    return TeamAnswer(
        id=ids.show("team", team.id),
        name=team.name,
        plan=team.plan,
        two_factor_required=team.two_factor_required,
        limits=TeamLimits(
            monitors=plan.monitors,
            channels=plan.channels,
            streams=plan.streams,
            mails_per_hour=plan.mails_per_hour,
        ),
        created_at=team.created_at,
        warnings=list(warnings) or None,
    )
