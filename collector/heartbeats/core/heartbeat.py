"""What pings and their absence mean: in time, missed, failed, too long, too often."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from collector.heartbeats.core.times import following
from collector.platform.deadlines import Between, deadline
from shared.results import Status

# Runs that are tracked at once; beyond, the oldest is dropped.
MOST_RUNS: Final = 50
# The largest run time that the column holds: 24 days.
_LONGEST_MS: Final = 2**31 - 1


class PingSignal(StrEnum):
    """The meaning of a ping."""

    GOOD = "good"
    FAILED = "failed"
    STARTED = "started"
    LOGGED = "logged"


@dataclass(frozen=True, slots=True)
class Ping:
    """*rid* pairs the end of a run with its start; *code*: an exit status; *ms*: the reported run time."""

    sign: PingSignal
    rid: str = ""
    code: int = 0
    ms: int | None = None


@dataclass(frozen=True, slots=True)
class PingSchedule:
    """When pings are due: every *wait*, or at the times of *cron* in *zone*. All but one may be absent."""

    wait: timedelta | None
    cron: str
    zone: str
    grace: timedelta
    max_run: timedelta | None = None
    min_interval: timedelta | None = None

    def wait_from(self, base: datetime) -> timedelta:
        return self.wait if self.wait is not None else following(self.cron, self.zone, base) - base


@dataclass(frozen=True, slots=True)
class Beat:
    """*base*: start of the wait for the next ping, None before the first one of a job that may wait for it.

    *last*: the newest ping that ended a run; *runs*: starts of unfinished runs, by their rid.
    """

    base: datetime | None
    last: datetime | None = None
    runs: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    """The result to record; *error* is empty when all is well."""

    status: Status
    at: datetime
    error: str = ""
    ms: int = 0
    code: int = 0


def take(beat: Beat, ping: Ping, plan: PingSchedule, now: datetime) -> tuple[Beat, HeartbeatResult]:
    """Return the heartbeat after a ping, and the result."""
    match ping.sign:
        case PingSignal.LOGGED:
            return beat, HeartbeatResult(Status.UNKNOWN, now, "logged")
        case PingSignal.STARTED:
            return _started(beat, ping, plan, now), HeartbeatResult(Status.UNKNOWN, now, "started")
        case _:
            return _ended(beat, ping, plan, now)


def check_overdue(
    beat: Beat, plan: PingSchedule, deaf: Iterable[Between], now: datetime
) -> tuple[Beat, HeartbeatResult | None, datetime | None]:
    """Find what is overdue: return the heartbeat after it, the finding, and when to check again.

    *deaf*: see `deadline`.
    """
    deaf = list(deaf)
    ends = _ends(beat, plan, deaf)
    if ends and min(ends.values()) <= now:
        rid = min(ends, key=lambda run: ends[run])
        after = replace(beat, runs={name: at for name, at in beat.runs.items() if name != rid})
        error = f"too long: it started and did not end within {_shown(plan.max_run)}"
        return after, HeartbeatResult(Status.DOWN, ends[rid], error), _soonest(after, plan, deaf)
    due = _due(beat, plan, deaf)
    if beat.base is None or due is None or due > now:
        return beat, None, _soonest(beat, plan, deaf)
    # The next wait begins at the missed time; a late check catches up on only one of them.
    after = replace(beat, base=max(due - plan.grace, now - plan.wait_from(beat.base)))
    return after, HeartbeatResult(Status.DOWN, due, _missed(beat, plan)), _soonest(after, plan, deaf)


def run_time(ping: Ping, took: timedelta | None = None) -> int:
    """Return milliseconds: as the ping reports, else as long as its run *took*; 0 if unknown."""
    ms = ping.ms if ping.ms is not None else 0 if took is None else took // timedelta(milliseconds=1)
    return min(ms, _LONGEST_MS)


def awaited(beat: Beat, plan: PingSchedule) -> datetime | None:
    """Return when to check, if collectors listen all the time; None if nothing is awaited."""
    return _soonest(beat, plan, [])


def _started(beat: Beat, ping: Ping, plan: PingSchedule, now: datetime) -> Beat:
    """Record a start; with a maximum run time it also counts as the job's ping in time."""
    runs = {rid: at for rid, at in beat.runs.items() if rid != ping.rid}
    while len(runs) >= MOST_RUNS:
        del runs[min(runs, key=lambda run: runs[run])]
    return replace(
        beat, runs={**runs, ping.rid: now}, base=_served(beat, plan, now) if plan.max_run else beat.base
    )


