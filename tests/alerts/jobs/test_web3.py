"""Rules over what Web3 monitors find: thresholds crossed, and what happened once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from collector.alerts.service import alerts, preview, rules
from collector.platform.storage.db import Db
from collector.status_pages.core.status_page import of_monitor
from collector.status_pages.storage import components
from collector.web3.jobs import Web3
from shared.findings import Finding
from tests.alerts.ground import DOWN, MINUTE, UP, Alerting, make_alerting
from tests.clocks import GivenClock
from tests.evaluation.world import writing
from tests.web3.ground import hash_of, log, of_chains, raised, recovered

FIRED, RECOVERED, ESCALATED = "alert.fired", "alert.recovered", "alert.escalated"
GAS = {
    "current": "251.3",
    "threshold": "200",
    "unit": "gwei",
    "message": "gas costs 251.3 gwei, high is 200 gwei",
}
TVL = {"current": "90.5", "threshold": "100", "unit": "ETH", "message": "90.5 is locked, least is 100"}
WHALE = {"type": "large_transfer", "current": "900", "threshold": "500", "message": "900 ETH left"}
SECOND = timedelta(seconds=1)


async def watched(db: Db, interval_s: int = 30) -> Alerting:
    """A Web3 monitor that was checked: nothing holds."""
    ground = await make_alerting(db)
    await of_chains(ground.world)
    await ground.world.run("UPDATE monitors SET interval_s = $1", interval_s)
    await ground.submit(UP)
    return ground


async def find(ground: Alerting, *findings: Finding, ahead: timedelta = timedelta()) -> None:
    """One good check that found these; a collector tells of it whose clock is *ahead* of the others'."""
    submission = ground.world.batch(UP, now=ground.now())
    batch = replace(submission.batch, found={0: findings}, state={0: b"{}"})
    await ground.alive()
    async with writing(ground.world, now=ground.now) as writer:
        await writer.submit(replace(submission, batch=batch))
    teller = Web3(ground.world.db, clock=GivenClock(lambda: ground.now() + ahead))
    while await teller.turn():
        pass


async def cross(ground: Alerting, key: str = "high_gas", data: dict[str, Any] = GAS) -> None:
    await find(ground, raised(key, **data))
    await ground.settle()


async def come_back(ground: Alerting, key: str = "high_gas") -> None:
    await find(ground, recovered(key))
    await ground.settle()


async def happen(ground: Alerting, n: int = 0, **more: Any) -> None:
    await find(ground, log(f"t{n}", 100 + n, **more))
    await ground.settle()


async def mark(ground: Alerting) -> None:
    """Have rules look at it for no reason at all."""
    await ground.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")


async def test_a_crossed_threshold_is_told_in_words_and_its_end_too(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])

    await cross(ground)
    await ground.wait(10 * MINUTE)
    assert await ground.sent() == [("chat", FIRED)]
    [payload] = await ground.payloads(FIRED)
    assert payload["alert"]["message"] == "high_gas: gas costs 251.3 gwei, high is 200 gwei"
    [alert] = await ground.alerts()
    assert (alert["reason"], alert["value"], alert["threshold"]) == ("high_gas", 251.3, 200)
    assert alert["incident_id"] is None

    await come_back(ground)
    assert await ground.sent() == [("chat", FIRED), ("chat", RECOVERED)]


@pytest.mark.parametrize(
    ("conditions", "fires"),
    [
        ({}, True),
        ({"consecutiveFailures": 3}, True),
        ({"consecutiveFailures": 3, "locations": "any"}, True),
        ({"consecutiveFailures": 3, "latencyThresholdMs": 100}, False),
        ({"latencyThresholdMs": 100}, False),
        ({"errorRatePercent": 50}, False),
        ({"availability": 90}, False),
    ],
)
async def test_only_rules_that_ask_for_nothing_but_failures_go_by_it(
    db: Db, conditions: dict[str, Any], *, fires: bool
) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")], conditions=conditions)

    await cross(ground)
    await come_back(ground)

    assert await ground.sent() == ([("chat", FIRED), ("chat", RECOVERED)] if fires else [])


