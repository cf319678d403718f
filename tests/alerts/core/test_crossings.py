"""What Web3 monitors found, as reasons to alert."""

from datetime import timedelta
from typing import Any

import pytest

from collector.alerts.core.conditions import CONSECUTIVE, DOWN, LocationChecks, RuleFacts, fires, of_web3
from collector.alerts.core.rule_fields import Conditions
from collector.web3.core.crossings import NotifiedCrossing, ends_at, single, summary, threshold, window
from shared.clock import EPOCH

SECOND = timedelta(seconds=1)
HIGH = NotifiedCrossing("high_gas", EPOCH, value=251.3, threshold=200, message="gas costs 251.3 gwei")
LOW = NotifiedCrossing("low_tvl", EPOCH + SECOND, value=1, threshold=2, message="little is locked")
PAID = NotifiedCrossing("event", EPOCH + 2 * SECOND, single=True, message="Paid")


def facts(*crossings: NotifiedCrossing, down: bool = False, fails: int = 0) -> RuleFacts:
    return RuleFacts(down, 3, "majority", [LocationChecks(fails)], crossings=crossings)


@pytest.mark.parametrize(
    ("conditions", "known", "reason"),
    [
        pytest.param(Conditions(), facts(HIGH), "high_gas", id="a threshold"),
        pytest.param(Conditions(), facts(PAID), "event", id="an event"),
        pytest.param(Conditions(), facts(PAID, LOW, HIGH), "event", id="the one that was told last"),
        pytest.param(Conditions(), facts(HIGH, down=True), DOWN, id="that it is down goes first"),
        pytest.param(
            Conditions(consecutive_failures=3), facts(HIGH), "high_gas", id="with failures asked for"
        ),
        pytest.param(
            Conditions(consecutive_failures=3), facts(HIGH, fails=3), CONSECUTIVE, id="failures go first"
        ),
        pytest.param(Conditions(), facts(), None, id="nothing"),
        pytest.param(
            Conditions(latency_threshold_ms=5), facts(HIGH), None, id="for who asks for the latency"
        ),
        pytest.param(
            Conditions(consecutive_failures=3, status_code=500), facts(HIGH), None, id="or for a status"
        ),
        pytest.param(Conditions(availability=99), facts(HIGH), None, id="or for the uptime"),
    ],
)
def test_what_a_rule_fires_for(conditions: Conditions, known: RuleFacts, reason: str | None) -> None:
    found = fires(conditions, known)
    assert (found.key if found else None) == reason


def test_a_reason_says_what_was_measured_and_all_that_is_crossed() -> None:
    reason = fires(Conditions(), facts(HIGH, LOW))
    assert reason is not None
    assert (reason.value, reason.threshold, reason.told_at) == (1, 2, LOW.told_at)
    assert reason.message == "low_tvl: little is locked; high_gas: gas costs 251.3 gwei"
    assert of_web3(reason.key)


def test_what_is_crossed_is_said_before_what_happened_and_not_without_end() -> None:
    many = [NotifiedCrossing(f"key_{n}", EPOCH + n * SECOND) for n in range(9)]
    assert summary([PAID, HIGH]) == "high_gas: gas costs 251.3 gwei; event: Paid"
    assert summary(many) == "key_8; key_7; key_6; key_5; key_4; and 4 more"


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        ([], None),
        ([HIGH], None),
        ([HIGH, PAID], None),
        ([PAID], PAID.told_at + 120 * SECOND),
    ],
)
def test_only_what_happened_ends_by_itself(found: list[NotifiedCrossing], ends: Any) -> None:
    assert ends_at(found, 30) == ends


@pytest.mark.parametrize(("interval_s", "length_s"), [(1, 120), (60, 120), (61, 122), (86_400, 172_800)])
def test_for_two_intervals_and_never_less_than_two_minutes(interval_s: int, length_s: int) -> None:
    assert window(interval_s) == length_s * SECOND


@pytest.mark.parametrize(
    ("data", "value", "limit", "message"),
    [
        ({"current": "251.3", "threshold": "200", "message": "m"}, 251.3, 200, "m"),
        ({"current": "9" * 90, "threshold": "1e999"}, float("9" * 90), None, ""),
        ({"current": "nan", "threshold": "x", "message": 5}, None, None, ""),
        ({"threshold": [], "message": "two\nlines\u2028or three"}, None, None, "two lines or three"),
        ({}, None, None, ""),
    ],
)
def test_numbers_as_near_as_a_float_comes_to_them(
    data: dict[str, Any], value: float | None, limit: float | None, message: str
) -> None:
    crossing = threshold("high_gas", data, EPOCH)
    assert (crossing.value, crossing.threshold, crossing.message) == (value, limit, message)


@pytest.mark.parametrize(
    ("log", "key", "message"),
    [
        (
            {"name": "Paid", "args": {"amount": "5", "by": ["x\ny"]}, "transactionHash": "0xB"},
            "event",
            'Paid(amount: 5, by: ["x\\ny"]) in transaction 0xB',
        ),
        ({"name": "Paid", "args": {"said": "x" * 999}}, "event", f"Paid(said: {'x' * 193}…)"),
        ({}, "event", "event()"),
        ({"name": 5, "alert": "odd"}, "event", "event()"),
        ({"alert": {"type": "large_transfer", "message": "900 ETH left"}}, "large_transfer", "900 ETH left"),
        ({"alert": {}}, "event", ""),
    ],
)
def test_what_happened_in_words(log: dict[str, Any], key: str, message: str) -> None:
    crossing = single(log, EPOCH)
    assert (crossing.key, crossing.message, crossing.single) == (key, message, True)
