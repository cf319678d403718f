"""What makes a rule fire: each condition by itself, and together."""

from typing import Any

import pytest

from collector.alerts.core.conditions import (
    CheckSample,
    FailureRate,
    LocationChecks,
    Reason,
    RuleFacts,
    fires,
)
from collector.alerts.core.rule_fields import Conditions
from shared.clock import EPOCH
from shared.results import Status

GOOD, BAD, SLOW, TEAPOT, UNKNOWN = (
    CheckSample(EPOCH, Status.UP, 5, 200),
    CheckSample(EPOCH, Status.DOWN, 5, 500),
    CheckSample(EPOCH, Status.UP, 901, 200),
    CheckSample(EPOCH, Status.UP, 5, 418),
    CheckSample(EPOCH, Status.UNKNOWN, 5_000, None),
)


def facts(*places: LocationChecks, **rest: Any) -> RuleFacts:
    return RuleFacts(
        **{"down": False, "failure_threshold": 2, "quorum": "majority", "places": places, **rest}
    )


@pytest.mark.parametrize(
    ("said", "known", "expected"),
    [
        pytest.param({}, facts(down=True), ("down", None, None), id="empty: down"),
        pytest.param({}, facts(LocationChecks(9)), None, id="empty: not before it is told"),
        pytest.param({"consecutive_failures": 3}, facts(LocationChecks(2)), None, id="not enough in a row"),
        pytest.param(
            {"consecutive_failures": 3},
            facts(LocationChecks(4)),
            ("consecutiveFailures", 4, 3),
            id="in a row",
        ),
        pytest.param(
            {"consecutive_failures": 3}, facts(LocationChecks(3), LocationChecks(0)), None, id="no majority"
        ),
        pytest.param(
            {"consecutive_failures": 3, "locations": "any"},
            facts(LocationChecks(3), LocationChecks(0)),
            ("consecutiveFailures", 3, 3),
            id="any location",
        ),
        pytest.param({"consecutive_failures": 3}, facts(), None, id="nobody has a say"),
        pytest.param(
            {"consecutive_failures": 3, "latency_threshold_ms": 900, "status_code": 418},
            facts(LocationChecks(0, [SLOW, TEAPOT, UNKNOWN, BAD, GOOD])),
            ("consecutiveFailures", 3, 3),
            id="bad is failed, slow or odd",
        ),
        pytest.param(
            {"latency_threshold_ms": 900},
            facts(LocationChecks(0, [SLOW, SLOW])),
            ("latencyThresholdMs", 901, 900),
            id="slow, as often as the monitor's threshold",
        ),
        pytest.param(
            {"latency_threshold_ms": 901}, facts(LocationChecks(0, [SLOW] * 2)), None, id="at the limit"
        ),
        pytest.param(
            {"latency_threshold_ms": 1},
            facts(LocationChecks(0, [UNKNOWN] * 2)),
            None,
            id="unknown is not slow",
        ),
        pytest.param(
            {"status_code": 418},
            facts(LocationChecks(0, [TEAPOT] * 2)),
            ("statusCode", 418, 418),
            id="status",
        ),
        pytest.param(
            {"error_rate_percent": 20.0}, facts(rate=FailureRate(4, 4)), None, id="too few for a rate"
        ),
        pytest.param(
            {"error_rate_percent": 20.0},
            facts(rate=FailureRate(1, 5)),
            ("errorRatePercent", 20.0, 20.0),
            id="rate",
        ),
        pytest.param({"error_rate_percent": 20.0}, facts(rate=FailureRate(1, 6)), None, id="below the rate"),
        pytest.param(
            {"availability": 99.0},
            facts(day=FailureRate(1, 10), uptime=98.9),
            ("availability", 98.9, 99.0),
            id="uptime",
        ),
        pytest.param(
            {"availability": 99.0}, facts(day=FailureRate(1, 9), uptime=1.0), None, id="too few checks"
        ),
        pytest.param(
            {"availability": 99.0}, facts(day=FailureRate(1, 10), uptime=99.0), None, id="at the limit"
        ),
        pytest.param(
            {"consecutive_failures": 3, "error_rate_percent": 20.0, "match": "all"},
            facts(LocationChecks(3), rate=FailureRate(0, 9)),
            None,
            id="all: one is missing",
        ),
        pytest.param(
            {"consecutive_failures": 3, "error_rate_percent": 20.0, "match": "all"},
            facts(LocationChecks(3), rate=FailureRate(3, 9)),
            ("consecutiveFailures", 3, 3),
            id="all",
        ),
    ],
)
def test_fires(said: dict[str, Any], known: RuleFacts, expected: tuple[Any, ...] | None) -> None:
    assert fires(Conditions(**said), known) == (expected and Reason(*expected))
