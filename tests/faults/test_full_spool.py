"""The disk of a probe's spool and the memory beside it are full: the oldest go, and each is accounted for."""

import pytest
from structlog.testing import capture_logs

from collector.evaluation.writer import Submission
from collector.platform.storage.db import Db
from probe.spool.spool import MIB, Spool
from shared.results import Status
from shared.wire.convert import decode, encode
from tests.evaluation.world import World, make_world, writing
from tests.faults.small_disk import fill, small_disk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

MONITORS = 500
BATCHES = 600
IN_FLIGHT = 4


async def test_what_is_dropped_is_what_is_reported_and_all_else_is_stored(db: Db) -> None:
    world = await make_world(db, monitors=MONITORS)
    with small_disk(3) as directory:
        home = directory / "var" / "spool"
        spool = Spool(home, segment_bytes=MIB // 4, memory_bytes=MIB)
        keys = sorted(world.assignments)
        for _ in range(BATCHES):
            batch = world.batch_of(keys, [Status.UP] * len(keys)).batch
            spool.append(batch.incarnation, batch.seq, len(keys), encode(batch))
            await spool.turn()
        dropped = spool.results_lost
        assert 0 < dropped < BATCHES * MONITORS

        await _drain(world, spool)
        spool.close()
        reopened = Spool(home)
        assert reopened.unacked == 0
        reopened.close()

    stored = await world.value("SELECT count(*) FROM results")
    gaps = await world.fetch(
        "SELECT sum(results)::bigint AS results, array_agg(reason) AS reasons FROM result_gaps"
    )
    assert gaps[0]["results"] == dropped
    assert stored + dropped == BATCHES * MONITORS
    assert await world.value("SELECT last_seq FROM probe_cursors") == BATCHES
    oldest = await world.value("SELECT min(first_seq) FROM result_gaps")
    assert oldest == 1


async def test_positions_that_the_disk_rejects_stop_neither_a_turn_nor_the_end(db: Db) -> None:
    world = await make_world(db)
    with small_disk(3) as directory:
        home = directory / "var" / "spool"
        spool = Spool(home)
        for _ in range(3):
            batch = world.batch(Status.UP).batch
            spool.append(batch.incarnation, batch.seq, 1, encode(batch))
        await spool.turn()
        filler = fill(directory / "var")
        with capture_logs() as logs:
            spool.acked(world.incarnation, 1)
            for _ in range(3):
                await spool.turn()
            spool.close()
        filler.unlink()

        assert [entry["event"] for entry in logs] == ["spool positions not saved"]
        spool = Spool(home)
        await _drain(world, spool)
        spool.close()
    assert await world.value("SELECT count(*) FROM results") == 3


async def _drain(world: World, spool: Spool) -> None:
    """As a session does: read, submit, acknowledge."""
    reader = spool.read_after(world.incarnation, 0)
    async with writing(world) as writer:
        while record := reader.next():
            batch = decode(record.data)
            assert await writer.submit(Submission(world.session, world.probe_id, batch, offset_us=0))
            spool.acked(world.incarnation, batch.seq)
    reader.close()
    # Acknowledged batches fill the disk: they make room for the positions, which the next turn writes.
    await spool.turn()
    await spool.turn()
