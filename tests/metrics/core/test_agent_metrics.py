"""What a probe says of itself, made a sample: its counts grow, begin anew, and may be nonsense."""

from typing import Any

import pytest

from collector.metrics.core.agent_metrics import sample


@pytest.mark.parametrize(
    ("vitals", "before", "grown"),
    [
        pytest.param({"started": 10, "skipped": 2, "dropped": 1}, [], [0, 0, 0], id="the first tells none"),
        pytest.param({"started": 10, "skipped": 2, "dropped": 1}, [4, 2, 0], [6, 0, 1], id="the difference"),
        pytest.param({"started": 3, "skipped": 0, "dropped": 0}, [9, 0, 0], [3, 0, 0], id="a new process"),
        pytest.param({}, [9, 9, 9], [0, 0, 0], id="nothing said"),
        pytest.param({"started": "many", "skipped": None}, [0, 0, 0], [0, 0, 0], id="no numbers"),
        pytest.param({"started": 2**64 - 1}, [0, 0, 0], [2**53, 0, 0], id="more than can be"),
    ],
)
def test_counts_grow(vitals: dict[str, Any], before: list[int], grown: list[int]) -> None:
    made = sample(vitals, before)
    assert [made.started, made.skipped, made.dropped] == grown


def test_the_rest_is_taken_as_it_is_said_within_bounds() -> None:
    made = sample({"running": 3, "lateUsMax": 1500, "skewMs": -(10**19), "rssBytes": 2**64 - 1}, [])
    assert (made.running, made.late_us, made.skew_ms, made.rss_bytes) == (3, 1500, -(2**53), 2**53)