async def test_a_webhook_hears_of_it_from_the_monitor_alone_but_of_the_escalation(db: Db) -> None:
    ground = await watched(db)
    hook, boss = await ground.channel("hook", "webhook"), await ground.channel("boss", "webhook")
    policy = {"delayMinutes": 5, "escalateToChannels": [boss]}
    await ground.rule(channels=[hook], escalationPolicy=policy)

    await cross(ground)
    await ground.wait(6 * MINUTE)
    [escalated] = await ground.payloads(ESCALATED)
    assert escalated["alert"]["message"].startswith("high_gas: ")
    await come_back(ground)

    by_rules = [one for one in await ground.sent() if not one[1].startswith("web3.")]
    assert by_rules == [("boss", ESCALATED), ("boss", RECOVERED)]


async def test_another_threshold_is_told_of_and_the_alert_is_over_when_none_is_crossed(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])

    await cross(ground)
    await ground.wait(SECOND)
    await cross(ground, "low_tvl", TVL)
    assert await ground.sent() == [("chat", FIRED), ("chat", FIRED)]
    words = [payload["alert"]["message"] for payload in await ground.payloads(FIRED)]
    assert words[1] == f"low_tvl: {TVL['message']}; high_gas: {GAS['message']}"
    await come_back(ground, "low_tvl")
    await ground.wait(MINUTE)
    assert len(await ground.sent()) == 2

    await come_back(ground)
    assert [alert["status"] for alert in await ground.alerts()] == ["recovered"]
    assert (await ground.sent())[2:] == [("chat", RECOVERED)]


