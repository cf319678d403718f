"""Conditions on values: since when each holds, and what is said of it."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.metrics.core.conditions import HeldCondition, ObservedSample, error, moved
from shared.kinds.prometheus import Condition

AT = datetime(2026, 1, 1, tzinfo=UTC)
LABELS = {"__name__": "load", "host": "a"}
HIGH = Condition(metric="load", op="gt", value=4.0, for_=300)


def seen(*values: float | None) -> list[ObservedSample]:
    """A sample a minute."""
    return [
        ObservedSample(b"a", LABELS, (0,), AT + i * timedelta(minutes=1), v) for i, v in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "since", "broken"),
    [
        pytest.param((5.0,), 0, False, id="it holds, maybe for longer"),
        pytest.param((5.0, 6.0), 0, False, id="it goes on"),
        pytest.param((5.0, 3.0, 6.0), 2, True, id="it began again"),
        pytest.param((5.0, 4.0), None, True, id="it ended"),
        pytest.param((5.0, None), None, True, id="the series ended"),
        pytest.param((float("nan"),), None, True, id="no number is above another"),
        pytest.param((float("inf"),), 0, False, id="infinity is"),
    ],
)
def test_since_when_it_holds(values: tuple[float | None, ...], since: int | None, broken: bool) -> None:
    [condition] = moved([HIGH], seen(*values))

    assert condition.since == (None if since is None else AT + since * timedelta(minutes=1))
    assert condition.broken is broken


@pytest.mark.parametrize(
    ("op", "holds"),
    [("gt", False), ("ge", True), ("lt", False), ("le", True), ("eq", True), ("ne", False)],
)
def test_each_operator_at_its_bound(op: str, holds: bool) -> None:
    condition = Condition(metric="load", op=op, value=4.0)  # type: ignore[arg-type]

    [held_condition] = moved([condition], seen(4.0))

    assert (held_condition.since is not None) is holds


def test_what_held_for_long_enough_is_said_with_its_series() -> None:
    holding = [HeldCondition(0, b"a", LABELS, AT, AT, broken=False)]

    assert error([HIGH], holding, AT + timedelta(seconds=299)) == ""
    assert error([HIGH], holding, AT + timedelta(seconds=300)) == 'load{host="a"} is above 4 for 300 s'


def test_of_many_three_are_named() -> None:
    holding = [HeldCondition(0, bytes([i]), LABELS, AT, AT, broken=False) for i in range(10)]

    text = error([HIGH], holding, AT + timedelta(hours=1))

    assert text.count("load") == 3
    assert text.endswith("; and 7 more")
