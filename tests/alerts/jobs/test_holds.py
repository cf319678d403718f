"""The table of holds, row by row, for what rules tell: openings, reminders, escalation, recovery."""

from datetime import timedelta

import pytest

from collector.alerts.service.followers import FOLLOWERS
from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.incidents.storage import monitor_incidents
from collector.monitors.service import ends
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from tests.alerts.ground import DOWN, MINUTE, UP, Alerting, make_alerting
from tests.clocks import GivenClock

FIRED, RECOVERED, ESCALATED = (
    ("chat", "alert.fired"),
    ("chat", "alert.recovered"),
    ("boss", "alert.escalated"),
)


async def ruled(db: Db, **fields: object) -> Alerting:
    """A rule that tells the chat, again every 5 minutes, and escalates to the boss after 7."""
    ground = await make_alerting(db)
    chat, boss = await ground.channel("chat"), await ground.channel("boss")
    policy = {"delayMinutes": 7, "escalateToChannels": [boss], "maxEscalations": 1}
    await ground.rule(channels=[chat], repeatMinutes=5, escalationPolicy=policy, **fields)
    return ground


async def go_down(ground: Alerting) -> None:
    await ground.submit(DOWN, DOWN, DOWN)
    await ground.settle()


async def go_up(ground: Alerting) -> None:
    await ground.submit(UP)
    await ground.settle()


async def silence(ground: Alerting, time: timedelta) -> None:
    await ground.world.run("UPDATE monitors SET silenced_until = $1", ground.now() + time)


