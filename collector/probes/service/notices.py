"""Notifies the owners of probes that went offline, lost connectivity or recovered: one notice a probe."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.events.core.kinds import EventKind
from collector.events.core.payloads import EventProbe, OfflineReason, ProbeOfflineEvent, ProbeOnlineEvent
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.platform.storage.db import Tx
from collector.probes.core.presence import PresenceChange, change
from collector.probes.storage import watch as table
from collector.probes.storage.watch import WatchedProbe
from shared import ids


async def notify_owners(
    tx: Tx, probe_ids: Sequence[UUID], since: datetime, now: datetime
) -> list[PresenceChange]:
    """Lock these probes, evaluate their presence again, and append the events. Return the changes.

    *since*: a collector has listened without interruption since then.
    """
    changes: list[PresenceChange] = []
    notices: list[Event] = []
    for watched in await table.lock(tx, probe_ids, now):
        what = change(watched.presence, since, now)
        if what is not None:
            changes.append(what)
            back = what is PresenceChange.BACK
            notices += await (_back(tx, watched, now) if back else _gone(tx, watched, what, now))
    # All at once: other writers lock the teams' event positions in the same order.
    await events.append_all(tx, notices, now)
    return changes


async def _gone(tx: Tx, watched: WatchedProbe, why: PresenceChange, now: datetime) -> list[Event]:
    audience = await table.audience(tx, watched)
    await table.save(tx, watched.probe_id, why, now)
    await table.note_notified(tx, watched.probe_id, list(audience), now)
    about = _about(watched, why)
    return [
        Event(
            team_id,
            watched.probe_id,
            EventKind.PROBE_OFFLINE,
            ProbeOfflineEvent(
                event=EventKind.PROBE_OFFLINE, timestamp=now, probe=about, affected_monitors=affected
            ),
        )
        for team_id, affected in audience.items()
    ]


async def _back(tx: Tx, watched: WatchedProbe, now: datetime) -> list[Event]:
    teams = await table.forget_notified(tx, watched.probe_id)
    await table.save(tx, watched.probe_id, None, now)
    about = _about(watched, watched.offline or "")
    since = watched.changed_at or now
    payload = ProbeOnlineEvent(event=EventKind.PROBE_ONLINE, timestamp=now, probe=about, offline_since=since)
    return [Event(team_id, watched.probe_id, EventKind.PROBE_ONLINE, payload) for team_id in teams]


def _about(watched: WatchedProbe, reason: str) -> EventProbe:
    return EventProbe(
        id=ids.show("prb", watched.probe_id),
        name=watched.name,
        locations=watched.locations,
        version=watched.version,
        last_seen_at=watched.presence.seen_at,
        reason=OfflineReason(reason),
    )
