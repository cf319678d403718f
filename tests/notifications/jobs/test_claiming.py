"""Which deliveries a sender takes: what may go in its order, at a cost that a long stream does not raise."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

import pytest

from collector.events.storage import events
from collector.notifications.core.retry import MAX_EXPIRIES, TRIES_IN_ORDER
from collector.notifications.storage import deliveries as table
from collector.platform.delivery import DeliveryStatus
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.clock import utc_now
from tests.events.payloads import payload_of
from tests.notifications.ground import make_any, make_channel, make_team

MOST = 10_000


@dataclass(frozen=True, slots=True)
class Waits:
    """A delivery that waits; *due*: its time has come, or its lease ran out."""

    id: UUID
    channel: UUID
    stream: UUID
    sequence: int
    due: bool
    attempt: int = 0
    leased: bool = False
    cause: str = "event"

    @property
    def blocks(self) -> bool:
        return self.cause == "event" and self.attempt - self.leased < TRIES_IN_ORDER


def allowed(waiting: Sequence[Waits]) -> set[UUID]:
    """Those that are due and behind nothing that blocks their stream."""
    ids: set[UUID] = set()
    by_stream = sorted(waiting, key=lambda one: (one.channel, one.stream, one.sequence))
    for _, stream in groupby(by_stream, key=lambda one: (one.channel, one.stream)):
        for one in stream:
            ids |= {one.id} if one.due else set()
            if one.blocks:
                break
    return ids


def some(chance: random.Random, channels: Sequence[UUID]) -> list[Waits]:
    """Few long streams, or many short ones."""
    streams, length = chance.choice([(2, 60), (12, 8), (60, 2)])
    return [
        Waits(
            ids.uuid7(),
            channel,
            stream,
            sequence,
            due=chance.random() < 0.8,
            attempt=chance.choice([1, 1, 3, 4, 5, 6]) if leased else chance.choice([0, 0, 1, 3, 4, 5]),
            leased=leased,
            cause=chance.choice(["event"] * 5 + [f"redelivery {sequence}"]),
        )
        for channel in channels
        for stream in [ids.uuid7() for _ in range(streams)]
        for sequence in range(1, chance.randint(1, length) + 1)
        for leased in [chance.random() < 0.2]
    ]


async def put(tx: Tx, team: int, waiting: Sequence[Waits]) -> None:
    await tx.executemany(
        """
        INSERT INTO deliveries (team_id, id, channel_id, stream_id, sequence, event_id, event_kind, cause,
                                attempt, leased, due_at, created_at)
        VALUES ($1, $2, $3, $4, $5, gen_random_uuid(), 'monitor.down', $6, $7, $8,
                now() + CASE WHEN $9 THEN interval '-1 s' ELSE interval '1 h' END, now())
        """,
        [
            (team, one.id, one.channel, one.stream, one.sequence, one.cause, one.attempt, one.leased, one.due)
            for one in waiting
        ],
    )


async def due(tx: Tx, each: int = MOST) -> list[Any]:
    search = f"{table._DUE} SELECT * FROM found"
    await tx.execute(table._WALK)
    rows = await tx.fetch(search, MOST, each, [], [], MAX_EXPIRIES, TRIES_IN_ORDER, [], MOST)
    return list(rows)


@pytest.mark.parametrize("analyzed", [False, True])
async def test_what_is_due_and_behind_nothing_is_taken_and_nothing_else(db: Db, *, analyzed: bool) -> None:
    team, chance = await make_team(db), random.Random(12)
    channels = [await make_channel(db, team, "http://127.0.0.1:9/"), await make_any(db, team, "email")]
    for _ in range(15):
        waiting = some(chance, channels)
        async with db.transaction() as tx:
            await put(tx, team, waiting)
            if analyzed:
                await tx.execute("ANALYZE deliveries")
            taken = {row["id"] for row in await due(tx)}
            await tx.execute("DELETE FROM deliveries")
        assert taken == allowed(waiting)


async def queued(tx: Tx, team: int, channels: Sequence[UUID], streams: int, each: int) -> None:
    """Deliveries to every channel of as many events in as many streams, due at once."""
    payload = {"event": "monitor.down", "monitor": {"name": "api"}}
    facts = [
        events.Event(team, stream, "monitor.down", payload_of(payload))
        for stream in [ids.uuid7() for _ in range(streams)]
        for _ in range(each)
    ]
    await events.append_all(tx, facts, utc_now())
    rows = await tx.fetch("SELECT stream_id, sequence, id FROM events WHERE team_id = $1", team)
    new = [
        table.NewDelivery(
            team, ids.uuid7(), channel, row["stream_id"], row["sequence"], row["id"], "monitor.down"
        )
        for row in rows
        for channel in channels
    ]
    await table.insert(tx, new)


async def delivered(tx: Tx, claimed: Sequence[table.ClaimedDelivery]) -> None:
    await table.finish(
        tx,
        [
            table.AttemptOutcome(delivery.team_id, delivery.id, delivery.attempt, DeliveryStatus.DELIVERED)
            for delivery in claimed
        ],
    )


@pytest.mark.parametrize("statistics", ["none", "of few delivered", "fresh"])
@pytest.mark.parametrize(("channels", "streams", "each"), [(1, 1, 3_000), (1, 3_000, 1), (5, 600, 1)])
async def test_a_claim_reads_in_proportion_to_what_it_takes(
    db: Db, statistics: str, channels: int, streams: int, each: int
) -> None:
    before, team = await make_team(db), await make_team(db)
    to = [await make_channel(db, team, "http://127.0.0.1:9/") for _ in range(channels)]
    async with db.transaction() as tx:
        if statistics == "of few delivered":
            await queued(tx, before, [await make_channel(db, before, "http://127.0.0.1:9/")], 100, 1)
            await delivered(tx, await table.claim(tx, MOST, MOST, {}))
            await tx.execute("ANALYZE")
        await queued(tx, team, to, streams, each)
        if statistics == "fresh":
            await tx.execute("ANALYZE")
    for _ in range(3):
        async with db.transaction() as tx:
            so_far = await blocks(tx)
            await table.walk(tx)
            claimed = await table.claim(tx, MOST, 8, {})
            await delivered(tx, claimed)
            await table.next_due(tx)
            assert len(claimed) == channels * min(8, streams)
            # Some for looking at the first of each channel; then two row versions and their index entries.
            assert await blocks(tx) - so_far < 400 * channels + 60 * len(claimed)


async def blocks(tx: Tx) -> int:
    """How many blocks of deliveries and its indexes this transaction has read so far."""
    count: int = await tx.fetchval(
        """
        SELECT sum(pg_stat_get_xact_blocks_fetched(part)) FROM (
            SELECT 'deliveries'::regclass::oid UNION ALL
            SELECT indexrelid FROM pg_index WHERE indrelid = 'deliveries'::regclass
        ) AS parts (part)
        """
    )
    return count


@pytest.mark.parametrize("length", [100, 3_000])
async def test_a_long_stream_is_not_read_through(db: Db, length: int) -> None:
    team, stream = await make_team(db), ids.uuid7()
    channel = await make_channel(db, team, "http://127.0.0.1:9/")
    waiting = [Waits(ids.uuid7(), channel, stream, number, due=True) for number in range(length)]
    async with db.transaction() as tx:
        await put(tx, team, waiting)
        await tx.execute("ANALYZE deliveries")
        before = await read(tx)
        assert {row["id"] for row in await due(tx, 8)} == {waiting[0].id}
        assert await read(tx) - before < 150


async def read(tx: Tx) -> int:
    """How many deliveries this transaction has read so far."""
    count: int = await tx.fetchval(
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'"
    )
    return count
