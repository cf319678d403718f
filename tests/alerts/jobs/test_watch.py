"""Results leave a mark only where a rule waits for them, in the transaction that stores them."""

from datetime import timedelta
from typing import Any

import pytest

from collector.alerts.jobs.watch import Watch
from collector.platform.storage.db import Db
from shared.results import Status
from tests.alerts.ground import DOWN, UP, Alerting, make_alerting
from tests.evaluation.world import writing


async def marks(alerting: Alerting, *statuses: Status, ago_s: int = 1) -> int:
    """How many marks a batch leaves."""
    watch = Watch(alerting.world.db)
    await watch.turn()
    now = alerting.now()
    async with writing(alerting.world, watch=watch) as writer:
        await writer.submit(alerting.world.batch(*statuses, now=now, ago=timedelta(seconds=ago_s)))
    return int(await alerting.world.value("SELECT count(*) FROM alert_marks"))


@pytest.mark.parametrize(
    ("rule", "statuses", "marked"),
    [
        pytest.param({}, (DOWN,), 0, id="without conditions it goes by events"),
        pytest.param({"conditions": {"consecutiveFailures": 1}}, (UP, UP), 0, id="good checks say nothing"),
        pytest.param({"conditions": {"consecutiveFailures": 1}}, (DOWN, DOWN), 1, id="one for a batch"),
        pytest.param({"conditions": {"latencyThresholdMs": 1}}, (UP,), 1, id="slow"),
        pytest.param({"conditions": {"latencyThresholdMs": 2}}, (UP,), 0, id="not slower than the limit"),
        pytest.param({"conditions": {"statusCode": 200}}, (UP,), 1, id="the code"),
        pytest.param({"conditions": {"statusCode": 201}}, (UP,), 0, id="another code"),
        pytest.param({"conditions": {"statusCode": 200}, "tags": {"a": "b"}}, (UP,), 0, id="not selected"),
        pytest.param({"conditions": {"statusCode": 200}, "enabled": False}, (UP,), 0, id="disabled"),
    ],
)
async def test_what_a_rule_waits_for_is_marked(
    db: Db, rule: dict[str, Any], statuses: tuple[Status, ...], marked: int
) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(**rule)

    assert await marks(alerting, *statuses) == marked


async def test_what_comes_too_late_is_not_marked(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(conditions={"consecutiveFailures": 1})

    assert await marks(alerting, DOWN, ago_s=120) == 0


async def test_two_rules_of_one_monitor_are_both_waited_for(db: Db) -> None:
    alerting = await make_alerting(db)
    await alerting.rule(conditions={"latencyThresholdMs": 900, "statusCode": 200})
    await alerting.rule(conditions={"statusCode": 404})

    watch = Watch(db)
    await watch.turn()

    [monitor] = watch.monitors.values()
    assert (monitor.slower_than_ms, monitor.codes) == (900, frozenset({200, 404}))
    assert monitor.matters(Status.UP, 901, 0)
    assert not monitor.matters(Status.UP, 900, 500)
