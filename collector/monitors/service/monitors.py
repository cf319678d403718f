"""Changes, pauses and silences monitors: each is a transaction that locks the monitor, decides and saves."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from collector.evaluation import event_writer
from collector.events.core.kinds import EventKind
from collector.events.core.timeline import TimelineType
from collector.events.storage import events, timeline
from collector.history.storage import monitor_stats
from collector.incidents.storage import monitor_incidents
from collector.monitors.service import fields as monitor_fields
from collector.monitors.service import parents, receivers
from collector.monitors.service.columns import (
    changed,
    columns,
    named_fields,
    settings_of,
    whole_config,
)
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform import audit
from collector.platform.access import Actor, system
from collector.platform.context import ServiceContext
from collector.platform.monitor import RUN_BY, Silence, merge
from collector.platform.revision import require
from collector.platform.storage.db import Tx
from collector.platform.storage.give_way import giving_way
from collector.probes.service import assignments
from collector.probes.storage import probes
from shared import ids
from shared.clock import iso
from shared.errors import NotFound
from shared.kinds import RECEIVING, Kind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SavedMonitor:
    """The monitor after the action, its type's configuration with secrets, and warnings for the caller."""

    monitor: Monitor
    kind: Kind
    warnings: list[str]


async def update(
    means: ServiceContext,
    team_id: int,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> SavedMonitor:
    """Change what the body names; without a difference nothing is written.

    *only*: the revisions that may be changed. Raises NotFound, PreconditionFailed, Invalid, in this order.
    """

    async def work(tx: Tx) -> SavedMonitor:
        before = _found(await table.lock(tx, team_id, id_))
        require(before.revision, only)
        return await _revised(tx, means, before, body, now)

    return await _run(means, work)


async def tag(
    means: ServiceContext, team_id: int, id_: UUID, tags: Mapping[str, str | None], now: datetime
) -> SavedMonitor:
    """Merge these tags into its own; None removes one. Raises NotFound, Invalid."""

    async def work(tx: Tx) -> SavedMonitor:
        before = _found(await table.lock(tx, team_id, id_))
        return await _revised(tx, means, before, {"tags": merge(before.tags, tags)}, now)

    return await _run(means, work)


async def pause(means: ServiceContext, team_id: int, id_: UUID, now: datetime) -> Monitor:
    """Stop checks until the resume; a repetition changes nothing. Raises NotFound."""

    async def work(tx: Tx) -> Monitor:
        before = _found(await table.lock(tx, team_id, id_))
        if before.paused_at is None:
            revision = before.revision + 1
            await table.pause(tx, team_id, id_, revision, now)
            await assignments.place(tx, before.monitor, revision, [], now=now)
            await receivers.paused_or_resumed(tx, before)
        after = _found(await table.get(tx, team_id, id_))
        if before.paused_at is None:
            await record(tx, means.who, "pause", after)
            await _tell(tx, means, EventKind.MONITOR_PAUSED, after, now)
        return after

    return await _run(means, work)


async def resume(means: ServiceContext, team_id: int, id_: UUID, now: datetime) -> Monitor:
    """Resume checks at once. The open incident continues without the time of the pause. Raises NotFound."""

    async def work(tx: Tx) -> Monitor:
        before = _found(await table.lock(tx, team_id, id_))
        if before.paused_at is not None:
            revision = before.revision + 1
            await table.resume(tx, team_id, id_, revision, now)
            await assignments.place(tx, before.monitor, revision, before.locations, now=now)
            await table.forget_checks(tx, before.monitor)
            await monitor_incidents.leave_out(tx, team_id, id_, before.paused_at, now)
            await receivers.paused_or_resumed(tx, before)
        after = _found(await table.get(tx, team_id, id_))
        if before.paused_at is not None:
            await record(tx, means.who, "resume", after)
            await _tell(tx, means, EventKind.MONITOR_RESUMED, after, now)
        return after

    return await _run(means, work)


async def silence(
    means: ServiceContext, team_id: int, id_: UUID, wanted: Silence, actor: str, now: datetime
) -> datetime:
    """Suppress notifications until the returned moment; replaces another silence. Raises NotFound."""
    until = now + timedelta(seconds=wanted.duration)
    text = f"until {iso(until)}" + (f": {wanted.reason}" if wanted.reason else "")

    async def work(tx: Tx) -> None:
        if not await table.silence(tx, team_id, id_, until, wanted.reason):
            raise NotFound("Monitor not found")
        incident = await monitor_incidents.newest(tx, team_id, id_)
        if incident and incident.resolved_at is None:
            entry = timeline.NewTimelineEntry(team_id, incident.id, TimelineType.SILENCED, text, actor)
            await timeline.add(tx, [entry], now)
        await record(tx, means.who, "silence", _found(await table.get(tx, team_id, id_)))

    await giving_way(means.db, work)
    return until


async def unsilence(means: ServiceContext, team_id: int, id_: UUID) -> None:
    """End a silence, if there is one. Raises NotFound."""

    async def work(tx: Tx) -> None:
        before = _found(await table.lock(tx, team_id, id_))
        await table.silence(tx, team_id, id_, None, None)
        if before.silenced_until is not None:
            await record(tx, means.who, "unsilence", before)

    await giving_way(means.db, work)


async def _revised(
    tx: Tx, means: ServiceContext, before: Monitor, body: Mapping[str, Any], now: datetime
) -> SavedMonitor:
    """Change *before*, its row locked, as the body says; send the change to the probes if needed."""
    team_id, id_ = before.team_id, before.id
    config = whole_config(means.keyring, before)
    request = monitor_fields.for_update(
        body, before.type, settings_of(before), config, means.min_interval, means.nodes
    )
    settings, kind = request.checked(await parents.faults(tx, team_id, id_, body))
    usual = await probes.served(tx, team_id, now) if settings.locations is None else []
    written = columns(means.keyring, (team_id, id_), settings, kind, usual)
    named = changed(before, written, same_config=monitor_fields.stored(kind) == config)
    placed: list[str] = []
    if named:
        revision = before.revision + 1
        await table.save(tx, team_id, id_, written, revision, now)
        if named & RUN_BY and before.paused_at is None:
            placed = await _place(tx, before, revision, written["locations"], now)
        await receivers.keep_changed(tx, before, kind, now)
    after = _found(await table.get(tx, team_id, id_))
    if named:
        fields = named_fields(named, config, monitor_fields.stored(kind))
        await record(tx, means.who, "update", after, fields)
        await _tell(tx, means, EventKind.MONITOR_UPDATED, after, now)
    return SavedMonitor(after, kind, [*request.all_warnings(), *placed])


async def record(
    tx: Tx, who: Actor | None, action: str, monitor: Monitor, fields: Sequence[str] = ()
) -> None:
    """Record an action in the audit log."""
    by = who or system(monitor.team_id)
    shown = ids.show("mon", monitor.id)
    await audit.record(tx, by, action, "monitor", shown, name=monitor.name, fields=fields)


async def _tell(tx: Tx, means: ServiceContext, kind: EventKind, monitor: Monitor, now: datetime) -> None:
    """Append the event. Last: the team's other transactions wait for its next position."""
    event = event_writer.change(kind, monitor, now)
    if means.later is None:
        await events.append_all(tx, [event], now)
    else:
        means.later.append(event)


async def _run(means: ServiceContext, work: Callable[[Tx], Awaitable[T]]) -> T:
    """Run *work* and signal the probes."""
    done = await giving_way(means.db, work)
    means.signals.ring()
    return done


async def _place(
    tx: Tx, monitor: Monitor, revision: int, locations: Sequence[str], now: datetime
) -> list[str]:
    """Assign it to *locations*; return a warning for each without a probe of its own."""
    unserved = await assignments.place(tx, monitor.monitor, revision, locations, now=now)
    if monitor.type in RECEIVING:
        return []
    attended = await monitor_stats.attended(tx, monitor.monitor) if unserved else set()
    instead = {True: "the built-in probe stands in", False: "nothing checks from there yet"}
    return [f"location {name} has no probe: {instead[name in attended]}" for name in unserved]


def _found(monitor: Monitor | None) -> Monitor:
    if monitor is None:
        raise NotFound("Monitor not found")
    return monitor