async def test_who_took_on_one_threshold_hears_of_another(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")], repeatMinutes=1)
    await cross(ground)
    [alert] = await ground.alerts()
    await alerts.acknowledge(db, ground.who, alert["id"], ground.now())
    await ground.wait(5 * MINUTE)
    assert len(await ground.sent()) == 1

    await cross(ground, "low_tvl", TVL)

    assert len(await ground.sent()) == 2
    [alert] = await ground.alerts()
    assert (alert["status"], alert["reason"], alert["acknowledged_by"]) == ("firing", "low_tvl", None)


async def test_reminders_go_on_with_what_is_crossed_now(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")], repeatMinutes=5)
    await cross(ground)
    await ground.wait(6 * MINUTE)
    first, again = await ground.payloads(FIRED)
    assert first["alert"]["message"] == again["alert"]["message"]


async def test_what_happened_once_is_over_after_a_while(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])

    await happen(ground)
    [payload] = await ground.payloads(FIRED)
    assert payload["alert"]["reason"] == "event"
    text = f"event: Paid(amount: 5) in transaction {hash_of('t0')}"
    assert payload["alert"]["message"] == text
    await ground.wait(MINUTE)
    await happen(ground, 1)
    await ground.wait(timedelta(seconds=100))
    assert await ground.sent() == [("chat", FIRED)]
    await ground.wait(timedelta(seconds=25))
    assert await ground.sent() == [("chat", FIRED), ("chat", RECOVERED)]

    await ground.wait(MINUTE)
    await mark(ground)
    await ground.settle()
    assert len(await ground.sent()) == 2
    await happen(ground, 2)
    assert (await ground.sent())[2:] == [("chat", FIRED)]


async def test_what_was_told_while_the_alert_before_it_ended_is_not_lost(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await ground.world.run("UPDATE rules SET updated_at = updated_at - interval '1 day'")
    await happen(ground)
    await ground.wait(3 * MINUTE)
    assert [kind for _, kind in await ground.sent()] == [FIRED, RECOVERED]

    await find(ground, log("t1", 101), ahead=-2 * SECOND)
    await ground.settle()
    assert [kind for _, kind in await ground.sent()] == [FIRED, RECOVERED, FIRED]


async def test_an_interval_that_is_long_keeps_it_open_for_two_of_them(db: Db) -> None:
    ground = await watched(db, interval_s=300)
    await ground.rule(channels=[await ground.channel("chat")])
    await happen(ground, alert=WHALE)
    [alert] = await ground.alerts()
    assert (alert["reason"], alert["value"], alert["threshold"]) == ("large_transfer", 900, 500)
    await ground.wait(9 * MINUTE)
    assert len(await ground.sent()) == 1
    await ground.wait(2 * MINUTE)
    assert len(await ground.sent()) == 2


async def test_what_was_told_while_no_evaluator_ran_is_told_when_one_does(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await ground.world.run("UPDATE rules SET updated_at = updated_at - interval '1 day'")
    ground.ahead -= 20 * MINUTE
    await find(ground, log("t0", 100))

    await ground.wait(20 * MINUTE)
    await ground.settle()

    assert await ground.sent() == [("chat", FIRED), ("chat", RECOVERED)]


async def test_a_new_rule_hears_of_what_is_crossed_and_not_of_what_happened_before(db: Db) -> None:
    ground = await watched(db)
    await cross(ground)
    await happen(ground)
    await ground.wait(SECOND)

    await ground.rule(channels=[await ground.channel("chat")])
    await ground.settle()

    [payload] = await ground.payloads(FIRED)
    assert payload["alert"]["message"] == f"high_gas: {GAS['message']}"


@pytest.mark.oldest
async def test_what_was_resolved_by_hand_stays_so_for_a_while_and_new_trouble_does_not(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await happen(ground)
    [alert] = await ground.alerts()
    await ground.wait(SECOND)
    await alerts.resolve(db, ground.who, alert["id"], ground.now())
    await mark(ground)
    await ground.wait(11 * MINUTE)
    assert [kind for _, kind in await ground.sent()] == [FIRED, RECOVERED]

    await happen(ground, 1)
    assert [kind for _, kind in await ground.sent()] == [FIRED, RECOVERED, FIRED]


async def test_an_outage_on_top_of_it_is_told_and_so_is_what_is_left_of_it(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await cross(ground)
    await ground.submit(DOWN, DOWN, DOWN)
    await ground.settle()
    assert [payload["alert"]["reason"] for payload in await ground.payloads(FIRED)] == ["high_gas", "down"]

    await ground.submit(UP)
    await ground.settle()
    assert [payload["alert"]["reason"] for payload in await ground.payloads(FIRED)][2:] == ["high_gas"]
    await come_back(ground)
    assert [kind for _, kind in await ground.sent()] == [FIRED, FIRED, FIRED, RECOVERED]


async def test_what_happened_before_an_outage_does_not_outlast_it(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await happen(ground)
    await ground.wait(10 * SECOND)
    await ground.submit(DOWN, DOWN, DOWN)
    await ground.settle()
    await ground.submit(UP)
    await ground.settle()

    assert [payload["alert"]["reason"] for payload in await ground.payloads(FIRED)] == ["event", "down"]
    assert [kind for _, kind in await ground.sent()] == [FIRED, FIRED, RECOVERED]


async def test_a_rule_that_asks_for_something_else_now_lets_go_of_it(db: Db) -> None:
    ground = await watched(db)
    rule = await ground.rule(channels=[await ground.channel("chat")])
    await cross(ground)
    change = {"conditions": {"latencyThresholdMs": 5_000}}
    await rules.update(db, ground.who, rule, change, ground.now())
    await ground.settle()
    assert [kind for _, kind in await ground.sent()] == [FIRED, RECOVERED]


async def test_reminders_and_escalation_are_held_by_a_silence(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")], repeatMinutes=5)
    await cross(ground)
    await ground.world.run("UPDATE monitors SET silenced_until = $1", ground.now() + 20 * MINUTE)
    await ground.wait(15 * MINUTE)
    assert len(await ground.sent()) == 1
    await ground.wait(6 * MINUTE)
    assert len(await ground.sent()) == 2


async def test_another_team_s_findings_fire_nobody_s_rules(db: Db) -> None:
    ground = await watched(db)
    other = await make_alerting(db, locations=("afar",))
    await other.rule(channels=[await other.channel("chat")])
    await cross(ground)
    assert await ground.alerts() == []


async def test_it_is_told_once_though_the_clock_of_who_told_first_is_ahead(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await find(ground, raised(**GAS), ahead=2 * SECOND)
    await ground.settle()
    await mark(ground)
    await ground.settle()
    assert await ground.sent() == [("chat", FIRED)]


async def test_a_preview_claims_nothing_of_it_and_says_so(db: Db) -> None:
    ground = await watched(db)
    await cross(ground)
    found = await preview.preview(db, ground.world.team_id, {"conditions": {}}, ground.now())
    assert found.alerts == []
    assert found.warnings == ["what Web3 monitors found is left out"]


async def test_a_status_page_shows_the_monitor_s_own_state(db: Db) -> None:
    ground = await watched(db)
    await ground.rule(channels=[await ground.channel("chat")])
    await cross(ground)
    assert len(await ground.alerts()) == 1

    async with db.connection() as tx:
        known = await components.health(tx, ground.world.team_id, [ground.monitor_id], ground.now())
    assert of_monitor(known[ground.monitor_id]) == "operational"
