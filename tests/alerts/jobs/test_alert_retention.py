"""Alerts go when they have been over for long, and not while somebody may still ask for them."""

from datetime import datetime, timedelta

from collector.ops.jobs.retention import KEEP_ALERTS, Retention
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.alerts.ground import DOWN, UP, Alerting, make_alerting

DAY = timedelta(days=1)


async def fired(db: Db) -> Alerting:
    """An alert that is over."""
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.settle()
    await alerting.submit(UP)
    await alerting.settle()
    return alerting


async def sweep(db: Db, now: datetime, keep: timedelta = 30 * DAY) -> None:
    """A round of them, as the one collector that there is now."""
    async with db.connection() as tx:
        await tx.execute("DELETE FROM leases")
    turns = Retention(db, keep=keep, keep_rollups=keep, now=lambda: now)
    while await turns.turn():
        pass


async def test_an_alert_goes_ninety_days_after_its_end_with_its_timers(db: Db) -> None:
    alerting = await fired(db)
    await sweep(db, utc_now() + KEEP_ALERTS - DAY)
    assert len(await alerting.alerts()) == 1
    await sweep(db, utc_now() + KEEP_ALERTS + DAY)
    assert await alerting.alerts() == []


async def test_where_results_are_kept_for_longer_alerts_are_too(db: Db) -> None:
    alerting = await fired(db)
    await sweep(db, utc_now() + KEEP_ALERTS + DAY, keep=200 * DAY)
    assert len(await alerting.alerts()) == 1


async def test_one_that_is_not_over_stays(db: Db) -> None:
    alerting = await fired(db)
    for kept in (
        "status = 'firing', recovered_at = NULL",
        "status = 'recovered', recovered_at = now(), due_at = now()",
    ):
        await alerting.world.run(f"UPDATE alerts SET {kept}")
        await sweep(db, utc_now() + 2 * KEEP_ALERTS)
    assert len(await alerting.alerts()) == 1


async def test_one_whose_incident_is_open_stays(db: Db) -> None:
    alerting = await fired(db)
    await alerting.world.run("UPDATE incidents SET status = 'open', resolved_at = NULL, resolved_by = NULL")
    await sweep(db, utc_now() + 2 * KEEP_ALERTS)
    assert len(await alerting.alerts()) == 1


async def test_a_backlog_goes_in_pieces(db: Db) -> None:
    alerting = await fired(db)
    await alerting.world.run(
        """
        INSERT INTO alerts (team_id, id, rule_id, rule_name, monitor_id, monitor_name, status, reason,
                            fired_at, recovered_at)
        SELECT team_id, gen_random_uuid(), rule_id, rule_name, monitor_id, monitor_name, 'recovered', 'down',
               fired_at, recovered_at
        FROM alerts, generate_series(1, 4500)
        """
    )
    left = []
    turns = Retention(db, keep=30 * DAY, keep_rollups=30 * DAY, now=lambda: utc_now() + 2 * KEEP_ALERTS)
    more = True
    while more:
        more = await turns.turn()
        left.append(len(await alerting.alerts()))
    assert sorted(set(left), reverse=True) == [4501, 2501, 501, 0]
