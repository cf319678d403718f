"""The queue of deliveries; the database's clock decides for every collector what is due.

An attempt is counted before it is made, and leased for the channel's timeout and a little more. Only the
result of the leased attempt is recorded, so a sender that reports too late changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from collector.notifications.core.retry import MAX_EXPIRIES, TRIES_IN_ORDER
from collector.platform.delivery import DeliveryStatus
from collector.platform.storage.db import Tx
from collector.platform.storage.on_commit import queued

GRACE = timedelta(seconds=15)
LOST = "no word of this try: its sender stopped"


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """One event for one channel."""

    team_id: int
    id: UUID
    channel_id: UUID
    stream_id: UUID
    sequence: int
    event_id: UUID
    event_kind: str


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """An attempt to make now, with all data it needs; *status* is FAILED if its leases expired too often.

    *reached*: the addressees that earlier attempts reached, one per line.
    """

    team_id: int
    id: UUID
    status: int
    attempt: int
    expiries: int
    reached: str
    event_id: UUID
    event_kind: str
    stream_id: UUID
    sequence: int
    payload: Mapping[str, Any]
    incident_id: UUID | None
    channel_id: UUID
    channel_name: str
    channel_type: str
    enabled: bool
    config: Mapping[str, Any]
    secrets: bytes | None

    @property
    def tries(self) -> int:
        """Attempts made, this one included, without those lost to dead senders."""
        return self.attempt - self.expiries


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """The result of an attempt. *wait*: until the next one, while pending; *interrupted*: uses up no retry.

    *reached*: the addressees reached so far, this attempt included, one per line, if the channel reports
    them; *pause*: how long to send nothing at all through the channel.
    """

    team_id: int
    id: UUID
    attempt: int
    status: DeliveryStatus
    wait: timedelta | None = None
    interrupted: bool = False
    status_code: int | None = None
    latency_ms: int | None = None
    error: str | None = None
    note: str | None = None
    reached: str = ""
    pause: timedelta | None = None


async def insert(tx: Tx, deliveries: Sequence[NewDelivery], cause: str = "event") -> int:
    """Queue deliveries, due at once; skip those queued for the same cause before. Return the number added."""
    rows = await tx.fetch(
        """
        INSERT INTO deliveries
            (team_id, id, channel_id, stream_id, sequence, event_id, event_kind, cause, due_at, created_at)
        SELECT team_id, id, channel_id, stream_id, sequence, event_id, event_kind, $8, now(), now()
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::uuid[], $7::text[])
            AS given (team_id, id, channel_id, stream_id, sequence, event_id, event_kind)
        ON CONFLICT (team_id, event_id, channel_id, cause) DO NOTHING
        RETURNING id
        """,
        [delivery.team_id for delivery in deliveries],
        [delivery.id for delivery in deliveries],
        [delivery.channel_id for delivery in deliveries],
        [delivery.stream_id for delivery in deliveries],
        [delivery.sequence for delivery in deliveries],
        [delivery.event_id for delivery in deliveries],
        [delivery.event_kind for delivery in deliveries],
        cause,
    )
    if rows:
        queued(tx)
    return len(rows)


async def again(tx: Tx, team_id: int, delivery_id: UUID, new_id: UUID) -> bool:
    """Queue the same event for the same channel again, unless the old delivery is still being attempted."""
    made = await tx.fetchval(
        """
        INSERT INTO deliveries
            (team_id, id, channel_id, stream_id, sequence, event_id, event_kind, cause, due_at, created_at)
        SELECT team_id, $3, channel_id, stream_id, sequence, event_id, event_kind, 'redelivery ' || $3::uuid,
               now(), now()
        FROM deliveries WHERE team_id = $1 AND id = $2 AND status <> 0
        RETURNING id
        """,
        team_id,
        delivery_id,
        new_id,
    )
    if made is not None:
        queued(tx)
    return made is not None


# Walks from channel to channel rather than along due times: one channel's backlog does not slow the others.
_WAITING = """
    waiting AS (
        (SELECT team_id, channel_id FROM deliveries WHERE status = 0
         ORDER BY team_id, channel_id, stream_id, sequence LIMIT 1)
        UNION ALL
        SELECT next.team_id, next.channel_id FROM waiting CROSS JOIN LATERAL (
            SELECT d.team_id, d.channel_id FROM deliveries d
            WHERE d.status = 0 AND (d.team_id, d.channel_id) > (waiting.team_id, waiting.channel_id)
            ORDER BY d.team_id, d.channel_id, d.stream_id, d.sequence LIMIT 1
        ) AS next
    )
