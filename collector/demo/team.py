"""Sets up the team of the demonstration: people, monitors, channels, rules, windows and status pages."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.accounts.service import tokens, users
from collector.alerts.service import rules
from collector.demo.core import fleet, setup
from collector.demo.core.fleet import PlannedMonitor
from collector.maintenance.service import windows
from collector.monitors.service import creation
from collector.monitors.service.columns import whole_config
from collector.notifications.service import channels
from collector.platform.access import Actor
from collector.platform.context import ServiceContext
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.status_pages.service import incidents, status_pages, subscribers
from collector.status_pages.service.domains import ServiceNames
from shared import ids

# How much later a monitor is created than the one before: all while the probes have just been heard.
_APART: Final = timedelta(milliseconds=20)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DemoTarget:
    """Where the demonstration is set up; *base_url*: of this deployment."""

    db: Db
    keyring: Keyring
    signals: Signals
    team_id: int
    admin: Actor
    base_url: str


@dataclass(slots=True)
class DemoTeam:
    """What was set up, by name: *monitors* by their ids, *windows* by theirs, *people* as actors."""

    team: DemoTarget
    people: dict[str, Actor] = field(default_factory=dict)
    monitors: dict[str, UUID] = field(default_factory=dict)
    channels: dict[str, UUID] = field(default_factory=dict)
    windows: dict[str, UUID] = field(default_factory=dict)
    pages: dict[str, UUID] = field(default_factory=dict)
    ping_url: str = ""

    def monitor(self, name: str) -> str:
        return ids.show("mon", self.monitors[name])

    def channel(self, name: str) -> str:
        return ids.show("chan", self.channels[name])


async def invite(made: DemoTeam, began: datetime, now: datetime) -> None:
    """Invite people of every role; all but the last have joined, with passwords that nobody knows."""
    team = made.team
    made.people["Admin"] = team.admin
    for email, name, role in setup.PEOPLE:
        joined = name != setup.INVITED
        at = began if joined else now - _DAY
        body = {"email": email, "name": name, "role": role}
        invited = await users.invite(team.db, team.admin, body, at)
        if joined and invited.secret:
            user = await users.accept(team.db, invited.secret, secrets.token_urlsafe(24), at)
            made.people[name] = Actor(team.team_id, ids.show("usr", user.id), user.name)
    owner = ids.read("usr", team.admin.id or "")
    for name, permission, life in setup.TOKENS:
        body = {"name": name, "permission": permission, "expiresIn": life}
        if owner is not None:
            await tokens.create(team.db, team.admin, owner, body, now - 6 * _DAY)


async def create_monitors(made: DemoTeam, planned: list[PlannedMonitor], began: datetime) -> None:
    """Create the fleet, one after the other from *began* on."""
    team = made.team
    means = ServiceContext(team.db, team.keyring, team.signals, min_interval=1, who=team.admin)
    for at, monitor in enumerate(planned):
        saved = await creation.create(means, team.team_id, _linked(made, monitor), began + at * _APART)
        made.monitors[monitor.name] = saved.monitor.id
        if monitor.name == fleet.PIPELINE:
            key = whole_config(team.keyring, saved.monitor)["pingKey"]
            made.ping_url = f"{team.base_url}/ping/{key}"


def _linked(made: DemoTeam, monitor: PlannedMonitor) -> Mapping[str, object]:
    """The body with the ids of the monitors that it depends on."""
    parents = [made.monitor(name) for name in fleet.PARENTS.get(monitor.name, ()) if name in made.monitors]
    return {**monitor.body, "dependsOn": parents} if parents else monitor.body


async def set_up(made: DemoTeam, began: datetime, now: datetime) -> None:
    """Create channels, rules, maintenance windows and status pages."""
    team = made.team
    for body in setup.channels(made.ping_url):
        channel = await channels.create(team.db, team.keyring, team.admin, body, began)
        made.channels[body["name"]] = channel.row.id
    for body in setup.rules(made.channel, made.monitor):
        await rules.create(team.db, team.admin, body, began)
    for body in setup.windows(made.monitor, began, now):
        await create_window(made, body, began)
    for body in setup.pages(made.monitor, secrets.token_urlsafe(12)):
        page = await status_pages.create(team.db, team.admin, body, began, own=ServiceNames(team.base_url))
        made.pages[body["slug"]] = page.page.id
    for email in setup.SUBSCRIBERS:
        await subscribers.add(
            team.db,
            team.keyring,
            team.admin,
            made.pages["shop"],
            {"email": email},
            now - 40 * _DAY,
            mails=False,
        )


async def create_window(made: DemoTeam, body: Mapping[str, object], now: datetime) -> None:
    window = await windows.create(made.team.db, made.team.admin, body, now)
    made.windows[window.row.name] = window.row.id


async def publish(made: DemoTeam, body: Mapping[str, object], at: datetime) -> UUID:
    """Publish an incident on the public page; return its id."""
    who = made.people["First on call"]
    details = await incidents.publish(made.team.db, who, made.pages["shop"], body, at)
    return details.row.id


async def post_update(made: DemoTeam, id_: UUID, status: str, message: str, at: datetime) -> None:
    body = {"status": status, "message": message}
    await incidents.update(made.team.db, made.people["First on call"], made.pages["shop"], id_, body, at)
