"""What a caller may ask of monitors: each a transaction that locks the monitor, decides and saves."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from collector.core.monitor import DEFAULT_LOCATION, Settings, Silence
from collector.core.seal import Keyring, Place, split, whole
from collector.services import assignments, monitor_fields
from collector.services.masking import hides
from collector.services.signals import Signals
from collector.services.validation import ignored
from collector.storage import monitor_incidents, monitor_stats, probes, timeline
from collector.storage import monitors as table
from collector.storage.contention import giving_way
from collector.storage.db import Db, Tx
from collector.storage.monitors import Monitor
from shared import ids
from shared.clock import iso
from shared.errors import NotFound
from shared.kinds import KINDS, Kind, secret_fields
from shared.kinds.fields import camel

T = TypeVar("T")

# What a check or its judgement goes by: a change of it is handed to the probes.
_RUN_BY = frozenset(
    {"config", "secrets", "interval_s", "timeout_s", "locations", "failure_threshold", "recovery_threshold"}
)


@dataclass(frozen=True, slots=True)
class Means:
    """What every deed here needs; *min_interval* is in seconds."""

    db: Db
    keyring: Keyring
    signals: Signals
    min_interval: int


@dataclass(frozen=True, slots=True)
class Told:
    """The monitor after the deed, and what its caller should know."""

    monitor: Monitor
    warnings: list[str]


async def create(means: Means, team_id: int, body: Mapping[str, Any], now: datetime) -> Told:
    """A new monitor, whose first check runs at once. Raises Invalid."""
    wish = monitor_fields.for_create(body, means.min_interval)
    id_ = ids.uuid7()

    async def deed(tx: Tx) -> Told:
        settings, kind = wish.checked(await _bad_parents(tx, team_id, id_, body))
        columns = await _columns(tx, means, (team_id, id_), settings, kind, now)
        made = await table.insert(tx, team_id, id_, kind_name(kind), columns, now)
        placed = await _place(tx, made.monitor, made.revision, made.locations, now)
        return Told(made, _warnings(settings, wish.unknown) + placed)

    return await _carried_out(means, deed)


async def update(means: Means, team_id: int, id_: UUID, body: Mapping[str, Any], now: datetime) -> Told:
    """Change what the body names; nothing at all if it is all as it was. Raises Invalid, NotFound."""

    async def deed(tx: Tx) -> Told:
        before = _found(await table.lock(tx, team_id, id_))
        config = whole_config(means.keyring, before)
        wish = monitor_fields.for_update(body, before.type, settings_of(before), config, means.min_interval)
        settings, kind = wish.checked(await _bad_parents(tx, team_id, id_, body))
        columns = await _columns(tx, means, (team_id, id_), settings, kind, now)
        changed = _changed(before, columns, same_config=monitor_fields.stored(kind) == config)
        placed: list[str] = []
        if changed:
            revision = before.revision + 1
            await table.save(tx, team_id, id_, columns, revision, now)
            if changed & _RUN_BY and before.paused_at is None:
                placed = await _place(tx, before.monitor, revision, columns["locations"], now)
        after = _found(await table.get(tx, team_id, id_))
        return Told(after, _warnings(settings, wish.unknown) + placed)

    return await _carried_out(means, deed)


async def pause(means: Means, team_id: int, id_: UUID, now: datetime) -> Monitor:
    """No checks until the resume; a second time changes nothing. Raises NotFound."""

    async def deed(tx: Tx) -> Monitor:
        before = _found(await table.lock(tx, team_id, id_))
        if before.paused_at is None:
            revision = before.revision + 1
            await table.pause(tx, team_id, id_, revision, now)
            await assignments.place(tx, before.monitor, revision, [], now=now)
        return _found(await table.get(tx, team_id, id_))

    return await _carried_out(means, deed)


async def resume(means: Means, team_id: int, id_: UUID, now: datetime) -> Monitor:
    """Check again, at once. The open incident goes on without the time of the pause. Raises NotFound."""

    async def deed(tx: Tx) -> Monitor:
        before = _found(await table.lock(tx, team_id, id_))
        if before.paused_at is not None:
            revision = before.revision + 1
            await table.resume(tx, team_id, id_, revision, now)
            await assignments.place(tx, before.monitor, revision, before.locations, now=now)
            await table.forget_checks(tx, before.monitor)
            await monitor_incidents.leave_out(tx, team_id, id_, before.paused_at, now)
        return _found(await table.get(tx, team_id, id_))

    return await _carried_out(means, deed)


async def silence(
    means: Means, team_id: int, id_: UUID, wanted: Silence, actor: str, now: datetime
) -> datetime:
    """Hold what would be told, until the moment that is answered; replaces another one. Raises NotFound."""
    until = now + timedelta(seconds=wanted.duration)
    said = f"until {iso(until)}" + (f": {wanted.reason}" if wanted.reason else "")

    async def deed(tx: Tx) -> None:
        if not await table.silence(tx, team_id, id_, until, wanted.reason):
            raise NotFound("Monitor not found")
        incident = await monitor_incidents.newest(tx, team_id, id_)
        if incident and incident.resolved_at is None:
            entry = timeline.Entry(team_id, incident.id, "silenced", said, actor)
            await timeline.add(tx, [entry], now)

    await giving_way(means.db, deed)
    return until


async def unsilence(means: Means, team_id: int, id_: UUID) -> None:
    """End a silence, if there is one. Raises NotFound."""

    async def deed(tx: Tx) -> None:
        if not await table.silence(tx, team_id, id_, None, None):
            raise NotFound("Monitor not found")

    await giving_way(means.db, deed)


def whole_config(keyring: Keyring, monitor: Monitor) -> dict[str, Any]:
    """The configuration with its secrets, in the order of its kind's fields."""
    config = whole(keyring, monitor.config, monitor.secrets, _sealed_at(monitor.team_id, monitor.id))
    names = (camel(field.name) for field in fields(KINDS[monitor.type]))
    return {name: config[name] for name in names if name in config}


