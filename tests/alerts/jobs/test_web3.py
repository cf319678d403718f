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
    alerting = await make_alerting(db)
    await of_chains(alerting.world)
    await alerting.world.run("UPDATE monitors SET interval_s = $1", interval_s)
    await alerting.submit(UP)
    return alerting


async def find(alerting: Alerting, *findings: Finding, ahead: timedelta = timedelta()) -> None:
    """One good check that found these; a collector tells of it whose clock is *ahead* of the others'."""
    submission = alerting.world.batch(UP, now=alerting.now())
    batch = replace(submission.batch, found={0: findings}, state={0: b"{}"})
    await alerting.alive()
    async with writing(alerting.world, now=alerting.now) as writer:
        await writer.submit(replace(submission, batch=batch))
    teller = Web3(alerting.world.db, clock=GivenClock(lambda: alerting.now() + ahead))
    while await teller.turn():
        pass


async def cross(alerting: Alerting, key: str = "high_gas", data: dict[str, Any] = GAS) -> None:
    await find(alerting, raised(key, **data))
    await alerting.settle()


async def come_back(alerting: Alerting, key: str = "high_gas") -> None:
    await find(alerting, recovered(key))
    await alerting.settle()


async def happen(alerting: Alerting, n: int = 0, **more: Any) -> None:
    await find(alerting, log(f"t{n}", 100 + n, **more))
    await alerting.settle()


async def mark(alerting: Alerting) -> None:
    """Have rules look at it for no reason at all."""
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")


async def test_a_crossed_threshold_is_told_in_words_and_its_end_too(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])

    await cross(alerting)
    await alerting.wait(10 * MINUTE)
    assert await alerting.sent() == [("chat", FIRED)]
    [payload] = await alerting.payloads(FIRED)
    assert payload["alert"]["message"] == "high_gas: gas costs 251.3 gwei, high is 200 gwei"
    [alert] = await alerting.alerts()
    assert (alert["reason"], alert["value"], alert["threshold"]) == ("high_gas", 251.3, 200)
    assert alert["incident_id"] is None

    await come_back(alerting)
    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]


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
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")], conditions=conditions)

    await cross(alerting)
    await come_back(alerting)

    assert await alerting.sent() == ([("chat", FIRED), ("chat", RECOVERED)] if fires else [])


async def test_a_webhook_hears_of_it_from_the_monitor_alone_but_of_the_escalation(db: Db) -> None:
    alerting = await watched(db)
    hook, boss = await alerting.channel("hook", "webhook"), await alerting.channel("boss", "webhook")
    policy = {"delayMinutes": 5, "escalateToChannels": [boss]}
    await alerting.rule(channels=[hook], escalationPolicy=policy)

    await cross(alerting)
    await alerting.wait(6 * MINUTE)
    [escalated] = await alerting.payloads(ESCALATED)
    assert escalated["alert"]["message"].startswith("high_gas: ")
    await come_back(alerting)

    by_rules = [one for one in await alerting.sent() if not one[1].startswith("web3.")]
    assert by_rules == [("boss", ESCALATED), ("boss", RECOVERED)]


async def test_another_threshold_is_told_of_and_the_alert_is_over_when_none_is_crossed(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])

    await cross(alerting)
    await alerting.wait(SECOND)
    await cross(alerting, "low_tvl", TVL)
    assert await alerting.sent() == [("chat", FIRED), ("chat", FIRED)]
    words = [payload["alert"]["message"] for payload in await alerting.payloads(FIRED)]
    assert words[1] == f"low_tvl: {TVL['message']}; high_gas: {GAS['message']}"
    await come_back(alerting, "low_tvl")
    await alerting.wait(MINUTE)
    assert len(await alerting.sent()) == 2

    await come_back(alerting)
    assert [alert["status"] for alert in await alerting.alerts()] == ["recovered"]
    assert (await alerting.sent())[2:] == [("chat", RECOVERED)]


async def test_who_took_on_one_threshold_hears_of_another(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")], repeatMinutes=1)
    await cross(alerting)
    [alert] = await alerting.alerts()
    await alerts.acknowledge(db, alerting.who, alert["id"], alerting.now())
    await alerting.wait(5 * MINUTE)
    assert len(await alerting.sent()) == 1

    await cross(alerting, "low_tvl", TVL)

    assert len(await alerting.sent()) == 2
    [alert] = await alerting.alerts()
    assert (alert["status"], alert["reason"], alert["acknowledged_by"]) == ("firing", "low_tvl", None)


async def test_reminders_go_on_with_what_is_crossed_now(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")], repeatMinutes=5)
    await cross(alerting)
    await alerting.wait(6 * MINUTE)
    first, again = await alerting.payloads(FIRED)
    assert first["alert"]["message"] == again["alert"]["message"]


async def test_what_happened_once_is_over_after_a_while(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])

    await happen(alerting)
    [payload] = await alerting.payloads(FIRED)
    assert payload["alert"]["reason"] == "event"
    text = f"event: Paid(amount: 5) in transaction {hash_of('t0')}"
    assert payload["alert"]["message"] == text
    await alerting.wait(MINUTE)
    await happen(alerting, 1)
    await alerting.wait(timedelta(seconds=100))
    assert await alerting.sent() == [("chat", FIRED)]
    await alerting.wait(timedelta(seconds=25))
    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]

    await alerting.wait(MINUTE)
    await mark(alerting)
    await alerting.settle()
    assert len(await alerting.sent()) == 2
    await happen(alerting, 2)
    assert (await alerting.sent())[2:] == [("chat", FIRED)]


