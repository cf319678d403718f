"""Probes and their sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.probes.core.assignment import LIVE, ProbeCandidate

_KEEP_CURSORS = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ProbeDescription:
    """A probe's description of itself at session start; its incarnations oldest first.

    *stopped*: monitors and revisions whose checks stalled it.
    """

    probe_id: UUID
    locations: Sequence[str]
    kinds: Sequence[str]
    stands_in: bool
    version: str
    boot_id: str
    address: str
    incarnations: Sequence[int]
    stopped: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A probe's row at session start; *team_id* None: it belongs to the operator."""

    team_id: int | None
    locations: Sequence[str]
    session: int | None
    boot_id: str
    address: str
    connected_at: datetime | None
    ended_at: datetime | None
    seen_at: datetime | None
    revoked_at: datetime | None

    def live(self, now: datetime) -> bool:
        return self.ended_at is None and self.seen_at is not None and abs(now - self.seen_at) < LIVE


async def lock(tx: Tx, probe_id: UUID) -> ProbeRow | None:
    """Lock the probe's row."""
    row = await tx.fetchrow(
        """
        SELECT team_id, locations, session, boot_id, address, connected_at, ended_at, seen_at, revoked_at
        FROM probes WHERE probe_id = $1 FOR UPDATE
        """,
        probe_id,
    )
    return ProbeRow(**row) if row else None


async def start_session(tx: Tx, probe: ProbeDescription, now: datetime) -> int:
    """Start a session and return its number; `lock` must have locked the row."""
    session: int = await tx.fetchval(
        """
        UPDATE probes SET session = nextval('session_numbers'), kinds = $2,
            stands_in = $3 AND may_stand_in, version = $4, boot_id = $5, address = $6,
            connected_at = $7, seen_at = $7, ended_at = NULL, stopped = false
        WHERE probe_id = $1 RETURNING session
        """,
        probe.probe_id,
        probe.kinds,
        probe.stands_in,
        probe.version,
        probe.boot_id,
        probe.address,
        now,
    )
    return session


async def take_cursors(
    tx: Tx, probe_id: UUID, session: int, incarnations: Sequence[int], now: datetime
) -> dict[int, int]:
    """Move all the probe's cursors to *session*, fencing the older one; return the last seq by incarnation.

    A cursor behind the probe's spool (after a database restore) stays: the probe reports the gap.
    """
    await tx.execute(
        "SELECT FROM probe_cursors WHERE probe_id = $1 ORDER BY incarnation FOR UPDATE", probe_id
    )
    await tx.execute(
        "DELETE FROM probe_cursors WHERE probe_id = $1 AND incarnation <> ALL($2) AND moved_at < $3",
        probe_id,
        incarnations,
        now - _KEEP_CURSORS,
    )
    await tx.execute("UPDATE probe_cursors SET session = $2 WHERE probe_id = $1", probe_id, session)
    # One at a time: their ordinals follow the order of the list.
    await tx.executemany(
        """
        INSERT INTO probe_cursors (probe_id, incarnation, session, moved_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """,
        [(probe_id, incarnation, session, now) for incarnation in incarnations],
    )
    rows = await tx.fetch(
        "SELECT incarnation, last_seq FROM probe_cursors WHERE probe_id = $1 AND incarnation = ANY($2)",
        probe_id,
        incarnations,
    )
    return {row["incarnation"]: row["last_seq"] for row in rows}


async def is_followed(tx: Tx, probe_id: UUID, incarnation: int) -> bool:
    """Whether another incarnation began after this one."""
    return bool(
        await tx.fetchval(
            """
            SELECT EXISTS (
                SELECT FROM probe_cursors mine JOIN probe_cursors other USING (probe_id)
                WHERE probe_id = $1 AND mine.incarnation = $2 AND other.ordinal > mine.ordinal
            )
            """,
            probe_id,
            incarnation,
        )
    )


async def open_cursor(tx: Tx, probe_id: UUID, session: int, incarnation: int, now: datetime) -> None:
    """Create a cursor for an incarnation that began within the session; does nothing if it is fenced."""
    await tx.execute(
        """
        INSERT INTO probe_cursors (probe_id, incarnation, session, moved_at)
        SELECT $1, $3, $2, $4 FROM probes WHERE probe_id = $1 AND session = $2
        ON CONFLICT DO NOTHING
        """,
        probe_id,
        session,
        incarnation,
        now,
    )