def settings_of(monitor: Monitor) -> Settings:
    """A row as the fields that a caller sets."""
    return Settings(
        name=monitor.name,
        interval=monitor.interval_s,
        timeout=monitor.timeout_s,
        locations=monitor.locations,
        tags=monitor.tags,
        description=monitor.description,
        severity=monitor.severity,  # type: ignore[arg-type]  # the table's CHECK allows no other
        failure_threshold=monitor.failure_threshold,
        recovery_threshold=monitor.recovery_threshold,
        quorum=int(monitor.quorum) if monitor.quorum.isdigit() else monitor.quorum,  # type: ignore[arg-type]
        group=monitor.group_name,
        depends_on=[ids.show("mon", parent) for parent in monitor.depends_on],
        runbook_url=monitor.runbook_url,
    )


def kind_name(kind: Kind) -> str:
    """The type that a configuration is of."""
    return next(name for name, cls in KINDS.items() if cls is type(kind))


async def _columns(
    tx: Tx, means: Means, key: tuple[int, UUID], settings: Settings, kind: Kind, now: datetime
) -> dict[str, Any]:
    team_id, id_ = key
    stored = monitor_fields.stored(kind)
    hidden = hides(type(kind), stored)
    config, secrets = split(
        means.keyring, stored, secret_fields(type(kind)) | hidden.keys(), _sealed_at(team_id, id_)
    )
    wanted = settings.locations
    if wanted is None:
        wanted = await probes.served(tx, team_id, now) or [DEFAULT_LOCATION]
    parents = (ids.read("mon", text) for text in settings.depends_on)
    return {
        "name": settings.name,
        "config": {**config, **hidden},
        "secrets": secrets,
        "interval_s": settings.interval,
        "timeout_s": settings.timeout,
        "locations": list(dict.fromkeys(wanted)),
        "tags": settings.tags,
        "description": settings.description,
        "severity": settings.severity,
        "failure_threshold": settings.failure_threshold,
        "recovery_threshold": settings.recovery_threshold,
        "quorum": str(settings.quorum),
        "group_name": settings.group,
        "depends_on": list(dict.fromkeys(parent for parent in parents if parent)),
        "runbook_url": settings.runbook_url,
    }


def _changed(before: Monitor, columns: Mapping[str, Any], *, same_config: bool) -> set[str]:
    """Columns with another value; a seal looks new each time, so the configuration is compared whole."""
    plain = {name for name in columns if name not in {"config", "secrets"}}
    changed = {name for name in plain if getattr(before, name) != columns[name]}
    return changed if same_config else changed | {"config"}


async def _bad_parents(tx: Tx, team_id: int, id_: UUID, body: Mapping[str, Any]) -> dict[str, str]:
    """Why the monitors that this one is to depend on cannot be: unknown, or depending on it."""
    sent = body.get("dependsOn")
    texts = [text for text in sent if isinstance(text, str)] if isinstance(sent, list) else []
    parents = {text: found for text in texts if (found := ids.read("mon", text))}
    if not isinstance(sent, list) or not parents:
        return {}
    known = await table.known(tx, team_id, list(parents.values()))
    faults = {
        f"dependsOn[{index}]": "no such monitor"
        for index, text in enumerate(sent)
        if isinstance(text, str) and text in parents and parents[text] not in known | {id_}
    }
    if not faults and id_ in await table.ancestors(tx, team_id, list(parents.values())):
        faults["dependsOn"] = "would make a circle: a monitor must not depend on itself"
    return faults


async def _carried_out(means: Means, deed: Callable[[Tx], Awaitable[T]]) -> T:
    """Do *deed* and have the probes hear of it."""
    done = await giving_way(means.db, deed)
    means.signals.ring()
    return done


async def _place(tx: Tx, monitor: int, revision: int, locations: Sequence[str], now: datetime) -> list[str]:
    """Have it checked at *locations*; a warning for each that no probe serves by itself."""
    unserved = await assignments.place(tx, monitor, revision, locations, now=now)
    attended = await monitor_stats.attended(tx, monitor) if unserved else set()
    instead = {True: "the built-in probe stands in", False: "nothing checks from there yet"}
    return [f"location {name} has no probe: {instead[name in attended]}" for name in unserved]


def _warnings(settings: Settings, unknown: Sequence[str]) -> list[str]:
    said = ignored(unknown)
    if settings.timeout > settings.interval:
        said.append(
            f"timeout ({settings.timeout} s) is longer than interval ({settings.interval} s): "
            f"a check takes {settings.interval} s at most"
        )
    return said


def _sealed_at(team_id: int, id_: UUID) -> Place:
    return Place(team_id, "monitors", id_, "secrets")


def _found(monitor: Monitor | None) -> Monitor:
    if monitor is None:
        raise NotFound("Monitor not found")
    return monitor
