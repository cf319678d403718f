"""The demonstration's own SQL, where little has happened."""

from datetime import timedelta
from uuid import uuid4

from collector.demo import storage
from collector.notifications.storage import deliveries
from collector.platform.delivery import DeliveryStatus
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.evaluation.world import make_world
from tests.notifications.ground import make_channel
from tests.notifications.jobs.test_claiming import delivered, queued


async def test_it_knows_what_is_checked_and_its_own_probes_alone(db: Db) -> None:
    world = await make_world(db, monitors=2)

    async with db.transaction() as tx:
        checks = await storage.assigned(tx, world.team_id)
        before = await storage.demo_probes(tx, ["local"])
        await tx.execute("UPDATE probes SET boot_id = $1", storage.BOOT)
        after = await storage.demo_probes(tx, ["local"])

    assert [(check.place, check.probe_id, check.failing) for check in checks] == [
        ("local", world.probe_id, False)
    ] * 2
    assert before == []
    assert [(probe, place) for _, probe, place in after] == [(world.probe_id, "local")]


async def test_it_reads_outages_and_maintenance_of_its_team(db: Db) -> None:
    world = await make_world(db)
    began = utc_now().replace(microsecond=0) - timedelta(hours=1)

    async with db.transaction() as tx:
        [check] = await storage.assigned(tx, world.team_id)
        await tx.execute(
            "INSERT INTO outages (monitor, location, started_at) VALUES ($1, 0, $2)", check.monitor, began
        )
        outages = await storage.outages(tx, world.team_id)
        others = await storage.outages(tx, world.team_id + 1)
        spans = await storage.maintained(tx, world.team_id, [uuid4()])

    assert (outages, others, spans) == ([(check.monitor, 0, began, None)], [], [])


async def test_what_was_sent_is_dated_to_its_event_and_what_waits_is_not(db: Db) -> None:
    world = await make_world(db)
    channel = await make_channel(db, world.team_id, "http://127.0.0.1:9/")

    async with db.transaction() as tx:
        await queued(tx, world.team_id, [channel], streams=2, each=1)
        await delivered(tx, await deliveries.claim(tx, 1, 1, {}))
        await tx.execute("UPDATE events SET created_at = created_at - interval '10 days'")
        await storage.date_deliveries(tx, world.team_id)
        rows = await tx.fetch(
            """
            SELECT d.status, d.created_at = e.created_at AS dated,
                a.at < e.created_at + interval '1 minute' AS tried
            FROM deliveries d JOIN events e USING (team_id, stream_id, sequence)
                LEFT JOIN delivery_attempts a ON a.delivery_id = d.id
            ORDER BY d.status
            """
        )

    assert [tuple(row) for row in rows] == [
        (DeliveryStatus.PENDING, False, None),
        (DeliveryStatus.DELIVERED, True, True),
    ]
