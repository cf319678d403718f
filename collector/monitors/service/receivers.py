"""Monitors that receive results: the fields that the service adds to their configuration."""

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from collector.heartbeats.core import times
from collector.heartbeats.core.heartbeat import PingSchedule
from collector.heartbeats.storage import heartbeats
from collector.monitors.storage import cadences
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Tx
from shared.kinds import RECEIVING, Kind
from shared.kinds.heartbeat import LONGEST_S, Heartbeat, seconds

# The one location of all their results.
LOCATION: Final = "push"
# What is set for all of them: how long they wait is all the confirmation there is.
SETTLED: Final[Mapping[str, Any]] = {
    "locations": [LOCATION],
    "failure_threshold": 1,
    "recovery_threshold": 1,
    "quorum": "majority",
}
# Fields of a configuration that a GET shows, or that the service alone makes: whoever sends them is no fool.
MADE: Final[Mapping[str, tuple[str, ...]]] = {
    "heartbeat": ("pingUrl", "pingKey"),
    "opentelemetry": ("endpoint",),
    "prometheus": ("ingestUrl",),
}
# After a time of cron the next one may be this far away.
_CRON_COVER_S: Final = 31 * 86_400


def settled(kind: Kind) -> Mapping[str, Any]:
    """Columns of a monitor of this kind that its caller has no say in."""
    return SETTLED if isinstance(kind, tuple(RECEIVING.values())) else {}


def faults(type_: str, config: Mapping[str, Any], bad: Collection[str]) -> dict[str, str]:
    """What only the service can see to be wrong with *config*, whose *bad* fields cannot be read."""
    cron = config.get("cron")
    if type_ != "heartbeat" or cron is None or "cron" in bad:
        return {}
    found = times.fault(cron)
    return {"cron": found} if found else {}


def completed(kind: Kind) -> Kind:
    """With what the service makes, where that is still to be made."""
    return with_new_key(kind) if isinstance(kind, Heartbeat) and not kind.ping_key else kind


def with_new_key(kind: Heartbeat) -> Heartbeat:
    return replace(kind, ping_key=secrets.token_hex(16))


def key_hash(key: str) -> bytes:
    """What a key is found by; the key itself lies sealed with its monitor."""
    return hashlib.sha256(key.encode()).digest()


def shown(type_: str, config: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """*config*, its secrets masked or not, as a GET shows it; *base_url* is where the API lies."""
    if type_ != "heartbeat":
        return dict(config)
    rest = {name: value for name, value in config.items() if name != "pingKey"}
    return {**rest, "pingUrl": f"{base_url}/ping/{config.get('pingKey', '')}"}


async def keep(tx: Tx, monitor: Monitor, kind: Kind, now: datetime) -> None:
    """Write what is awaited of a monitor, after its row was written."""
    if isinstance(kind, Heartbeat):
        base = None if kind.arm_on_first_ping else now
        plan, hashed = plan_of(kind), key_hash(kind.ping_key)
        await heartbeats.put(tx, monitor.team_id, monitor.id, hashed, plan, cover_s(kind), base)
        await cadences.note(tx, monitor.team_id, monitor.id, now)


async def paused_or_resumed(tx: Tx, monitor: Monitor) -> None:
    """A paused one is not awaited; a pause that is over counts against nobody."""
    if monitor.type == "heartbeat":
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
    """For how long a ping speaks: until the next one would be late."""
    wait_s = _CRON_COVER_S if kind.expected_interval is None else seconds(kind.expected_interval)
    return min(wait_s + seconds(kind.grace_period), 2 * LONGEST_S)


def _span(spec: int | str | None) -> timedelta | None:
    return None if spec is None else timedelta(seconds=seconds(spec))
