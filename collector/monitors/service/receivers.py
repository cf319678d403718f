"""Monitors that receive results: the fields that the service adds to their configuration."""

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from collector.heartbeats.core import times
from collector.heartbeats.core.heartbeat import PingSchedule
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import SetSchedule
from collector.monitors.storage import cadences
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Tx
from shared.kinds import RECEIVING, Kind, ReceiverType
from shared.kinds.heartbeat import LONGEST_S, Heartbeat, seconds

# The location of all their results.
LOCATION: Final = "push"
# Fixed for all of them: their waiting time is the only confirmation needed.
SETTLED: Final[Mapping[str, Any]] = {
    "locations": [LOCATION],
    "failure_threshold": 1,
    "recovery_threshold": 1,
    "quorum": "majority",
}
# Fields of a configuration that only the service sets; a request may repeat them from a GET.
MADE: Final[Mapping[str, tuple[str, ...]]] = {
    ReceiverType.HEARTBEAT: ("pingUrl", "pingKey"),
    ReceiverType.OPENTELEMETRY: ("endpoint",),
    ReceiverType.PROMETHEUS: ("ingestUrl",),
}
# The longest assumed wait for the next time of a cron expression.
_CRON_COVER_S: Final = 31 * 86_400


def settled(kind: Kind) -> Mapping[str, Any]:
    """Return the columns of a monitor of this kind that the service sets."""
    return SETTLED if isinstance(kind, tuple(RECEIVING.values())) else {}


def faults(type_: str, config: Mapping[str, Any], bad: Collection[str]) -> dict[str, str]:
    """Return faults that only the service can detect in *config*, whose *bad* fields are unreadable."""
    cron = config.get("cron")
    if type_ != ReceiverType.HEARTBEAT or cron is None or "cron" in bad:
        return {}
    found = times.fault(cron)
    return {"cron": found} if found else {}


def completed(kind: Kind) -> Kind:
    """Return the kind with the fields that the service makes."""
    return with_new_key(kind) if isinstance(kind, Heartbeat) and not kind.ping_key else kind


def with_new_key(kind: Heartbeat) -> Heartbeat:
    return replace(kind, ping_key=secrets.token_hex(16))


def key_hash(key: str) -> bytes:
    """Return the hash by which a key is looked up; the key itself is sealed with its monitor."""
    return hashlib.sha256(key.encode()).digest()


def shown(type_: str, config: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """Return *config*, its secrets masked or not, as a GET shows it; *base_url*: of the API."""
    if type_ != ReceiverType.HEARTBEAT:
        return dict(config)
    rest = {name: value for name, value in config.items() if name != "pingKey"}
    return {**rest, "pingUrl": f"{base_url}/ping/{config.get('pingKey', '')}"}


async def keep(tx: Tx, team_id: int, kinds: Mapping[UUID, Kind], now: datetime) -> None:
    """Write the schedules of the heartbeats among these monitors of a team, after their rows.

    Their cadences are to be noted afterwards.
    """
    schedules = [
        SetSchedule(
            id_,
            key_hash(kind.ping_key),
            plan_of(kind),
            cover_s(kind),
            None if kind.arm_on_first_ping else now,
        )
        for id_, kind in kinds.items()
        if isinstance(kind, Heartbeat)
    ]
    if schedules:
        await heartbeats.put(tx, team_id, schedules)


async def keep_changed(tx: Tx, monitor: Monitor, kind: Kind, now: datetime) -> None:
    """Write the schedule and the cadence of a monitor that was changed, after its row."""
    await keep(tx, monitor.team_id, {monitor.id: kind}, now)
    if isinstance(kind, Heartbeat):
        await cadences.note(tx, monitor.team_id, [monitor.id], now)


async def paused_or_resumed(tx: Tx, monitor: Monitor) -> None:
    """Update the schedule after a pause or a resume; a past pause does not count as silence."""
    if monitor.type == ReceiverType.HEARTBEAT:
        await heartbeats.look_again(tx, monitor.team_id, monitor.id)


def plan_of(kind: Heartbeat) -> PingSchedule:
    return PingSchedule(
        wait=_span(kind.expected_interval),
        cron=kind.cron or "",
        zone=kind.timezone,
        grace=kind.grace,
        max_run=_span(kind.max_run_time),
        min_interval=_span(kind.min_interval),
    )


def cover_s(kind: Heartbeat) -> int:
    """Return for how long a ping counts: until the next one would be late."""
    wait_s = _CRON_COVER_S if kind.expected_interval is None else seconds(kind.expected_interval)
    return min(wait_s + seconds(kind.grace_period), 2 * LONGEST_S)


def _span(spec: int | str | None) -> timedelta | None:
    return None if spec is None else timedelta(seconds=seconds(spec))