"""

# Whether it blocks newer deliveries of its stream.
_BLOCKS = """
    {0}.cause NOT LIKE 'redelivery%'
        AND {0}.attempt - {0}.expiries - CASE WHEN {0}.leased THEN 1 ELSE 0 END < $6
"""

# Statistics are wrong whenever it matters: none are made before a storm, or they know delivered rows alone.
# The planner then reads all that waits, to sort or to join it. Without sorts and joins of whole sets, the
# index in the right order is the only way left.
_WALK = "; ".join(
    f"SET LOCAL enable_{way} = off"
    for way in ("sort", "incremental_sort", "hashjoin", "mergejoin", "seqscan")
)

# The first due deliveries of a channel, each checked separately. The OFFSET keeps the planner from turning
# the subquery into a join, the ORDER from reading the whole channel.
_FIRST_DUE = f"""
    SELECT first.place FROM (
        SELECT d.ctid AS place, d.stream_id, d.sequence FROM deliveries d
        WHERE d.team_id = channel.team_id AND d.channel_id = channel.channel_id
          AND d.status = 0 AND d.due_at <= now()
        ORDER BY d.due_at LIMIT 32
    ) AS first
    WHERE NOT EXISTS (
        SELECT FROM deliveries older
        WHERE older.team_id = channel.team_id AND older.channel_id = channel.channel_id
          AND older.stream_id = first.stream_id AND older.sequence < first.sequence AND older.status = 0
          AND {_BLOCKS.format("older")}
        ORDER BY older.sequence OFFSET 0
    )
"""

# With more due deliveries, walk from stream to stream: a blocking delivery blocks the rest of its stream,
# which is skipped. The walk may return some of the first deliveries again.
_HEADS = f"""
    WITH RECURSIVE heads AS (
        (SELECT d.stream_id, d.sequence, d.ctid AS place, d.due_at, {_BLOCKS.format("d")} AS blocks
         FROM deliveries d
         WHERE d.team_id = channel.team_id AND d.channel_id = channel.channel_id AND d.status = 0
         ORDER BY d.team_id, d.channel_id, d.stream_id, d.sequence LIMIT 1)
        UNION ALL
        SELECT next.* FROM heads CROSS JOIN LATERAL (
            SELECT d.stream_id, d.sequence, d.ctid AS place, d.due_at, {_BLOCKS.format("d")}
            FROM deliveries d
            WHERE d.team_id = channel.team_id AND d.channel_id = channel.channel_id AND d.status = 0
              AND (d.stream_id, d.sequence)
                > (heads.stream_id, CASE WHEN heads.blocks THEN {2**63 - 1} ELSE heads.sequence END)
            ORDER BY d.team_id, d.channel_id, d.stream_id, d.sequence LIMIT 1
        ) AS next
    )
    SELECT heads.place FROM heads
    WHERE heads.due_at <= now() AND (
        SELECT true FROM deliveries f
        WHERE f.team_id = channel.team_id AND f.channel_id = channel.channel_id
          AND f.status = 0 AND f.due_at <= now()
        ORDER BY f.due_at OFFSET 32 LIMIT 1
    )
"""

# Lock each row by its ctid and check it again: with wrong statistics, a key lookup scans the whole team.
_OF_CHANNEL = f"""
    SELECT d.* FROM (({_FIRST_DUE}) UNION ALL ({_HEADS})) AS found
    CROSS JOIN LATERAL (
        SELECT d.ctid AS place, d.team_id, d.id, d.attempt, d.leased AS expired,
               d.leased AND (d.last OR d.expiries >= $5) AS over
        FROM deliveries d
        WHERE d.ctid = found.place AND d.status = 0 AND d.due_at <= now()
        FOR UPDATE OF d SKIP LOCKED
    ) AS d
    LIMIT greatest($2 - coalesce(busy.flying, 0), 0)
