"""The verdict of the first page: the worst that holds, in one sentence."""

from dataclasses import replace
from datetime import timedelta

import pytest

from collector.console.render import percent, span
from collector.overview.service.overview import verdict
from collector.overview.storage.overview import TeamCounts

WELL = TeamCounts(monitors=3, incidents=0, probes=2, live=2, channels=1, rules=1)


@pytest.mark.parametrize(
    ("counts", "states", "tone", "text"),
    [
        pytest.param(WELL, {"up": 3}, "good", "All monitors are up", id="all up"),
        pytest.param(replace(WELL, monitors=1), {"up": 1}, "good", "The monitor is up", id="one, up"),
        pytest.param(replace(WELL, monitors=0), {}, "off", "No monitors yet", id="none"),
        pytest.param(WELL, {"up": 2, "down": 1}, "bad", "1 monitor is down", id="one down"),
        pytest.param(
            WELL,
            {"degraded": 1, "flapping": 1, "down": 1200},
            "bad",
            "1,200 monitors are down",
            id="down",
        ),
        pytest.param(
            replace(WELL, live=0),
            {"up": 3},
            "bad",
            "No probe is connected: nothing is being checked",
            id="away",
        ),
        pytest.param(WELL, {"paused": 3}, "off", "All monitors are paused", id="all paused"),
        pytest.param(WELL, {"up": 1, "degraded": 2}, "warn", "2 monitors are degraded", id="degraded"),
        pytest.param(WELL, {"up": 2, "flapping": 1}, "warn", "1 monitor is flapping", id="flapping"),
        pytest.param(WELL, {"up": 2, "unmeasured": 1}, "warn", "1 monitor is not measured", id="unmeasured"),
        pytest.param(WELL, {"new": 2, "paused": 1}, "off", "Waiting for the first results", id="new"),
        pytest.param(
            replace(WELL, incidents=1),
            {"up": 3},
            "warn",
            "All monitors are up, with incidents still open",
            id="open",
        ),
    ],
)
def test_the_verdict_names_the_worst(
    counts: TeamCounts, states: dict[str, int], tone: str, text: str
) -> None:
    overview_verdict = verdict(counts, states)

    assert (overview_verdict.tone, overview_verdict.text) == (tone, text)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.25, "0.25 s"),
        (45, "45 s"),
        (59.9, "59.9 s"),
        (60, "1 min"),
        (73.4, "1 min 13 s"),
        (3_599.7, "1 h"),
        (5_400, "1 h 30 min"),
        (7_229, "2 h"),
        (timedelta(days=2, hours=4, minutes=59), "2 d 4 h"),
        (timedelta(days=365), "365 d"),
    ],
)
def test_lengths_have_two_units_at_most(length: timedelta | float, text: str) -> None:
    assert span(length) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, "–"),
        (100.0, "100\u00a0%"),
        (99.9999, "99.999\u00a0%"),
        (99.95, "99.95\u00a0%"),
        (0.0, "0\u00a0%"),
        (29.0, "29\u00a0%"),
    ],
)
def test_only_what_never_failed_is_a_hundred_percent(share: float | None, text: str) -> None:
    assert percent(share) == text
