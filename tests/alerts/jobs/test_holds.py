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
    alerting = await make_alerting(db)
    chat, boss = await alerting.channel("chat"), await alerting.channel("boss")
    policy = {"delayMinutes": 7, "escalateToChannels": [boss], "maxEscalations": 1}
    await alerting.rule(channels=[chat], repeatMinutes=5, escalationPolicy=policy, **fields)
    return alerting


async def go_down(alerting: Alerting) -> None:
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.settle()


async def go_up(alerting: Alerting) -> None:
    await alerting.submit(UP)
    await alerting.settle()


async def silence(alerting: Alerting, time: timedelta) -> None:
    await alerting.world.run("UPDATE monitors SET silenced_until = $1", alerting.now() + time)


async def test_nothing_held(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.wait(6 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED]
    await alerting.wait(2 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED, ESCALATED]


async def test_silenced_holds_the_opening_and_its_end_tells_it(db: Db) -> None:
    alerting = await ruled(db)
    await silence(alerting, 30 * MINUTE)
    await go_down(alerting)
    await alerting.wait(20 * MINUTE)
    assert await alerting.sent() == []

    await alerting.wait(11 * MINUTE)
    assert await alerting.sent() == [FIRED]
    await alerting.wait(6 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED]  # the clock began with the first notice


async def test_silenced_after_the_opening_holds_reminders_and_escalation_but_not_the_end(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await silence(alerting, 30 * MINUTE)
    await alerting.wait(20 * MINUTE)
    assert await alerting.sent() == [FIRED]

    await go_up(alerting)
    assert await alerting.sent() == [FIRED, RECOVERED]


async def test_a_snooze_holds_reminders_and_escalation_until_it_ends_by_itself(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run("UPDATE incidents SET snoozed_until = $1", alerting.now() + 30 * MINUTE)
    await alerting.wait(29 * MINUTE)
    assert await alerting.sent() == [FIRED]

    await alerting.wait(2 * MINUTE)
    assert sorted(await alerting.sent()) == sorted([FIRED, ESCALATED, FIRED])


async def test_a_snooze_holds_nothing_of_a_recovery(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run("UPDATE incidents SET snoozed_until = $1", alerting.now() + 30 * MINUTE)

    await go_up(alerting)

    assert await alerting.sent() == [FIRED, RECOVERED]


async def test_an_outage_within_a_silence_is_told_to_nobody(db: Db) -> None:
    alerting = await ruled(db)
    await silence(alerting, 30 * MINUTE)
    await go_down(alerting)
    await go_up(alerting)
    await alerting.wait(40 * MINUTE)
    assert await alerting.sent() == []


async def test_silenced_holds_what_fires_for_other_reasons_too(db: Db) -> None:
    alerting = await ruled(db, conditions={"consecutiveFailures": 1})
    await silence(alerting, 30 * MINUTE)
    await alerting.submit(DOWN)
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await alerting.settle()
    assert [alert["status"] for alert in await alerting.alerts()] == ["firing"]
    assert await alerting.sent() == []

    await alerting.submit(DOWN)
    await alerting.world.run("UPDATE monitors SET silenced_until = NULL")
    await alerting.wait(timedelta(seconds=6))
    assert await alerting.sent() == [FIRED]


async def test_paused_holds_everything_and_resume_goes_on(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run("UPDATE monitors SET paused_at = $1", alerting.now())
    await alerting.wait(20 * MINUTE)
    assert await alerting.sent() == [FIRED]

    await alerting.world.run("UPDATE monitors SET paused_at = NULL")
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await alerting.settle()
    assert await alerting.sent() == [FIRED, ESCALATED, FIRED]
    await go_up(alerting)
    assert (await alerting.sent())[-2:] == [("boss", "alert.recovered"), RECOVERED]


async def mark(alerting: Alerting) -> None:
    """Have the rules look, as they do when something happened."""
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await alerting.settle()


async def resume(alerting: Alerting) -> None:
    """As somebody's pause ends, whose time is no downtime of the incident."""
    world = alerting.world
    async with world.db.transaction() as tx:
        paused_at = alerting.now() - MINUTE
        await monitor_incidents.leave_out(tx, world.team_id, alerting.monitor_id, paused_at, alerting.now())
    await mark(alerting)


async def test_a_resume_over_the_same_incident_is_no_reopening(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.wait(MINUTE)
    await resume(alerting)
    assert await alerting.sent() == [FIRED]
    await alerting.wait(4 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED]  # as it was due


@pytest.mark.oldest
async def test_who_has_taken_it_on_is_not_told_again_after_a_pause(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run(
        "UPDATE incidents SET status = 'acknowledged', acknowledged_at = $1", alerting.now()
    )
    await mark(alerting)
    await alerting.wait(2 * MINUTE)
    await resume(alerting)
    await alerting.wait(20 * MINUTE)
    assert await alerting.sent() == [FIRED]
    assert [alert["status"] for alert in await alerting.alerts()] == ["acknowledged"]


async def test_maintenance_holds_the_opening_and_its_end_tells_it(db: Db) -> None:
    alerting = await ruled(db, conditions={"consecutiveFailures": 2})
    until = alerting.now() + 30 * MINUTE
    await alerting.world.run(
        """
        INSERT INTO maintenance_spans (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        SELECT team_id, gen_random_uuid(), $1, $2, true, '{}', '{}', '{}' FROM teams
        """,
        alerting.now() - MINUTE,
        until,
    )
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await alerting.settle()
    assert await alerting.alerts() == []

    await alerting.wait(31 * MINUTE)
    await go_down(alerting)
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")
    await alerting.settle()
    assert await alerting.sent() == [FIRED]


async def test_acknowledged_stops_reminders_and_escalation_but_not_the_end(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run(
        "UPDATE incidents SET status = 'acknowledged', acknowledged_at = $1", alerting.now()
    )
    await alerting.wait(30 * MINUTE)
    assert await alerting.sent() == [FIRED]
    await go_up(alerting)
    assert await alerting.sent() == [FIRED, RECOVERED]


async def test_resolved_by_hand_stops_it_and_the_reopening_starts_afresh(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.wait(2 * MINUTE)
    await alerting.world.run(
        "UPDATE incidents SET status = 'resolved', resolved_at = $1, resolved_by = '{\"id\": \"usr_1\"}'",
        alerting.now(),
    )
    await alerting.wait(8 * MINUTE)
    assert await alerting.sent() == [FIRED]

    alerting.ahead += 3 * MINUTE
    await alerting.alive()
    await IncidentReopener(db, clock=GivenClock(alerting.now)).turn()
    await alerting.settle()
    assert await alerting.sent() == [FIRED, FIRED]
    await alerting.wait(6 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED, FIRED]
    await alerting.wait(2 * MINUTE)
    assert await alerting.sent() == [FIRED, FIRED, FIRED, ESCALATED]
    await go_up(alerting)
    assert (await alerting.sent())[-1] == RECOVERED


async def test_resolved_by_hand_the_end_is_told_when_the_target_recovers(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run(
        "UPDATE incidents SET status = 'resolved', resolved_at = $1, resolved_by = '{\"id\": \"usr_1\"}'",
        alerting.now(),
    )
    await go_up(alerting)
    assert await alerting.sent() == [FIRED, RECOVERED]


async def test_without_voters_nothing_changes_and_reminders_go_on(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    alerting.ahead += 6 * MINUTE  # and no probe was heard of since
    await alerting.turns()
    await alerting.turns()
    assert await alerting.sent() == [FIRED, FIRED]


async def test_flapping_holds_reminders_and_the_end(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await alerting.world.run("UPDATE monitors SET flapping_since = $1, flapping_told = true", alerting.now())
    await go_up(alerting)
    await alerting.wait(6 * MINUTE)
    assert await alerting.sent() == [FIRED]


async def test_a_child_of_one_that_is_down_tells_nothing_until_the_parent_is_up(db: Db) -> None:
    alerting = await make_alerting(db, monitors=2)
    parent, child = alerting.world.monitors
    await alerting.world.run(
        "UPDATE monitors SET depends_on = ARRAY[$2::uuid] WHERE monitor = $1",
        child,
        alerting.world.ids[parent],
    )
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.submit(DOWN, DOWN, DOWN, monitor=parent)
    await alerting.submit(DOWN, DOWN, DOWN, monitor=child)
    await alerting.settle()
    assert [alert["monitor_id"] for alert in await alerting.alerts()] == [alerting.world.ids[parent]]

    await alerting.submit(UP, monitor=parent)
    await alerting.submit(DOWN, monitor=child)
    await alerting.settle()
    assert {alert["monitor_id"] for alert in await alerting.alerts()} == set(alerting.world.ids.values())


@pytest.mark.oldest
async def test_a_monitor_that_is_deleted_is_over_for_those_who_were_told(db: Db) -> None:
    alerting = await ruled(db)
    await go_down(alerting)
    await ends.delete(db, Signals(db), FOLLOWERS, alerting.world.team_id, alerting.monitor_id, alerting.now())
    await alerting.settle()
    assert (await alerting.sent())[-1] == RECOVERED
    [payload] = await alerting.payloads("alert.recovered")
    assert payload["monitor"]["status"] == "deleted"
    assert [alert["status"] for alert in await alerting.alerts()] == ["recovered"]
