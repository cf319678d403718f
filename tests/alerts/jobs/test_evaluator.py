"""Rules over real results: who is notified of what, once, and of the recovery."""

import asyncio
from typing import Any

import pytest

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.service import alerts, preview
from collector.alerts.service.followers import FOLLOWERS
from collector.incidents.service import actions
from collector.platform.storage.db import Db
from tests.alerts.ground import DOWN, MINUTE, UP, Alerting, make_alerting
from tests.evaluation.world import writing

pytestmark = pytest.mark.races

FIRED, RECOVERED, ESCALATED = "alert.fired", "alert.recovered", "alert.escalated"


async def go_down(alerting: Alerting) -> None:
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.settle()


async def go_up(alerting: Alerting) -> None:
    await alerting.submit(UP)
    await alerting.settle()


async def test_a_rule_without_conditions_tells_its_channels_that_a_monitor_is_down(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")])

    await go_down(alerting)
    await go_down(alerting)

    assert await alerting.sent() == [("chat", FIRED)]
    [payload] = await alerting.payloads(FIRED)
    assert payload["alert"]["reason"] == "down"
    assert payload["alert"]["escalation"] == 0
    assert payload["monitor"]["status"] == "down"
    assert payload["incident"]["lastError"] == "connect: refused by 127.0.0.1:1"
    assert [(state["location"], state["status"]) for state in payload["locationStates"]] == [
        ("local", "down")
    ]
    assert await alerting.log("notified") == [("notified", "Rule: chat")]


async def test_who_was_told_of_trouble_is_told_of_its_end(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.rule(channels=[await alerting.channel("quiet")], notifyOnRecovery=False)

    await go_down(alerting)
    await go_up(alerting)

    assert sorted(await alerting.sent()) == [("chat", FIRED), ("chat", RECOVERED), ("quiet", FIRED)]
    assert {alert["status"] for alert in await alerting.alerts()} == {"recovered"}
    fired, over = await alerting.payloads(FIRED), await alerting.payloads(RECOVERED)
    assert {item["incident"]["id"] for item in fired} == {item["incident"]["id"] for item in over}


async def test_a_webhook_hears_what_it_hears_without_rules_and_nothing_beside(db: Db) -> None:
    alerting = await make_alerting(db)
    hook = await alerting.channel("hook", "webhook")
    await alerting.rule(channels=[hook])
    await alerting.rule(channels=[hook], conditions={"consecutiveFailures": 3})

    await go_down(alerting)
    await go_up(alerting)

    assert await alerting.sent() == [("hook", "monitor.down"), ("hook", "monitor.up")]


@pytest.mark.oldest
async def test_a_webhook_hears_of_other_reasons_by_the_rule(db: Db) -> None:
    alerting = await make_alerting(db)
    hook = await alerting.channel("hook", "webhook")
    narrow = await alerting.channel("narrow", "webhook", events=["monitor.up"])
    conditions = {"latencyThresholdMs": 1, "consecutiveFailures": 2}
    await alerting.rule(channels=[hook, narrow], conditions=conditions)

    await slow_checks(alerting, 2)

    assert await alerting.sent() == [("hook", FIRED)]
    assert (await alerting.alerts())[0]["incident_id"] is None


async def slow_checks(alerting: Alerting, count: int) -> None:
    """Each takes 3 ms."""
    await alerting.submit(*[UP] * count)
    await mark(alerting)
    await alerting.settle()


async def mark(alerting: Alerting) -> None:
    await alerting.world.run("INSERT INTO alert_marks (team_id, monitor_id) SELECT team_id, id FROM monitors")


@pytest.mark.parametrize(
    ("conditions", "fires"),
    [
        ({"latencyThresholdMs": 1}, 3),
        ({"latencyThresholdMs": 1, "consecutiveFailures": 5}, 5),
        ({"latencyThresholdMs": 3}, None),
        ({"statusCode": 200}, 3),
        ({"statusCode": 503}, None),
        ({"statusCode": 200, "latencyThresholdMs": 3, "match": "all"}, None),
        ({"statusCode": 200, "latencyThresholdMs": 1, "match": "all"}, 3),
    ],
)
async def test_so_many_slow_or_odd_checks_in_a_row_fire_it(
    db: Db, conditions: dict[str, Any], fires: int | None
) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")], conditions=conditions)
    first = None
    for n in range(1, 7):
        await slow_checks(alerting, 1)
        if await alerting.alerts() and first is None:
            first = n

    assert first == fires
    assert len(await alerting.sent()) == (fires is not None)


async def test_an_error_rate_fires_at_its_limit_and_clears_below_it(db: Db) -> None:
    alerting = await make_alerting(db)
    chat = await alerting.channel("chat")
    await alerting.rule(channels=[chat], conditions={"errorRatePercent": 20, "windowMinutes": 30})

    await alerting.submit(UP, DOWN, UP, UP)
    await mark(alerting)
    await alerting.settle()
    assert await alerting.alerts() == []  # of four checks no rate is known

    await alerting.submit(UP)
    await mark(alerting)
    await alerting.settle()
    [alert] = await alerting.alerts()
    assert (alert["reason"], alert["value"], alert["threshold"]) == ("errorRatePercent", 20, 20)

    await alerting.submit(UP)
    await alerting.wait(MINUTE)
    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]


async def test_steps_are_taken_until_somebody_acknowledges(db: Db) -> None:
    alerting = await make_alerting(db)
    chat, boss, hook = (
        await alerting.channel("chat"),
        await alerting.channel("boss"),
        await alerting.channel("hook", "webhook"),
    )
    policy = {"delayMinutes": 10, "escalateToChannels": [boss, hook], "maxEscalations": 3}
    await alerting.rule(channels=[chat], escalationPolicy=policy)
    await go_down(alerting)
    await alerting.wait(9 * MINUTE)
    assert ("boss", ESCALATED) not in await alerting.sent()

    await alerting.wait(MINUTE)
    assert (await alerting.sent()).count(("boss", ESCALATED)) == 1
    assert (await alerting.sent()).count(("hook", ESCALATED)) == 1
    await alerting.wait(10 * MINUTE)
    assert [payload["alert"]["escalation"] for payload in await alerting.payloads(ESCALATED)] == [1, 2]
    assert await alerting.log("escalated") == [
        ("escalated", "Rule, step 1 of 3: boss, hook"),
        ("escalated", "Rule, step 2 of 3: boss, hook"),
    ]

    await alerting.world.run("UPDATE incidents SET status = 'acknowledged', acknowledged_by = '{\"id\": 1}'")
    await alerting.wait(60 * MINUTE)
    assert len(await alerting.payloads(ESCALATED)) == 2
    [alert] = await alerting.alerts()
    assert (alert["status"], alert["acknowledged_by"]) == ("acknowledged", {"id": 1})

    await go_up(alerting)
    assert {("chat", RECOVERED), ("boss", RECOVERED), ("hook", RECOVERED)} <= set(await alerting.sent())


@pytest.mark.oldest
async def test_a_paging_service_hears_that_somebody_has_taken_it_on(db: Db) -> None:
    alerting = await make_alerting(db)
    names = {"chat": "slack", "pager": "pagerduty", "bystander": "pagerduty"}
    ids_of = {name: await alerting.channel(name, type_) for name, type_ in names.items()}
    await alerting.rule(channels=[ids_of["chat"], ids_of["pager"]])
    await go_down(alerting)
    incident = await alerting.world.value("SELECT id FROM incidents")

    await actions.acknowledge(db, FOLLOWERS, alerting.who, incident, alerting.now())
    await alerting.settle()

    assert await alerting.sent() == [("chat", FIRED), ("pager", FIRED), ("pager", "incident.acknowledged")]
    [alert] = await alerting.alerts()
    assert (alert["status"], alert["acknowledged_by"]["name"]) == ("acknowledged", "Somebody")


@pytest.mark.oldest
async def test_a_withdrawn_acknowledgement_lets_the_steps_go_on(db: Db) -> None:
    alerting = await make_alerting(db)
    chat, boss = await alerting.channel("chat"), await alerting.channel("boss")
    policy = {"delayMinutes": 10, "escalateToChannels": [boss], "maxEscalations": 3}
    await alerting.rule(channels=[chat], escalationPolicy=policy)
    await go_down(alerting)
    incident = await alerting.world.value("SELECT id FROM incidents")
    await actions.acknowledge(db, FOLLOWERS, alerting.who, incident, alerting.now())
    await alerting.wait(15 * MINUTE)
    assert await alerting.payloads(ESCALATED) == []

    await actions.unacknowledge(db, FOLLOWERS, alerting.who, incident, alerting.now())
    await alerting.wait(MINUTE)

    assert [payload["alert"]["escalation"] for payload in await alerting.payloads(ESCALATED)] == [1]
    [alert] = await alerting.alerts()
    assert (alert["status"], alert["acknowledged_at"], alert["acknowledged_by"]) == ("firing", None, None)


async def test_steps_end_after_the_last_one(db: Db) -> None:
    alerting = await make_alerting(db)
    boss = await alerting.channel("boss")
    policy = {"delayMinutes": 1, "escalateToChannels": [boss], "maxEscalations": 2}
    await alerting.rule(escalationPolicy=policy)
    await go_down(alerting)
    for _ in range(5):
        await alerting.wait(MINUTE)

    assert await alerting.sent() == [("boss", ESCALATED), ("boss", ESCALATED)]


async def test_an_alert_is_repeated_until_it_is_over(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")], repeatMinutes=5)
    await go_down(alerting)
    for _ in range(11):
        await alerting.wait(MINUTE)
    await go_up(alerting)
    await alerting.wait(10 * MINUTE)

    assert await alerting.sent() == [("chat", FIRED)] * 3 + [("chat", RECOVERED)]


async def test_of_two_collectors_one_fires(db: Db) -> None:
    alerting = await make_alerting(db, monitors=40)
    await alerting.rule(channels=[await alerting.channel("chat")])
    keys = sorted(alerting.world.assignments)
    async with asyncio.timeout(30):
        for _ in range(3):
            await submit_all(alerting, keys)
        for _ in range(3):
            await mark(alerting)
        evaluators = [Evaluator(db, now=alerting.now) for _ in range(4)]
        await asyncio.gather(*[evaluator.turn() for evaluator in evaluators])
        await alerting.settle()

    assert len(await alerting.alerts()) == 40
    assert len(await alerting.payloads(FIRED)) == 40
    assert await alerting.sent() == [("chat", FIRED)] * 40


async def submit_all(alerting: Alerting, keys: list[tuple[int, int]]) -> None:
    async with writing(alerting.world) as writer:
        await writer.submit(alerting.world.batch_of(keys, [DOWN] * len(keys)))


async def test_a_rule_that_goes_ends_its_alerts_and_says_so(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await go_down(alerting)

    await alerting.world.run("UPDATE rules SET enabled = false")
    await mark(alerting)
    await alerting.settle()

    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]


async def test_a_monitor_that_no_rule_selects_alerts_nobody(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")], tags={"env": "prod"})
    await go_down(alerting)
    assert await alerting.alerts() == []

    await alerting.world.run('UPDATE monitors SET tags = \'{"env": "prod"}\'')
    await mark(alerting)
    await alerting.settle()
    assert await alerting.sent() == [("chat", FIRED)]


async def test_a_preview_tells_what_the_rule_would_have_done(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.submit(DOWN, DOWN, DOWN)
    await alerting.submit(UP)

    async def would(**fields: Any) -> list[tuple[str, bool]]:
        found = await preview.preview(db, alerting.world.team_id, fields, alerting.now())
        assert found.monitors == 1
        return [(alert.spell.reason.key, alert.spell.until is not None) for alert in found.alerts]

    assert await would() == [("down", True)]
    assert await would(conditions={"consecutiveFailures": 2}) == [("consecutiveFailures", True)]
    assert await would(conditions={"consecutiveFailures": 4}) == []
    assert await alerting.alerts() == []


async def test_an_alert_that_was_ended_by_hand_fires_again_only_when_it_persists(db: Db) -> None:
    alerting = await make_alerting(db)
    conditions = {"latencyThresholdMs": 1, "consecutiveFailures": 1}
    await alerting.rule(channels=[await alerting.channel("chat")], conditions=conditions)
    await slow_checks(alerting, 1)
    [alert] = await alerting.alerts()

    await alerts.resolve(db, alerting.who, alert["id"], alerting.now())
    for _ in range(9):
        alerting.ahead += MINUTE
        await slow_checks(alerting, 1)
    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED)]

    alerting.ahead += 2 * MINUTE
    await slow_checks(alerting, 1)
    assert await alerting.sent() == [("chat", FIRED), ("chat", RECOVERED), ("chat", FIRED)]


@pytest.mark.oldest
async def test_one_that_cannot_be_looked_at_does_not_hold_up_the_others(db: Db) -> None:
    alerting = await make_alerting(db, monitors=2)
    await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.world.run(
        """
        INSERT INTO rules (team_id, id, name, enabled, conditions, channels, every, monitors, tags, names,
            pairs, notify_on_recovery, escalate_to, created_at, updated_at)
        SELECT team_id, gen_random_uuid(), 'broken', true, '{"consecutiveFailures": "x"}', '{}', false, $1,
            '{}', '{}', '{}', true, '{}', now(), now() FROM teams
        """,
        [alerting.monitor_id],
    )
    for _ in range(3):
        await submit_all(alerting, sorted(alerting.world.assignments))
    await alerting.settle()

    assert [alert["monitor_id"] for alert in await alerting.alerts()] == [
        alerting.world.ids[alerting.world.monitors[1]]
    ]
    assert await alerting.world.value("SELECT count(*) FROM alert_marks WHERE due_at IS NULL") == 0


async def with_uptime(db: Db) -> Alerting:
    """Whose monitor's checks speak for two minutes each."""
    alerting = await make_alerting(db)
    await alerting.world.run(
        """
        INSERT INTO cadences (monitor, since, cover_s)
        SELECT monitor, now() - interval '1 day', 120 FROM monitors
        """
    )
    return alerting


async def test_an_availability_is_judged_at_the_tenth_check_though_that_one_is_good(db: Db) -> None:
    alerting = await with_uptime(db)
    await alerting.rule(channels=[await alerting.channel("chat")], conditions={"availability": 99.9})
    await go_down(alerting)
    await alerting.wait(MINUTE)
    await go_up(alerting)
    for _ in range(5):
        await alerting.wait(MINUTE)
        await alerting.submit(UP)
    await alerting.wait(MINUTE)
    assert await alerting.sent() == []

    await alerting.submit(UP)
    await alerting.wait(MINUTE / 4)

    assert [alert["reason"] for alert in await alerting.alerts()] == ["availability"]
    assert (await alerting.sent())[0] == ("chat", FIRED)
    assert await alerting.world.value("SELECT count(*) FROM alert_marks") == 0


@pytest.mark.oldest
async def test_an_error_rate_is_judged_at_the_fifth_check_though_that_one_is_good(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(channels=[await alerting.channel("chat")], conditions={"errorRatePercent": 20})
    await alerting.submit(DOWN)
    await alerting.submit(UP, UP, UP)
    await alerting.settle()
    assert await alerting.alerts() == []

    await alerting.submit(UP)
    await alerting.wait(MINUTE / 4)

    assert [(alert["reason"], alert["value"]) for alert in await alerting.alerts()] == [
        ("errorRatePercent", 20)
    ]


@pytest.mark.parametrize(
    "conditions", [{"availability": 99.9}, {"errorRatePercent": 20, "windowMinutes": 60}]
)
async def test_a_rule_for_a_rate_looks_at_what_was_before_it(db: Db, conditions: dict[str, Any]) -> None:
    alerting = await with_uptime(db)
    await go_down(alerting)
    await alerting.wait(MINUTE)
    await alerting.submit(*[UP] * 9)
    await alerting.settle()

    await alerting.rule(channels=[await alerting.channel("chat")], conditions=conditions)
    await alerting.settle()

    assert [alert["reason"] for alert in await alerting.alerts()] == [next(iter(conditions))]


async def test_what_could_not_be_judged_is_judged_later(db: Db) -> None:
    alerting = await make_alerting(db)
    rule = await alerting.rule(channels=[await alerting.channel("chat")])
    await alerting.world.run("UPDATE rules SET repeat_minutes = 5, escalation = '{}'")
    await go_down(alerting)
    assert await alerting.alerts() == []

    await alerting.world.run("UPDATE rules SET escalation = NULL WHERE id = $1", rule)
    await alerting.wait(MINUTE / 2)
    assert await alerting.alerts() == []
    await alerting.wait(MINUTE)

    assert [alert["status"] for alert in await alerting.alerts()] == ["firing"]
    assert await alerting.sent() == [("chat", FIRED)]
