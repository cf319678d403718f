"""GET /v1/me: the user and the permission of the request's token."""

from aiohttp import web

from collector.accounts.answers import CurrentUser, OwnTeam
from collector.accounts.storage import teams
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import ok
from shared import ids
from shared.errors import NotFound


async def get(request: web.Request) -> web.Response:
    who = caller(request)
    async with context_of(request).db.connection() as tx:
        person = await teams.person(tx, who.team_id, who.user_id)
    if person is None:
        raise NotFound("User not found")
    team = OwnTeam(id=ids.show("team", person.team), name=person.team_name, plan=person.plan)
    return ok(
        CurrentUser(
            id=ids.show("usr", person.id),
            email=person.email,
            name=person.name,
            role=person.role,
            permission=who.permission,
            team=team,
        )
    )
