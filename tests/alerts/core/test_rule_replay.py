"""What a rule would have done, over results that are past."""

from datetime import timedelta

import pytest

from collector.alerts.core.conditions import CheckSample, Reason
from collector.alerts.core.replay import MonitorParameters, PastResult, Spell, notices, replay
from collector.alerts.core.rule_fields import Conditions, Escalation, RuleSettings
from shared.clock import EPOCH
from shared.results import Status

ABOUT = MonitorParameters(failure_threshold=2, quorum="majority", interval_s=60, locations=[1])
MINUTE = timedelta(minutes=1)


def past(text: str, location: int = 1) -> list[PastResult]:
    """A check a minute: ``.`` good, ``x`` failed, ``s`` slow, ``?`` unknown."""
    kinds = {
        ".": (Status.UP, 5, 200),
        "x": (Status.DOWN, 5, 503),
        "s": (Status.UP, 900, 200),
        "?": (Status.UNKNOWN, 0, None),
    }
    return [
        PastResult(location, CheckSample(EPOCH + at * MINUTE, *kinds[letter]), scheduled=True)
        for at, letter in enumerate(text)
    ]


@pytest.mark.parametrize(
    ("conditions", "said", "spells"),
    [
        pytest.param(Conditions(consecutive_failures=2), "..x.xx..", [(5, 6)], id="in a row"),
        pytest.param(Conditions(consecutive_failures=2), "xx?x.", [(1, 4)], id="unknown says nothing"),
        pytest.param(Conditions(consecutive_failures=2), "..xx", [(3, None)], id="goes on"),
        pytest.param(Conditions(latency_threshold_ms=800), ".s.ss.", [(4, 5)], id="slow"),
        pytest.param(
            Conditions(latency_threshold_ms=800, consecutive_failures=3),
            ".sxs.",
            [(3, 4)],
            id="slow or failed",
        ),
        pytest.param(Conditions(status_code=503), "xx.", [(1, 2)], id="a code"),
        pytest.param(
            Conditions(error_rate_percent=50), "..xxx", [(4, None)], id="a rate, once five are known"
        ),
        pytest.param(
            Conditions(consecutive_failures=2, latency_threshold_ms=800, status_code=503, match="all"),
            "xx.",
            [(1, 2)],
            id="what says what is bad is no condition of its own",
        ),
        pytest.param(Conditions(availability=99.0), "x" + "." * 8, [], id="too few checks for availability"),
        pytest.param(Conditions(availability=99.0), "x" + "." * 9, [(9, None)], id="availability"),
    ],
)
def test_replay(conditions: Conditions, said: str, spells: list[tuple[int, int | None]]) -> None:
    found = replay(conditions, ABOUT, past(said), [])

    def minutes(spell: Spell) -> tuple[int, int | None]:
        since, until = (None if at is None else (at - EPOCH) // MINUTE for at in (spell.since, spell.until))
        return since or 0, until

    assert [minutes(spell) for spell in found] == spells


def test_a_minority_of_locations_is_not_enough_unless_any_will_do() -> None:
    about = MonitorParameters(2, "majority", 60, [1, 2])
    results = past("xx", location=1)

    assert replay(Conditions(consecutive_failures=2), about, results, []) == []
    assert len(replay(Conditions(consecutive_failures=2, locations="any"), about, results, [])) == 1


def test_an_outage_keeps_an_alert_open() -> None:
    outage = Spell(EPOCH + MINUTE, EPOCH + 4 * MINUTE, Reason("down"))

    [spell] = replay(Conditions(latency_threshold_ms=800), ABOUT, past("ss..."), [outage])

    assert spell.until == EPOCH + 4 * MINUTE


def test_without_conditions_it_is_the_outages() -> None:
    outage = Spell(EPOCH, None, Reason("down"))

    assert replay(Conditions(), ABOUT, [], [outage]) == [outage]


def test_notices_are_counted() -> None:
    policy = Escalation(delay_minutes=10, escalate_to_channels=[], max_escalations=2)
    rule = RuleSettings(name="Shop", repeat_minutes=15, escalation_policy=policy)
    reason = Reason("down")

    assert notices(rule, Spell(EPOCH, EPOCH + 5 * MINUTE, reason), EPOCH) == (2, 0)
    assert notices(rule, Spell(EPOCH, EPOCH + 40 * MINUTE, reason), EPOCH) == (4, 2)
    assert notices(rule, Spell(EPOCH, None, reason), EPOCH + 12 * MINUTE) == (1, 1)
