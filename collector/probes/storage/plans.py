"""Assignments: which probe checks which monitor where, with all that the probe must know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx
from shared.kinds import OF_CHAINS

_PLACING = 0x706C6163  # "plac": the key of the advisory lock below
# The type of the check: for Web3 monitors it is in the configuration.
CHECKED_AS = "CASE WHEN m.type = 'web3' THEN m.config ->> 'subType' ELSE m.type END"
# Ends the transaction of a process that hangs in it, so that it does not block the others.
_NOT_FOR_LONG = "set_config('idle_in_transaction_session_timeout', '5s', true)"


async def share(tx: Tx) -> None:
    """Call before placing a monitor: it excludes rebalancing, so each sees the other's result."""
    await tx.execute(f"SELECT {_NOT_FOR_LONG}, pg_advisory_xact_lock_shared($1)", _PLACING)


async def exclude(tx: Tx) -> None:
    """Call before rebalancing: no monitor is placed until the transaction ends."""
    await tx.execute(f"SELECT {_NOT_FOR_LONG}, pg_advisory_xact_lock($1)", _PLACING)


async def owner(tx: Tx, monitor: int) -> tuple[int, str] | None:
    """The monitor's team and the type of its checks; None if it was deleted."""
    row = await tx.fetchrow(
        f"SELECT m.team_id, {CHECKED_AS} AS type FROM monitors m WHERE m.monitor = $1", monitor
    )
    return (row["team_id"], row["type"]) if row else None


async def name_locations(tx: Tx, names: Sequence[str]) -> dict[str, int]:
    """The numbers of locations by name; new ones are numbered in the order of their names."""
    await tx.execute(
        """
        INSERT INTO locations (name) SELECT name FROM unnest($1::text[]) AS u (name)
        WHERE NOT EXISTS (SELECT FROM locations l WHERE l.name = u.name)
        ORDER BY name ON CONFLICT DO NOTHING
        """,
        names,
    )
    rows = await tx.fetch("SELECT name, location FROM locations WHERE name = ANY($1)", names)
    return {row["name"]: row["location"] for row in rows}


async def lock_holders(tx: Tx, monitor: int) -> dict[int, UUID | None]:
    """The holder of each location of the monitor; locks the rows. Raises LockNotAvailable rather soon.

    A writer locks states before the monitor; the caller has locked the monitor. So one must give way, and
    while this waits, the results of all probes wait.
    """
    await tx.execute("SET LOCAL lock_timeout = '30ms'")
    rows = await tx.fetch(
        "SELECT location, probe_id FROM states WHERE monitor = $1 ORDER BY location FOR UPDATE", monitor
    )
    return {row["location"]: row["probe_id"] for row in rows}


async def lock_states(tx: Tx, team_id: int, ids: Sequence[UUID]) -> dict[tuple[int, int], UUID | None]:
    """The holder of each location of these monitors, by (monitor, location); locks the rows in key order.

    Call it before the monitors are locked, as a writer does.
    """
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, s.probe_id FROM monitors m JOIN states s USING (monitor)
        WHERE m.team_id = $1 AND m.id = ANY($2) ORDER BY s.monitor, s.location FOR UPDATE OF s
        """,
        team_id,
        ids,
    )
    return {(row["monitor"], row["location"]): row["probe_id"] for row in rows}


async def drop(tx: Tx, monitor: int, kept: Sequence[int] = ()) -> None:
    """Delete the monitor's states except at *kept* locations."""
    await tx.execute("DELETE FROM states WHERE monitor = $1 AND location <> ALL($2)", monitor, kept)


async def drop_all(tx: Tx, monitors: Sequence[int]) -> None:
    """Delete the states of deleted monitors, whose rows are locked."""
    await tx.execute("DELETE FROM states WHERE monitor = ANY($1)", monitors)


async def release(tx: Tx, monitor: int, revision: int) -> None:
    """Unassign the monitor everywhere; its state stays."""
    await tx.execute(
        "UPDATE states SET revision = $2, assignment = NULL, probe_id = NULL WHERE monitor = $1",
        monitor,
        revision,
    )


async def put(
    tx: Tx, monitor: int, revision: int, locations: Sequence[int], probes: Sequence[UUID | None]
) -> None:
    """Assign the monitor at these locations, in order, each to its probe; see `put_all`."""
    pairs = enumerate(zip(locations, probes, strict=True))
    await put_all(
        tx, [Placement(monitor, location, turn, revision, probe) for turn, (location, probe) in pairs]
    )


@dataclass(frozen=True, slots=True)
class Placement:
    """A monitor's revision at a location, in its turn; None: no probe checks it there."""

    monitor: int
    location: int
    turn: int
    revision: int
    probe_id: UUID | None