async def test_nothing_held(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.wait(6 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED]
    await ground.wait(2 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED, ESCALATED]


async def test_silenced_holds_the_opening_and_its_end_tells_it(db: Db) -> None:
    ground = await ruled(db)
    await silence(ground, 30 * MINUTE)
    await go_down(ground)
    await ground.wait(20 * MINUTE)
    assert await ground.sent() == []

    await ground.wait(11 * MINUTE)
    assert await ground.sent() == [FIRED]
    await ground.wait(6 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED]  # the clock began with the first notice


async def test_silenced_after_the_opening_holds_reminders_and_escalation_but_not_the_end(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await silence(ground, 30 * MINUTE)
    await ground.wait(20 * MINUTE)
    assert await ground.sent() == [FIRED]

    await go_up(ground)
    assert await ground.sent() == [FIRED, RECOVERED]


async def test_an_outage_within_a_silence_is_told_to_nobody(db: Db) -> None:
    ground = await ruled(db)
    await silence(ground, 30 * MINUTE)
    await go_down(ground)
    await go_up(ground)
    await ground.wait(40 * MINUTE)
    assert await ground.sent() == []


async def test_silenced_holds_what_fires_for_other_reasons_too(db: Db) -> None:
    ground = await ruled(db, conditions={"consecutiveFailures": 1})
    await silence(ground, 30 * MINUTE)
    await ground.submit(DOWN)
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await ground.settle()
    assert [alert["status"] for alert in await ground.alerts()] == ["firing"]
    assert await ground.sent() == []

    await ground.submit(DOWN)
    await ground.world.run("UPDATE monitors SET silenced_until = NULL")
    await ground.wait(timedelta(seconds=6))
    assert await ground.sent() == [FIRED]


async def test_paused_holds_everything_and_resume_goes_on(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.world.run("UPDATE monitors SET paused_at = $1", ground.now())
    await ground.wait(20 * MINUTE)
    assert await ground.sent() == [FIRED]

    await ground.world.run("UPDATE monitors SET paused_at = NULL")
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await ground.settle()
    assert await ground.sent() == [FIRED, ESCALATED, FIRED]
    await go_up(ground)
    assert (await ground.sent())[-2:] == [("boss", "alert.recovered"), RECOVERED]


async def mark(ground: Alerting) -> None:
    """Have the rules look, as they do when something happened."""
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await ground.settle()


async def resume(ground: Alerting) -> None:
    """As somebody's pause ends, whose time is no downtime of the incident."""
    world = ground.world
    async with world.db.transaction() as tx:
        paused_at = ground.now() - MINUTE
        await monitor_incidents.leave_out(tx, world.team_id, ground.monitor_id, paused_at, ground.now())
    await mark(ground)


async def test_a_resume_over_the_same_incident_is_no_reopening(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.wait(MINUTE)
    await resume(ground)
    assert await ground.sent() == [FIRED]
    await ground.wait(4 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED]  # as it was due


@pytest.mark.oldest
async def test_who_has_taken_it_on_is_not_told_again_after_a_pause(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.world.run("UPDATE incidents SET status = 'acknowledged', acknowledged_at = $1", ground.now())
    await mark(ground)
    await ground.wait(2 * MINUTE)
    await resume(ground)
    await ground.wait(20 * MINUTE)
    assert await ground.sent() == [FIRED]
    assert [alert["status"] for alert in await ground.alerts()] == ["acknowledged"]


async def test_maintenance_holds_the_opening_and_its_end_tells_it(db: Db) -> None:
    ground = await ruled(db, conditions={"consecutiveFailures": 2})
    until = ground.now() + 30 * MINUTE
    await ground.world.run(
        """
        INSERT INTO maintenance_spans (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        SELECT team_id, gen_random_uuid(), $1, $2, true, '{}', '{}', '{}' FROM teams
        """,
        ground.now() - MINUTE,
        until,
    )
    await ground.submit(DOWN, DOWN, DOWN)
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await ground.settle()
    assert await ground.alerts() == []

    await ground.wait(31 * MINUTE)
    await go_down(ground)
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await ground.settle()
    assert await ground.sent() == [FIRED]


async def test_acknowledged_stops_reminders_and_escalation_but_not_the_end(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.world.run("UPDATE incidents SET status = 'acknowledged', acknowledged_at = $1", ground.now())
    await ground.wait(30 * MINUTE)
    assert await ground.sent() == [FIRED]
    await go_up(ground)
    assert await ground.sent() == [FIRED, RECOVERED]


async def test_resolved_by_hand_stops_it_and_the_reopening_starts_afresh(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.wait(2 * MINUTE)
    await ground.world.run(
        "UPDATE incidents SET status = 'resolved', resolved_at = $1, resolved_by = '{\"id\": \"usr_1\"}'",
        ground.now(),
    )
    await ground.wait(8 * MINUTE)
    assert await ground.sent() == [FIRED]

    ground.ahead += 3 * MINUTE
    await ground.alive()
    await IncidentReopener(db, clock=GivenClock(ground.now)).turn()
    await ground.settle()
    assert await ground.sent() == [FIRED, FIRED]
    await ground.wait(6 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED, FIRED]
    await ground.wait(2 * MINUTE)
    assert await ground.sent() == [FIRED, FIRED, FIRED, ESCALATED]
    await go_up(ground)
    assert (await ground.sent())[-1] == RECOVERED


async def test_resolved_by_hand_the_end_is_told_when_the_target_recovers(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.world.run(
        "UPDATE incidents SET status = 'resolved', resolved_at = $1, resolved_by = '{\"id\": \"usr_1\"}'",
        ground.now(),
    )
    await go_up(ground)
    assert await ground.sent() == [FIRED, RECOVERED]


async def test_without_voters_nothing_changes_and_reminders_go_on(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    ground.ahead += 6 * MINUTE  # and no probe was heard of since
    await ground.turns()
    await ground.turns()
    assert await ground.sent() == [FIRED, FIRED]


async def test_flapping_holds_reminders_and_the_end(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ground.world.run("UPDATE monitors SET flapping_since = $1, flapping_told = true", ground.now())
    await go_up(ground)
    await ground.wait(6 * MINUTE)
    assert await ground.sent() == [FIRED]


async def test_a_child_of_one_that_is_down_tells_nothing_until_the_parent_is_up(db: Db) -> None:
    ground = await make_alerting(db, monitors=2)
    parent, child = ground.world.monitors
    await ground.world.run(
        "UPDATE monitors SET depends_on = ARRAY[$2::uuid] WHERE monitor = $1", child, ground.world.ids[parent]
    )
    await ground.rule(channels=[await ground.channel("chat")])
    await ground.submit(DOWN, DOWN, DOWN, monitor=parent)
    await ground.submit(DOWN, DOWN, DOWN, monitor=child)
    await ground.settle()
    assert [alert["monitor_id"] for alert in await ground.alerts()] == [ground.world.ids[parent]]

    await ground.submit(UP, monitor=parent)
    await ground.submit(DOWN, monitor=child)
    await ground.settle()
    assert {alert["monitor_id"] for alert in await ground.alerts()} == set(ground.world.ids.values())


@pytest.mark.oldest
async def test_a_monitor_that_is_deleted_is_over_for_those_who_were_told(db: Db) -> None:
    ground = await ruled(db)
    await go_down(ground)
    await ends.delete(db, Signals(db), FOLLOWERS, ground.world.team_id, ground.monitor_id, ground.now())
    await ground.settle()
    assert (await ground.sent())[-1] == RECOVERED
    [payload] = await ground.payloads("alert.recovered")
    assert payload["monitor"]["status"] == "deleted"
    assert [alert["status"] for alert in await ground.alerts()] == ["recovered"]