def _ended(beat: Beat, ping: Ping, plan: PingSchedule, now: datetime) -> tuple[Beat, HeartbeatResult]:
    started = beat.runs.get(ping.rid)
    took = None if started is None else max(timedelta(), now - started)
    ms = run_time(ping, took)
    error = _why_bad(beat, ping, plan, took, now)
    after = Beat(_served(beat, plan, now), now, {rid: at for rid, at in beat.runs.items() if rid != ping.rid})
    return after, HeartbeatResult(Status.DOWN if error else Status.UP, now, error, ms, ping.code)


def _served(beat: Beat, plan: PingSchedule, now: datetime) -> datetime:
    """Return the start of the next wait: now, or the time for which this ping is slightly early.

    Clocks differ, so slightly is the grace, but at most a tenth of the wait.
    """
    if beat.base is None:
        return now
    wait = plan.wait_from(beat.base)
    expected = beat.base if now < beat.base else beat.base + wait
    return expected if now < expected <= now + min(plan.grace, wait / 10) else now


def _why_bad(beat: Beat, ping: Ping, plan: PingSchedule, took: timedelta | None, now: datetime) -> str:
    if ping.sign is PingSignal.FAILED:
        return f"failed: exit status {ping.code}" if ping.code else "failed: the job says so"
    if plan.max_run is not None and took is not None and took > plan.max_run:
        return f"too long: it ran for more than {_shown(plan.max_run)}"
    if plan.min_interval is not None and beat.last is not None and now - beat.last < plan.min_interval:
        return f"too often: less than {_shown(plan.min_interval)} after the ping before"
    return ""


def _missed(beat: Beat, plan: PingSchedule) -> str:
    when = f"within {_shown(plan.wait)}" if plan.wait is not None else f"at its time ({plan.cron})"
    began = "it started and did not end" if beat.runs else "no ping came"
    return f"missed: {began} {when}, nor in the {_shown(plan.grace)} after"


def _due(beat: Beat, plan: PingSchedule, deaf: Iterable[Between]) -> datetime | None:
    if beat.base is None:
        return None
    return deadline(beat.base, plan.wait_from(beat.base), plan.grace, deaf)


def _ends(beat: Beat, plan: PingSchedule, deaf: Iterable[Between]) -> dict[str, datetime]:
    """Return when each run must have ended."""
    if plan.max_run is None:
        return {}
    return {rid: deadline(at, plan.max_run, timedelta(), deaf) for rid, at in beat.runs.items()}


def _soonest(beat: Beat, plan: PingSchedule, deaf: Iterable[Between]) -> datetime | None:
    due = _due(beat, plan, deaf)
    return min([*_ends(beat, plan, deaf).values(), *([due] if due else [])], default=None)


def _shown(span: timedelta | None) -> str:
    """Return ``90 s``, ``15 m``, ``24 h``, ``7 d``: in the largest unit that is exact."""
    seconds = int(span.total_seconds()) if span is not None else 0
    if seconds > 86_400 and seconds % 86_400 == 0:
        return f"{seconds // 86_400} d"
    if seconds >= 3_600 and seconds % 3_600 == 0:
        return f"{seconds // 3_600} h"
    return f"{seconds // 60} m" if seconds >= 60 and seconds % 60 == 0 else f"{seconds} s"
