"""Teams: an admin reads and renames the own team; the operator creates further ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from collector.accounts.answers import TeamAnswer
from collector.accounts.service import tokens
from collector.accounts.service.users import Name
from collector.accounts.storage import teams as table
from collector.platform import audit
from collector.platform.access import Actor, Permission, operator
from collector.platform.answer_json import read_only
from collector.platform.bucket import PlanName
from collector.platform.fields import Email
from collector.platform.storage import teams
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.teams import Team
from collector.platform.validation.validation import check, ignored
from shared import ids
from shared.errors import Conflict, NotFound, demand_found
from shared.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFields:
    """The fields that an admin may set."""

    name: Name
    """Name of the team, 1 to 100 characters."""


# A GET shows them, and no user can set them.
_READ_ONLY = read_only(TeamAnswer, TeamFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialTeam:
    """The operator's settings of a new team."""

    name: Name
    admin_email: Email


@dataclass(frozen=True, slots=True)
class CreatedTeam:
    """A new team, and the token of its admin, which is stored nowhere."""

    team: Team
    token: str


async def get(db: Db, team_id: int) -> Team:
    async with db.connection() as tx:
        return demand_found(await teams.get(tx, team_id), "Team")


async def rename(db: Db, who: Actor, body: Mapping[str, Any]) -> tuple[Team, list[str]]:
    """Rename the team; return it with warnings. Raises Invalid."""
    sent = {name: value for name, value in body.items() if name not in _READ_ONLY}
    async with db.transaction() as tx:
        team = demand_found(await teams.hold(tx, who.team_id), "Team")
        settings, unknown = check(TeamFields, {"name": team.name, **sent})
        if settings.name != team.name:
            await table.rename(tx, who.team_id, settings.name)
            team = replace(team, name=settings.name)
            await audit.record(
                tx, who, "update", "team", ids.show("team", team.id), name=settings.name, fields=["name"]
            )
    warnings = ignored(unknown)
    if body.get("plan", team.plan) != team.plan:
        warnings.append("plan was ignored: only the operator changes it")
    return team, warnings


async def create(
    db: Db, name: str, plan: PlanName, admin_email: str, now: datetime, *, again: bool = True
) -> CreatedTeam:
    """Create a team with an admin and a token; *again*: allow a name in use. Raises Invalid, Conflict."""
    settings, _ = check(InitialTeam, {"name": name, "adminEmail": admin_email})
    id_, user_id = uuid7(), uuid7()
    async with db.transaction() as tx:
        await table.lock(tx)
        if not again and any(other.name == settings.name for other in await table.all_(tx)):
            raise Conflict(f"There is a team called {settings.name} already; --again makes another one")
        team_id = await table.insert(tx, id_, settings.name, plan, now)
        await table.insert_user(tx, team_id, user_id, settings.admin_email, "Admin", "admin", now)
        token = await tokens.issue(
            tx, team_id=team_id, user_id=user_id, name="first token", permission=Permission.ADMIN, now=now
        )
        await audit.record(tx, operator(team_id), "create", "team", ids.show("team", id_), name=settings.name)
    return CreatedTeam(Team(team_id, id_, settings.name, plan, now), token)


async def named(tx: Tx, text: str | None) -> Team:
    """Return the team with this id or unique name; by default the first. Raises NotFound."""
    teams = await table.all_(tx)
    if text is not None:
        id_ = ids.read("team", text)
        teams = [team for team in teams if team.id == id_] or [team for team in teams if team.name == text]
    if not teams or (text is not None and len(teams) > 1):
        called = f"called {text}" if text else "yet: start a collector first"
        raise NotFound(f"{'several teams are' if teams else 'there is no team'} {called}")
    return teams[0]
