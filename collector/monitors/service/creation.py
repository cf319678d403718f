"""Creates monitors: each step for all of them at once, in one transaction."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from collector.evaluation import event_writer
from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.monitors.service import fields, parents, receivers
from collector.monitors.service.columns import columns
from collector.monitors.service.fields import MonitorRequest
from collector.monitors.service.monitors import SavedMonitor
from collector.monitors.storage import cadences
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform import audit
from collector.platform.access import system
from collector.platform.context import ServiceContext
from collector.platform.monitor import MonitorSettings
from collector.platform.storage.db import Tx
from collector.platform.storage.give_way import giving_way
from collector.probes.service import assignments
from collector.probes.service.assignments import NewPlacement
from collector.probes.storage.probes import served
from shared import ids
from shared.kinds import RECEIVING, effective

# Requests of monitors to create, by the monitors' future ids.
Requests: TypeAlias = Mapping[UUID, MonitorRequest[MonitorSettings]]

# How many monitors are prepared before other requests get a turn.
_AT_ONCE: Final = 50
_FIRST_REVISION: Final = 1


async def create(
    context: ServiceContext, team_id: int, body: Mapping[str, Any], now: datetime
) -> SavedMonitor:
    """Create a monitor and check it at once. Raises Invalid; Conflict above the plan's limit."""
    request = fields.for_create(body, context.min_interval, context.nodes)
    id_ = ids.uuid7()

    async def work(tx: Tx) -> SavedMonitor:
        request.checked(await parents.unknown(tx, team_id, body))
        [saved] = await create_all(tx, context, team_id, {id_: request}, now)
        return saved

    saved = await giving_way(context.db, work)
    context.signals.ring()
    return saved


async def create_all(
    tx: Tx, context: ServiceContext, team_id: int, requests: Requests, now: datetime
) -> list[SavedMonitor]:
    """Create these monitors, whose parents exist or are among them, in this order; ring the signals later.

    Raises Invalid for a request with faults; the commit raises Conflict above the plan's limit.
    """
    if not requests:
        return []
    checked = {id_: request.checked() for id_, request in requests.items()}
    kinds = [receivers.completed(kind) for _, kind in checked.values()]
    usual: Sequence[str] = ()
    if any(settings.locations is None for settings, _ in checked.values()):
        usual = await served(tx, team_id, now)
    rows = {}
    for place, (id_, (settings, _)) in enumerate(checked.items()):
        written = columns(context.keyring, (team_id, id_), settings, kinds[place], usual)
        rows[id_] = requests[id_].type, written
        if place % _AT_ONCE == _AT_ONCE - 1:
            await asyncio.sleep(0)
    most = context.plan.monitors if context.plan else None
    created = await table.insert(tx, team_id, rows, now, most=most)
    await receivers.keep(tx, team_id, dict(zip(rows, kinds, strict=True)), now)
    await cadences.note(tx, team_id, list(rows), now)
    placed = [
        NewPlacement(each.monitor, effective(each.type, each.config), each.locations) for each in created
    ]
    unserved = await assignments.place_new(tx, team_id, _FIRST_REVISION, placed, now)
    named = {ids.show("mon", each.id): each.name for each in created}
    await audit.record_created(tx, context.who or system(team_id), "monitor", named)
    # Last: the team's other transactions wait for its next position.
    announced = [event_writer.change(EventKind.MONITOR_CREATED, each, now) for each in created]
    if context.later is None:
        await events.append_all(tx, announced, now)
    else:
        context.later.extend(announced)
    return [
        SavedMonitor(each, kind, [*requests[each.id].all_warnings(), *unserved_at(each, without)])
        for each, kind, without in zip(created, kinds, unserved, strict=True)
    ]


def unserved_at(monitor: Monitor, without: Mapping[str, bool]) -> list[str]:
    """Return a warning for each location without a probe of its own."""
    if monitor.type in RECEIVING:
        return []
    instead = {True: "the built-in probe stands in", False: "nothing checks from there yet"}
    return [f"location {name} has no probe: {instead[attended]}" for name, attended in without.items()]