async def test_what_was_told_while_the_alert_before_it_ended_is_not_lost(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.world.run("UPDATE rules SET updated_at = updated_at - interval '1 day'")
    await happen(alerting)
    await alerting.wait(3 * MINUTE)
    assert [kind for _, kind in await alerting.sent()] == [FIRED, RECOVERED]

    await find(alerting, log("t1", 101), ahead=-2 * SECOND)
    await alerting.settle()
    assert [kind for _, kind in await alerting.sent()] == [FIRED, RECOVERED, FIRED]


async def test_an_interval_that_is_long_keeps_it_open_for_two_of_them(db: Db) -> None:
    alerting = await watched(db, interval_s=300)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await happen(alerting, alert=WHALE)
    [alert] = await alerting.alerts()
    assert (alert["reason"], alert["value"], alert["threshold"]) == ("large_transfer", 900, 500)
    await alerting.wait(9 * MINUTE)
    assert len(await alerting.sent()) == 1
    await alerting.wait(2 * MINUTE)
    assert len(await alerting.sent()) == 2


async def test_what_was_told_while_no_evaluator_ran_is_told_when_one_does(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.world.run("UPDATE rules SET updated_at = updated_at - interval '1 day'")
    alerting.ahead -= 20 * MINUTE
    await find(alerting, log("t0", 100))

    await alerting.wait(20 * MINUTE)
    await alerting.settle()

    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]


async def test_a_new_rule_hears_of_what_is_crossed_and_not_of_what_happened_before(db: Db) -> None:
    alerting = await watched(db)
    await cross(alerting)
    await happen(alerting)
    await alerting.wait(SECOND)

    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.settle()

    [payload] = await alerting.payloads(FIRED)
    assert payload["alert"]["message"] == f"high_gas: {GAS['message']}"


@pytest.mark.oldest
async def test_what_was_resolved_by_hand_stays_so_for_a_while_and_new_trouble_does_not(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await happen(alerting)
    [alert] = await alerting.alerts()
    await alerting.wait(SECOND)
    await alerts.resolve(db, alerting.who, alert["id"], alerting.now())
    await mark(alerting)
    await alerting.wait(11 * MINUTE)
    assert [kind for _, kind in await alerting.sent()] == [FIRED, RECOVERED]

    await happen(alerting, 1)
    assert [kind for _, kind in await alerting.sent()] == [FIRED, RECOVERED, FIRED]


async def test_an_outage_on_top_of_it_is_told_and_so_is_what_is_left_of_it(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await cross(alerting)
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.settle()
    assert [payload["alert"]["reason"] for payload in await alerting.payloads(FIRED)] == ["high_gas", "down"]

    await alerting.submit(UP)
    await alerting.settle()
    assert [payload["alert"]["reason"] for payload in await alerting.payloads(FIRED)][2:] == ["high_gas"]
    await come_back(alerting)
    assert [kind for _, kind in await alerting.sent()] == [FIRED, FIRED, FIRED, RECOVERED]


async def test_what_happened_before_an_outage_does_not_outlast_it(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await happen(alerting)
    await alerting.wait(10 * SECOND)
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.settle()
    await alerting.submit(UP)
    await alerting.settle()

    assert [payload["alert"]["reason"] for payload in await alerting.payloads(FIRED)] == ["event", "down"]
    assert [kind for _, kind in await alerting.sent()] == [FIRED, FIRED, RECOVERED]


async def test_a_rule_that_asks_for_something_else_now_lets_go_of_it(db: Db) -> None:
    alerting = await watched(db)
    rule = await alerting.rule(channels=[await alerting.channel("chat")])
    await cross(alerting)
    change = {"conditions": {"latencyThresholdMs": 5_000}}
    await rules.update(db, alerting.who, rule, change, alerting.now())
    await alerting.settle()
    assert [kind for _, kind in await alerting.sent()] == [FIRED, RECOVERED]


async def test_reminders_and_escalation_are_held_by_a_silence(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")], repeatMinutes=5)
    await cross(alerting)
    await alerting.world.run("UPDATE monitors SET silenced_until = $1", alerting.now() + 20 * MINUTE)
    await alerting.wait(15 * MINUTE)
    assert len(await alerting.sent()) == 1
    await alerting.wait(6 * MINUTE)
    assert len(await alerting.sent()) == 2


async def test_another_team_s_findings_fire_nobody_s_rules(db: Db) -> None:
    alerting = await watched(db)
    other = await make_alerting(db, locations=("afar",))
    await other.rule(channels=[await other.channel("chat")])
    await cross(alerting)
    assert await alerting.alerts() == []


async def test_it_is_told_once_though_the_clock_of_who_told_first_is_ahead(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await find(alerting, raised(**GAS), ahead=2 * SECOND)
    await alerting.settle()
    await mark(alerting)
    await alerting.settle()
    assert await alerting.sent() == [("chat", FIRED)]


async def test_a_preview_claims_nothing_of_it_and_says_so(db: Db) -> None:
    alerting = await watched(db)
    await cross(alerting)
    found = await preview.preview(db, alerting.world.team_id, {"conditions": {}}, alerting.now())
    assert found.alerts == []
    assert found.warnings == ["what Web3 monitors found is left out"]


async def test_a_status_page_shows_the_monitor_s_own_state(db: Db) -> None:
    alerting = await watched(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await cross(alerting)
    assert len(await alerting.alerts()) == 1

    async with db.connection() as tx:
        known = await components.health(tx, alerting.world.team_id, [alerting.monitor_id], alerting.now())
    assert of_monitor(known[alerting.monitor_id]) == "operational"