@dataclass(frozen=True, slots=True)
class ProbeSignal:
    """A session's sign of life, with the probe's last vitals, or its end; *stopped*: the probe ended it."""

    probe_id: UUID
    session: int
    at: datetime
    vitals: dict[str, Any]
    ended: bool = False
    stopped: bool = False


async def note(tx: Tx, signs: Sequence[ProbeSignal]) -> set[int]:
    """Record signs of life and ends; return the sessions that are still current."""
    rows = await tx.fetch(
        """
        WITH u AS (
            SELECT p.probe_id, u.session, u.at, u.vitals, u.ended, u.stopped
            FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::jsonb[], $5::boolean[],
                    $6::boolean[])
                AS u (probe_id, session, at, vitals, ended, stopped)
            JOIN probes p ON p.probe_id = u.probe_id AND p.session = u.session
            ORDER BY p.probe_id FOR NO KEY UPDATE OF p
        )
        UPDATE probes p SET
            seen_at = CASE WHEN u.ended THEN p.seen_at ELSE u.at END,
            ended_at = CASE WHEN u.ended THEN u.at END,
            vitals = CASE WHEN u.ended THEN p.vitals ELSE u.vitals END,
            blind_since = CASE
                WHEN u.ended THEN p.blind_since
                WHEN u.vitals @> '{"blind": true}' THEN coalesce(p.blind_since, u.at)
            END,
            stopped = u.stopped
        FROM u WHERE p.probe_id = u.probe_id AND p.session = u.session
        RETURNING p.session
        """,
        [sign.probe_id for sign in signs],
        [sign.session for sign in signs],
        [sign.at for sign in signs],
        [sign.vitals for sign in signs],
        [sign.ended for sign in signs],
        [sign.stopped for sign in signs],
    )
    return {row["session"] for row in rows}


async def candidates(tx: Tx) -> list[ProbeCandidate]:
    """All unrevoked probes, as input for assignment."""
    rows = await tx.fetch(
        """
        SELECT probe_id, team_id, locations, kinds, stands_in, draining_at IS NOT NULL AS draining,
            CASE WHEN session IS NOT NULL THEN coalesce(ended_at, seen_at) END AS alive_at,
            ended_at IS NOT NULL AS ended
        FROM probes WHERE revoked_at IS NULL ORDER BY probe_id
        """
    )
    return [
        ProbeCandidate(
            row["probe_id"],
            row["team_id"],
            frozenset(row["locations"]),
            frozenset(row["kinds"]),
            row["stands_in"],
            row["alive_at"],
            row["draining"],
            row["ended"],
        )
        for row in rows
    ]


async def served(tx: Tx, team_id: int, now: datetime) -> list[str]:
    """Sorted names of the locations that have a live probe for this team."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT location FROM probes, unnest(locations) AS location
        WHERE revoked_at IS NULL AND ended_at IS NULL AND seen_at > $2 AND seen_at < $3
            AND coalesce(team_id, $1) = $1
        ORDER BY location
        """,
        team_id,
        now - LIVE,
        now + LIVE,
    )
    return [row["location"] for row in rows]


async def connected(tx: Tx, team_id: int, type_: str, locations: Sequence[str], now: datetime) -> int | None:
    """A live session that can check *type_*: at the first possible one of *locations*, else anywhere."""
    session: int | None = await tx.fetchval(
        """
        SELECT session FROM probes
        WHERE revoked_at IS NULL AND ended_at IS NULL AND seen_at > $4 AND seen_at < $5
            AND coalesce(team_id, $1) = $1 AND $2 = ANY(kinds)
        ORDER BY (
            SELECT min(turn) FROM unnest($3::text[]) WITH ORDINALITY AS u (name, turn)
            WHERE name = ANY(locations)
        ) NULLS LAST, stands_in DESC, seen_at DESC LIMIT 1
        """,
        team_id,
        type_,
        locations,
        now - LIVE,
        now + LIVE,
    )
    return session
