"""The current state of each monitor at each location, as the writer moves it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.evaluation.core import quorum
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import LATE, CheckStreak, StreakThresholds, outdated
from collector.platform.storage.db import Tx
from shared.kinds import RECEIVING
from shared.results import Status


@dataclass(frozen=True, slots=True)
class Latest:
    """The last result of each key, in columns and in key order; *part* indexes *probes* and *ordinals*.

    *at_ms* is Unix milliseconds; *troubled*: some result of the key was not good.
    """

    probes: Sequence[UUID]
    ordinals: Sequence[int]
    monitor: Sequence[int]
    location: Sequence[int]
    part: Sequence[int]
    assignment: Sequence[int]
    revision: Sequence[int]
    at_ms: Sequence[int]
    status: Sequence[int]
    ms: Sequence[int]
    error: Sequence[int | None]
    troubled: Sequence[bool]


@dataclass(frozen=True, slots=True)
class MovedStates:
    """The number of keys that took their result, and those of them that need a decision."""

    count: int
    wanting: frozenset[tuple[int, int]]


async def move(tx: Tx, latest: Latest) -> MovedStates:
    """Give each state row its latest result, if the result was made under the row's plan."""
    [row] = await tx.fetch(
        """
        WITH moved AS (
            UPDATE states s SET
                ordinal = ($2::bigint[])[u.part + 1],
                last_at = 'epoch'::timestamptz + u.at_ms * interval '1 millisecond',
                last_status = u.status, last_ms = u.ms, last_error = u.error
            FROM unnest($3::int[], $4::smallint[], $5::smallint[], $6::bigint[], $7::int[],
                    $8::bigint[], $9::smallint[], $10::int[], $11::int[], $12::boolean[])
                AS u (monitor, location, part, assignment, revision, at_ms, status, ms, error, troubled)
            WHERE s.monitor = u.monitor AND s.location = u.location
                AND s.assignment = u.assignment AND s.revision = u.revision
                AND s.probe_id = ($1::uuid[])[u.part + 1] AND s.ordinal <= ($2::bigint[])[u.part + 1]
            RETURNING s.monitor, s.location, u.troubled OR s.failing OR s.fails > 0 AS wanting
        )
        SELECT count(*) AS count,
            array_agg(monitor) FILTER (WHERE wanting) AS monitors,
            array_agg(location) FILTER (WHERE wanting) AS locations
        FROM moved
        """,
        latest.probes,
        latest.ordinals,
        latest.monitor,
        latest.location,
        latest.part,
        latest.assignment,
        latest.revision,
        latest.at_ms,
        latest.status,
        latest.ms,
        latest.error,
        latest.troubled,
    )
    return MovedStates(
        row["count"], frozenset(zip(row["monitors"] or (), row["locations"] or (), strict=True))
    )


@dataclass(frozen=True, slots=True)
class StateOwner:
    """The owner of a state row: this probe may move it, under this plan, from this incarnation on."""

    probe_id: UUID | None
    assignment: int | None
    revision: int
    ordinal: int


async def lock(tx: Tx, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], StateOwner]:
    """Lock the rows of *keys*, which are sorted; return the plan of each that exists."""
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, s.probe_id, s.assignment, s.revision, s.ordinal
        FROM unnest($1::int[], $2::smallint[]) AS u (monitor, location)
        JOIN states s USING (monitor, location)
        ORDER BY s.monitor, s.location FOR NO KEY UPDATE OF s
        """,
        [monitor for monitor, _ in keys],
        [location for _, location in keys],
    )
    return {
        (row["monitor"], row["location"]): StateOwner(
            row["probe_id"], row["assignment"], row["revision"], row["ordinal"]
        )
        for row in rows
    }


async def current(tx: Tx, latest: Latest) -> set[tuple[int, int]]:
    """The keys among *latest* whose state has that plan: those that `move` moved."""
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location
        FROM unnest($3::int[], $4::smallint[], $5::smallint[], $6::bigint[], $7::int[])
            AS u (monitor, location, part, assignment, revision)
        JOIN states s ON s.monitor = u.monitor AND s.location = u.location
            AND s.assignment = u.assignment AND s.revision = u.revision
            AND s.probe_id = ($1::uuid[])[u.part + 1] AND s.ordinal <= ($2::bigint[])[u.part + 1]
        """,
        latest.probes,
        latest.ordinals,
        latest.monitor,
        latest.location,
        latest.part,
        latest.assignment,
        latest.revision,
    )
    return {(row["monitor"], row["location"]) for row in rows}


