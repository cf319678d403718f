"""Changes monitors: each step for all of them at once, in one transaction."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from collector.evaluation import event_writer
from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.heartbeats.storage import heartbeats
from collector.monitors.service import fields, receivers
from collector.monitors.service.columns import changed, columns, named_fields, settings_of, whole_config
from collector.monitors.service.creation import unserved_at
from collector.monitors.storage import cadences
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform import audit
from collector.platform.access import system
from collector.platform.context import ServiceContext
from collector.platform.monitor import RUN_BY
from collector.platform.storage.db import Tx
from collector.platform.storage.give_way import giving_way, patiently
from collector.probes.service import assignments
from collector.probes.service.assignments import NewPlacement
from collector.probes.storage import plans
from shared import ids
from shared.kinds import Kind, effective

# Fields whose change concerns other rows: these monitors are changed alone.
_ALONE: Final = frozenset({"locations", "dependsOn"})
# How many monitors are prepared before other requests get a turn.
_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class _Revision:
    """A monitor before its change, and what to write; *names*: of its changed columns, *fields*: as shown."""

    before: Monitor
    kind: Kind
    columns: Mapping[str, Any]
    names: frozenset[str]
    fields: Sequence[str]
    warnings: Sequence[str]

    @property
    def number(self) -> int:
        return self.before.revision + 1

    @property
    def placed(self) -> bool:
        """Whether probes get the change."""
        return bool(self.names & RUN_BY) and self.before.paused_at is None


async def update_all(
    context: ServiceContext, team_id: int, bodies: Mapping[UUID, Mapping[str, Any]], now: datetime
) -> dict[UUID, list[str]]:
    """Change what the bodies name; return the warnings about each monitor that was changed.

    Left out are monitors that `monitors.update` must change alone, or refuses: their bodies name locations
    or parents, or have faults, or they do not exist. Ring the signals after the commit. Raises Unavailable.
    """
    wanted = {id_: body for id_, body in bodies.items() if not body.keys() & _ALONE}
    if not wanted:
        return {}

    async def work(tx: Tx) -> dict[UUID, list[str]]:
        return await _update(tx, context, team_id, wanted, now)

    return await giving_way(context.db, work)


async def _update(
    tx: Tx, context: ServiceContext, team_id: int, bodies: Mapping[UUID, Mapping[str, Any]], now: datetime
) -> dict[UUID, list[str]]:
    named = list(bodies)
    # In the order of a writer: heartbeats, states, monitors.
    await patiently(tx, heartbeats.hold_all(tx, team_id, named))
    holders = await patiently(tx, plans.lock_states(tx, team_id, named))
    revisions: list[_Revision] = []
    for place, before in enumerate(await patiently(tx, table.lock_all(tx, team_id, named)), 1):
        revision = _revision(context, before, bodies[before.id])
        revisions += [] if revision is None else [revision]
        if place % _AT_ONCE == 0:
            await asyncio.sleep(0)
    revised = [each for each in revisions if each.names]
    warnings = {each.before.id: list(each.warnings) for each in revisions}
    if revised:
        for id_, more in (await _save(tx, context, team_id, revised, holders, now)).items():
            warnings[id_] += more
    return warnings


def _revision(context: ServiceContext, before: Monitor, body: Mapping[str, Any]) -> _Revision | None:
    """Return the monitor as the body says; None if that has faults."""
    config = whole_config(context.keyring, before)
    settings = settings_of(before)
    request = fields.for_update(body, before.type, settings, config, context.min_interval, context.nodes)
    if request.faults:
        return None
    settings, kind = request.checked()
    after = fields.stored(kind)
    written = columns(context.keyring, (before.team_id, before.id), settings, kind)
    names = frozenset(changed(before, written, same_config=after == config))
    return _Revision(before, kind, written, names, named_fields(names, config, after), request.all_warnings())


async def _save(
    tx: Tx,
    context: ServiceContext,
    team_id: int,
    revised: Sequence[_Revision],
    holders: Mapping[tuple[int, int], UUID | None],
    now: datetime,
) -> dict[UUID, list[str]]:
    """Write the changes and send them to the probes; return warnings about locations."""
    named = [each.before.id for each in revised]
    await table.save_all(tx, team_id, {each.before.id: (each.number, each.columns) for each in revised}, now)
    await receivers.keep(tx, team_id, {each.before.id: each.kind for each in revised}, now)
    await cadences.note(tx, team_id, named, now)
    after = {monitor.id: monitor for monitor in await table.some(tx, team_id, named)}
    placed = [(each.number, after[each.before.id]) for each in revised if each.placed]
    unserved: list[dict[str, bool]] = []
    if placed:
        placements = [(revision, _placement(monitor)) for revision, monitor in placed]
        unserved = await assignments.place_revised(tx, team_id, placements, holders, now)
    shown = {ids.show("mon", each.before.id): (after[each.before.id].name, each.fields) for each in revised}
    await audit.record_changed(tx, context.who or system(team_id), "monitor", shown)
    # Last: the team's other transactions wait for its next position.
    announced = [event_writer.change(EventKind.MONITOR_UPDATED, after[id_], now) for id_ in named]
    if context.later is None:
        await events.append_all(tx, announced, now)
    else:
        context.later.extend(announced)
    return {
        monitor.id: unserved_at(monitor, without)
        for (_, monitor), without in zip(placed, unserved, strict=True)
    }


def _placement(monitor: Monitor) -> NewPlacement:
    return NewPlacement(monitor.monitor, effective(monitor.type, monitor.config), monitor.locations)