"""

_IS_MAIL = """
    (SELECT c.type = 'email' FROM channels c WHERE c.team_id = w.team_id AND c.id = w.channel_id)
"""

# Mails share one mail server's slots, so they are counted separately; no channel is preferred by its key.
_DUE = f"""
    WITH RECURSIVE {_WAITING}, busy AS (
        SELECT * FROM unnest($3::uuid[], $4::int[]) AS busy (channel_id, flying)
    ), found AS (
        (
            SELECT due.* FROM (
                SELECT * FROM waiting w WHERE w.team_id <> ALL ($7::int[]) AND {_IS_MAIL} IS NOT TRUE
            ) AS channel
            LEFT JOIN busy USING (channel_id)
            CROSS JOIN LATERAL ({_OF_CHANNEL}) AS due
            LIMIT $1
        ) UNION ALL (
            SELECT due.* FROM (
                SELECT * FROM waiting w WHERE w.team_id <> ALL ($7::int[]) AND {_IS_MAIL} ORDER BY random()
            ) AS channel
            LEFT JOIN busy USING (channel_id)
            CROSS JOIN LATERAL ({_OF_CHANNEL}) AS due
            LIMIT $8
        )
    )
"""

# In one statement with the search, which has locked the rows: each is updated where it was found.
_CLAIM = f"""
    {_DUE}, due AS MATERIALIZED (
        SELECT DISTINCT place, team_id, id, attempt, expired, over FROM found
    ), claimed AS (
        UPDATE deliveries d SET
            status = CASE WHEN due.over THEN 2 ELSE 0 END,
            attempt = d.attempt + CASE WHEN due.over THEN 0 ELSE 1 END,
            expiries = d.expiries + CASE WHEN due.expired AND NOT due.over THEN 1 ELSE 0 END,
            leased = NOT due.over,
            due_at = now() + make_interval(secs => coalesce((c.config ->> 'timeout')::int, 30)) + $9,
            finished_at = CASE WHEN due.over THEN now() END
        FROM due, channels c
        WHERE d.ctid = due.place AND c.team_id = d.team_id AND c.id = d.channel_id
        RETURNING d.*, c.name AS channel_name, c.type AS channel_type, c.enabled, c.config, c.secrets
    ), lost AS (
        UPDATE delivery_attempts a SET error = $10 FROM due
        WHERE due.expired AND a.team_id = due.team_id AND a.delivery_id = due.id AND a.attempt = due.attempt
    ), begun AS (
        INSERT INTO delivery_attempts (team_id, delivery_id, attempt, at)
        SELECT team_id, id, attempt, now() FROM claimed WHERE status = 0
    )
    SELECT d.team_id, d.id, d.status, d.attempt, d.expiries, d.reached, d.event_id, d.event_kind,
           d.stream_id, d.sequence, e.payload, e.incident_id,
           d.channel_id, d.channel_name, d.channel_type, d.enabled, d.config, d.secrets
    FROM claimed d JOIN events e USING (team_id, stream_id, sequence)
    ORDER BY d.created_at, d.stream_id, d.sequence