async def may_write(tx: Tx, probe_id: UUID, places: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """The *places* (monitor and location) to whose history this probe may add.

    The monitor exists, and the probe serves its team; a team's own probe has, or had, that location.
    """
    rows = await tx.fetch(
        """
        SELECT u.monitor, u.location
        FROM unnest($2::int[], $3::smallint[]) AS u (monitor, location)
        JOIN monitors m USING (monitor) JOIN probes p ON p.probe_id = $1
        LEFT JOIN locations l ON l.location = u.location
        WHERE p.team_id IS NULL OR (p.team_id = m.team_id AND l.name = ANY (p.locations || p.stood))
        """,
        probe_id,
        [monitor for monitor, _ in places],
        [location for _, location in places],
    )
    return {(row["monitor"], row["location"]) for row in rows}


@dataclass(frozen=True, slots=True)
class StateAtLocation:
    """A state row with what a decision needs of its location.

    *seen_at*: when its probe last reached the Internet; *last_at*: the start of its newest check, None if
    nothing was measured; *error* is of that check. *known_at*: the start of the newest conclusive check, as
    far as that matters; *apart*: see `outlived`. *receives*: see `Vote`.
    """

    monitor: int
    location: int
    name: str
    seen_at: datetime | None
    state: CheckStreak
    last_at: datetime | None
    error: str
    receives: bool
    known_at: datetime | None
    apart: timedelta
    thresholds: StreakThresholds

    @property
    def outlived(self) -> bool:
        return not self.receives and quorum.outlived(self.known_at, self.seen_at, self.apart)

    @property
    def vote(self) -> Vote:
        stale = self.outlived or outdated(self.state, self.thresholds)
        known = self.last_at is not None
        return Vote(self.name, self.state.failing, self.seen_at, known, self.receives, stale)


def by_monitor(located: Iterable[StateAtLocation]) -> defaultdict[int, list[StateAtLocation]]:
    """Group by monitor, in the given order; a monitor without locations yields an empty list."""
    places: defaultdict[int, list[StateAtLocation]] = defaultdict(list)
    for place in located:
        places[place.monitor].append(place)
    return places


async def of_monitors(tx: Tx, monitors: Sequence[int]) -> list[StateAtLocation]:
    """All locations of these monitors, by turn.

    Results are searched only where a connected probe's newest check was inconclusive.
    """
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, l.name, least(p.seen_at, p.blind_since) AS seen_at, s.failing, s.fails,
            s.goods, s.failed_since, s.last_at, coalesce(e.text, '') AS error, m.type = ANY($2) AS receives,
            p.seen_at IS NOT NULL AND p.blind_since IS NULL AND s.last_status = $3 AS silent,
            (m.interval_s + m.timeout_s) * interval '1 second' + $4 AS apart,
            m.failure_threshold, m.recovery_threshold
        FROM states s JOIN monitors m USING (monitor) JOIN locations l USING (location)
            LEFT JOIN probes p USING (probe_id)
            LEFT JOIN errors e ON e.error = s.last_error
        WHERE s.monitor = ANY($1) ORDER BY s.monitor, s.turn
        """,
        list(monitors),
        list(RECEIVING),
        Status.UNKNOWN,
        LATE,
    )
    silent = [row for row in rows if row["silent"]]
    spoke = await _spoke(tx, silent) if silent else {}
    return [
        StateAtLocation(
            row["monitor"],
            row["location"],
            row["name"],
            row["seen_at"],
            CheckStreak(row["failing"], row["fails"], row["goods"], row["failed_since"]),
            row["last_at"],
            row["error"],
            row["receives"],
            spoke.get((row["monitor"], row["location"])) if row["silent"] else row["last_at"],
            row["apart"],
            StreakThresholds(row["failure_threshold"], row["recovery_threshold"]),
        )
        for row in rows
    ]


async def _spoke(tx: Tx, rows: Sequence[Any]) -> dict[tuple[int, int], datetime]:
    """The newest conclusive check of each location, if it is not too old to count."""
    since = [row["seen_at"] - max(row["apart"], quorum.SILENCE) for row in rows]
    records = await tx.fetch(
        """
        SELECT u.monitor, u.location, r.ts
        FROM unnest($1::int[], $2::smallint[], $3::timestamptz[]) AS u (monitor, location, since)
        CROSS JOIN LATERAL (
            SELECT ts FROM results WHERE monitor = u.monitor AND location = u.location
                AND ts >= u.since AND ts >= $4 AND status <> $5
            ORDER BY ts DESC LIMIT 1
        ) r
        """,
        [row["monitor"] for row in rows],
        [row["location"] for row in rows],
        since,
        min(since),
        Status.UNKNOWN,
    )
    return {(row["monitor"], row["location"]): row["ts"] for row in records}


async def save(tx: Tx, after: Sequence[tuple[int, int, CheckStreak]]) -> None:
    """Write states that the state machine moved; `move` has locked their rows already."""
    await tx.execute(
        """
        UPDATE states s SET
            failing = u.failing, fails = u.fails, goods = u.goods, failed_since = u.failed_since
        FROM unnest($1::int[], $2::smallint[], $3::boolean[], $4::int[], $5::int[], $6::timestamptz[])
            AS u (monitor, location, failing, fails, goods, failed_since)
        WHERE s.monitor = u.monitor AND s.location = u.location
        """,
        [monitor for monitor, _, _ in after],
        [location for _, location, _ in after],
        [state.failing for _, _, state in after],
        [state.fails for _, _, state in after],
        [state.goods for _, _, state in after],
        [state.failed_since for _, _, state in after],
    )
