"""Who votes, and how many it takes."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.core.quorum import Vote, needed, settled, verdict

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def vote(*, failing: bool, ago_s: float | None = 1) -> Vote:
    return Vote("eu", failing, None if ago_s is None else NOW - timedelta(seconds=ago_s))


BAD, GOOD = vote(failing=True), vote(failing=False)
SILENT, GONE, NOBODY = (
    vote(failing=False, ago_s=119),
    vote(failing=False, ago_s=121),
    vote(failing=True, ago_s=None),
)


@pytest.mark.parametrize(
    ("quorum", "voters", "expected"),
    [
        ("majority", 1, 1),
        ("majority", 2, 2),
        ("majority", 3, 2),
        ("majority", 4, 3),
        ("majority", 5, 3),
        ("any", 5, 1),
        ("all", 5, 5),
        ("2", 5, 2),
        ("9", 5, 5),
        ("0", 5, 1),
    ],
)
def test_how_many_failing_voters_it_takes(quorum: str, voters: int, expected: int) -> None:
    assert needed(quorum, voters) == expected


@pytest.mark.parametrize(
    ("votes", "down"),
    [
        pytest.param([BAD], True, id="the only location fails"),
        pytest.param([BAD, GOOD], False, id="one of two is not a majority"),
        pytest.param([BAD, BAD, GOOD], True, id="two of three are"),
        pytest.param([BAD, SILENT], False, id="a location silent for less than two minutes keeps the bar"),
        pytest.param([BAD, GONE], True, id="after two minutes it votes no more"),
        pytest.param([BAD, NOBODY], True, id="a location without a probe never votes"),
        pytest.param([GONE, NOBODY], None, id="without voters there is no verdict"),
        pytest.param([], None, id="without locations neither"),
    ],
)
def test_the_verdict(votes: list[Vote], *, down: bool | None) -> None:
    assert verdict(votes, "majority", NOW) is down


@pytest.mark.parametrize(
    ("started_ago_s", "votes", "may_open"),
    [
        pytest.param(
            31, [vote(failing=True), vote(failing=False, ago_s=60)], True, id="half a minute is over"
        ),
        pytest.param(5, [vote(failing=True)], True, id="all who were here are back"),
        pytest.param(
            5, [BAD, vote(failing=False, ago_s=60)], False, id="one seen just before is not back yet"
        ),
        pytest.param(
            5, [BAD, vote(failing=False, ago_s=300)], True, id="one that was gone already is not awaited"
        ),
        pytest.param(5, [BAD, NOBODY], True, id="one that never was is not awaited"),
    ],
)
def test_after_a_start_nothing_opens_before_the_others_are_back(
    started_ago_s: float, votes: list[Vote], *, may_open: bool
) -> None:
    assert settled(votes, NOW - timedelta(seconds=started_ago_s), NOW) is may_open