"""


async def walk(tx: Tx) -> None:
    """Call once in a transaction before `claim` and `next_due`, which then read in the order of an index."""
    await tx.execute(_WALK)


async def claim(
    tx: Tx,
    limit: int,
    per_channel: int,
    flying: Mapping[UUID, int],
    crowded: Sequence[int] = (),
    mails: int = 0,
) -> list[ClaimedDelivery]:
    """Lease due deliveries, up to *per_channel* per channel, including those already *flying*.

    *crowded*: teams of which none are taken; *mails*: how many mails are taken in addition to *limit*.
    """
    busy, counts = list(flying.keys()), list(flying.values())
    rows = await tx.fetch(
        _CLAIM,
        limit,
        per_channel,
        busy,
        counts,
        MAX_EXPIRIES,
        TRIES_IN_ORDER,
        list(crowded),
        mails,
        GRACE,
        LOST,
    )
    return [ClaimedDelivery(**row) for row in rows]


async def finish(tx: Tx, finishes: Sequence[AttemptOutcome]) -> dict[UUID, DeliveryStatus]:
    """Record how attempts ended; return the new status by id, for those whose lease was still valid.

    A delivery with no attempt left has failed. A channel with a successful attempt works again.
    """
    rows = await tx.fetch(
        """
        WITH done AS (
            SELECT * FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::smallint[], $5::interval[],
                                 $6::bool[], $7::smallint[], $8::int[], $9::text[], $10::text[], $11::text[])
                AS u (team_id, id, attempt, status, wait, interrupted, status_code, latency_ms, error, note,
                      reached)
        ), moved AS (
            UPDATE deliveries d SET
                status = CASE WHEN done.status = 0 AND d.last THEN 2 ELSE done.status END,
                leased = false, due_at = now() + coalesce(done.wait, interval '0'),
                expiries = d.expiries + CASE WHEN done.interrupted THEN 1 ELSE 0 END,
                finished_at = CASE WHEN done.status <> 0 OR d.last THEN now() END,
                reached = CASE WHEN done.reached = '' THEN d.reached ELSE done.reached END
            FROM done
            WHERE d.team_id = done.team_id AND d.id = done.id AND d.attempt = done.attempt AND d.leased
            RETURNING d.team_id, d.id, d.attempt, d.channel_id, d.status
        ), works AS (
            UPDATE channel_faults f SET works_since = now() FROM moved
            WHERE moved.status = 1 AND f.team_id = moved.team_id AND f.channel_id = moved.channel_id
              AND f.works_since IS NULL
        ), recorded AS (
            UPDATE delivery_attempts a
            SET status_code = done.status_code, latency_ms = done.latency_ms, error = done.error,
                note = done.note
            FROM done JOIN moved USING (team_id, id, attempt)
            WHERE a.team_id = done.team_id AND a.delivery_id = done.id AND a.attempt = done.attempt
        )
        SELECT id, status FROM moved
        """,
        [outcome.team_id for outcome in finishes],
        [outcome.id for outcome in finishes],
        [outcome.attempt for outcome in finishes],
        [outcome.status for outcome in finishes],
        [outcome.wait for outcome in finishes],
        [outcome.interrupted for outcome in finishes],
        [outcome.status_code for outcome in finishes],
        [outcome.latency_ms for outcome in finishes],
        [outcome.error for outcome in finishes],
        [outcome.note for outcome in finishes],
        [outcome.reached for outcome in finishes],
    )
    return {row["id"]: DeliveryStatus(row["status"]) for row in rows}


async def pause(tx: Tx, pauses: Mapping[tuple[int, UUID], timedelta]) -> None:
    """Postpone the waiting deliveries of these channels (by team and id), except those under way."""
    await tx.execute(
        """
        UPDATE deliveries d SET due_at = now() + put_off.wait
        FROM (
            SELECT w.team_id, w.id, given.wait
            FROM unnest($1::int[], $2::uuid[], $3::interval[]) AS given (team_id, channel_id, wait)
            JOIN deliveries w USING (team_id, channel_id)
            WHERE w.status = 0 AND NOT w.leased AND w.due_at < now() + given.wait
            ORDER BY w.id FOR UPDATE OF w SKIP LOCKED
        ) AS put_off
        WHERE d.team_id = put_off.team_id AND d.id = put_off.id
        """,
        [team_id for team_id, _ in pauses],
        [channel_id for _, channel_id in pauses],
        list(pauses.values()),
    )


async def next_due(tx: Tx) -> float | None:
    """Seconds until the next delivery falls due or a lease expires."""
    seconds: float | None = await tx.fetchval(
        f"""
        WITH RECURSIVE {_WAITING}
        SELECT extract(epoch FROM min(later.due_at) - clock_timestamp())::float8
        FROM waiting CROSS JOIN LATERAL (
            SELECT d.due_at FROM deliveries d
            WHERE d.team_id = waiting.team_id AND d.channel_id = waiting.channel_id
              AND d.status = 0 AND d.due_at > now()
            ORDER BY d.due_at LIMIT 1
        ) AS later
        """
    )
    return seconds