async def put_all(tx: Tx, placements: Sequence[Placement]) -> None:
    """Assign monitors at their locations to their probes.

    A new revision resets the streaks, since results of the old one no longer count; a failing location stays
    failing until a confirmed verdict changes that. Positions of chain checks are kept, and new locations
    continue from them: nothing is missed while a monitor is paused, changed or moved. So drop the locations
    that it leaves after this.
    """
    await tx.execute(
        """
        INSERT INTO states AS s (monitor, location, turn, revision, probe_id, assignment, checkpoint)
        SELECT u.monitor, u.location, u.turn, u.revision, u.probe_id,
            CASE WHEN u.probe_id IS NOT NULL THEN nextval('assignment_numbers') END,
            (SELECT o.checkpoint FROM states o JOIN monitors m USING (monitor)
             WHERE o.monitor = u.monitor AND m.type = ANY($6) AND o.checkpoint IS NOT NULL
             ORDER BY o.last_at DESC NULLS LAST LIMIT 1)
        FROM unnest($1::int[], $2::smallint[], $3::smallint[], $4::int[], $5::uuid[])
            AS u (monitor, location, turn, revision, probe_id)
        ORDER BY u.monitor, u.location
        ON CONFLICT (monitor, location) DO UPDATE SET
            turn = excluded.turn, revision = excluded.revision, probe_id = excluded.probe_id,
            assignment = CASE WHEN s.probe_id = excluded.probe_id THEN s.assignment
                ELSE excluded.assignment END,
            ordinal = CASE WHEN s.probe_id = excluded.probe_id THEN s.ordinal ELSE 0 END,
            fails = CASE WHEN s.revision = excluded.revision THEN s.fails ELSE 0 END,
            goods = CASE WHEN s.revision = excluded.revision THEN s.goods ELSE 0 END,
            failed_since = CASE WHEN s.revision = excluded.revision OR s.failing THEN s.failed_since END,
            checkpoint = CASE WHEN s.revision = excluded.revision OR EXISTS (
                SELECT FROM monitors m WHERE m.monitor = s.monitor AND m.type = ANY($6)
            ) THEN s.checkpoint END
        """,
        [each.monitor for each in placements],
        [each.location for each in placements],
        [each.turn for each in placements],
        [each.revision for each in placements],
        [each.probe_id for each in placements],
        OF_CHAINS,
    )


async def put_new(
    tx: Tx,
    revision: int,
    monitors: Sequence[int],
    locations: Sequence[int],
    turns: Sequence[int],
    probes: Sequence[UUID | None],
) -> None:
    """Assign new monitors, which have no states yet: each at a location, in turn, to a probe."""
    await tx.execute(
        """
        INSERT INTO states (monitor, location, turn, revision, probe_id, assignment)
        SELECT monitor, location, turn, $1, probe_id,
            CASE WHEN probe_id IS NOT NULL THEN nextval('assignment_numbers') END
        FROM unnest($2::int[], $3::smallint[], $4::smallint[], $5::uuid[])
            AS u (monitor, location, turn, probe_id)
        ORDER BY monitor, location
        """,
        revision,
        monitors,
        locations,
        turns,
        probes,
    )


@dataclass(frozen=True, slots=True)
class PlacedMonitor:
    """A monitor at a location, and its probe there; *type*: of its checks."""

    monitor: int
    location: int
    name: str
    team_id: int
    type: str
    probe_id: UUID | None


async def holdings(tx: Tx) -> list[PlacedMonitor]:
    """The assignments of all monitors that are not paused, in key order."""
    rows = await tx.fetch(
        f"""
        SELECT s.monitor, s.location, l.name, m.team_id, {CHECKED_AS}, s.probe_id
        FROM states s JOIN monitors m USING (monitor) JOIN locations l USING (location)
        WHERE m.paused_at IS NULL ORDER BY s.monitor, s.location
        """
    )
    return [PlacedMonitor(*row) for row in rows]


async def lock_held(tx: Tx, probe_id: UUID, numbers: Sequence[int]) -> list[PlacedMonitor]:
    """Of the assignments *numbers*, those that the probe still has, locked in key order."""
    rows = await tx.fetch(
        f"""
        SELECT s.monitor, s.location, l.name, m.team_id, {CHECKED_AS}, s.probe_id
        FROM states s JOIN monitors m USING (monitor) JOIN locations l USING (location)
        WHERE s.probe_id = $1 AND s.assignment = ANY($2::bigint[]) AND m.paused_at IS NULL
        ORDER BY s.monitor, s.location FOR NO KEY UPDATE OF s
        """,
        probe_id,
        numbers,
    )
    return [PlacedMonitor(*row) for row in rows]


async def move(
    tx: Tx, monitors: Sequence[int], locations: Sequence[int], probes: Sequence[UUID | None]
) -> None:
    """Give each (monitor, location) to its new probe; they must be in key order, in which they are locked."""
    await tx.execute(
        """
        SELECT FROM states s
        JOIN unnest($1::int[], $2::smallint[]) AS u (monitor, location) USING (monitor, location)
        ORDER BY s.monitor, s.location FOR UPDATE OF s
        """,
        monitors,
        locations,
    )
    await tx.execute(
        """
        UPDATE states s SET probe_id = u.probe_id, ordinal = 0,
            assignment = CASE WHEN u.probe_id IS NOT NULL THEN nextval('assignment_numbers') END
        FROM unnest($1::int[], $2::smallint[], $3::uuid[]) AS u (monitor, location, probe_id)
        WHERE s.monitor = u.monitor AND s.location = u.location
        """,
        monitors,
        locations,
        probes,
    )


async def places(tx: Tx, probe_id: UUID, checks: Sequence[tuple[int, int]]) -> list[tuple[int, int, UUID]]:
    """Where the monitors of *checks* (monitor and revision) are checked, in key order; without those already
    marked as stopped, and without those that *probe_id* may not check.
    """
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, s.probe_id
        FROM unnest($2::int[], $3::int[]) AS u (monitor, revision)
        JOIN monitors m USING (monitor, revision) JOIN states s USING (monitor)
        JOIN probes p ON p.probe_id = $1 AND coalesce(p.team_id, m.team_id) = m.team_id
        WHERE m.stopped_revision IS DISTINCT FROM m.revision AND s.probe_id IS NOT NULL
        ORDER BY s.monitor, s.location
        """,
        probe_id,
        [monitor for monitor, _ in checks],
        [revision for _, revision in checks],
    )
    return [tuple(row) for row in rows]


async def note_stopped(tx: Tx, monitors: Sequence[int]) -> None:
    """Mark the current revision of the monitors as stopped."""
    await tx.execute(
        "UPDATE monitors SET stopped_revision = revision WHERE monitor = ANY($1) AND monitor IN ("
        "SELECT monitor FROM monitors WHERE monitor = ANY($1) ORDER BY monitor FOR NO KEY UPDATE)",
        monitors,
    )


async def sweep(tx: Tx) -> None:
    """Delete states of deleted monitors."""
    await tx.execute(
        "DELETE FROM states s WHERE NOT EXISTS (SELECT FROM monitors m WHERE m.monitor = s.monitor)"
    )


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """All that a probe needs to check one monitor at one location; *secrets* are still sealed."""

    number: int
    monitor: int
    location: int
    revision: int
    team_id: int
    id: UUID
    type: str
    config: dict[str, Any]
    secrets: bytes | None
    interval_s: int
    timeout_s: int
    turn: int
    turns: int
    failure_threshold: int
    recovery_threshold: int
    fails: int
    failing: bool
    at_once: bool
    checkpoint: bytes | None
    stopped: bool


_PLANNED = f"""
    SELECT s.assignment, s.monitor, s.location, s.revision, m.team_id, m.id, {CHECKED_AS},
        m.config, m.secrets, m.interval_s, m.timeout_s, s.turn, cardinality(m.locations), m.failure_threshold,
        m.recovery_threshold, s.fails, s.failing,
        s.last_at IS NULL OR s.last_at < greatest(m.updated_at, now() - m.interval_s * interval '1 second'),
        s.checkpoint, m.stopped_revision IS NOT DISTINCT FROM s.revision
    FROM states s JOIN monitors m USING (monitor)
    WHERE s.probe_id = $1 AND s.assignment IS NOT NULL
"""


async def page(tx: Tx, probe_id: UUID, after: tuple[int, int], limit: int) -> list[PlannedCheck]:
    """The probe's assignments after the key *after*, in key order."""
    rows = await tx.fetch(
        _PLANNED + "AND (s.monitor, s.location) > ($2, $3) ORDER BY s.monitor, s.location LIMIT $4",
        probe_id,
        *after,
        limit,
    )
    return [PlannedCheck(*row) for row in rows]


async def of_monitors(tx: Tx, probe_id: UUID, monitors: Sequence[int]) -> list[PlannedCheck]:
    """The probe's assignments among these monitors."""
    rows = await tx.fetch(
        _PLANNED + "AND s.monitor = ANY($2) ORDER BY s.monitor, s.location", probe_id, monitors
    )
    return [PlannedCheck(*row) for row in rows]


async def numbers(tx: Tx, probe_id: UUID) -> list[tuple[int, int]]:
    """(number, revision) of all assignments of the probe."""
    rows = await tx.fetch(
        "SELECT assignment, revision FROM states WHERE probe_id = $1 AND assignment IS NOT NULL", probe_id
    )
    return [(row["assignment"], row["revision"]) for row in rows]
