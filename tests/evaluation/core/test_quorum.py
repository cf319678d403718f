"""Who votes, and how many it takes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from collector.evaluation.core.quorum import Vote, failing, needed, outlived, settled, verdict, vouched

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def vote(*, failing: bool, ago_s: float | None = 1) -> Vote:
    return Vote("eu", failing, None if ago_s is None else NOW - timedelta(seconds=ago_s))


BAD, GOOD = vote(failing=True), vote(failing=False)
STALE_BAD, STALE_GOOD = replace(BAD, stale=True), replace(GOOD, stale=True)
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


@pytest.mark.parametrize(
    ("votes", "goes_down", "stays_down"),
    [
        pytest.param([STALE_BAD], False, True, id="alone it opens nothing and ends nothing"),
        pytest.param([STALE_BAD, BAD, GOOD], False, True, id="nor is it the second of three"),
        pytest.param([STALE_BAD, BAD, BAD], True, True, id="two others need it not"),
        pytest.param([STALE_BAD, BAD], False, True, id="it counts in the bar"),
        pytest.param([STALE_BAD, GOOD, GOOD], False, False, id="enough know it to be well"),
        pytest.param([STALE_GOOD, BAD], False, False, id="well or not"),
    ],
)
def test_what_was_known_before_a_silence_takes_down_nothing(
    votes: list[Vote], *, goes_down: bool, stays_down: bool
) -> None:
    assert verdict(votes, "majority", NOW) is goes_down
    assert verdict(votes, "majority", NOW, down=True) is stays_down


def test_what_was_known_before_a_silence_neither_fails_nor_vouches() -> None:
    assert not failing([STALE_BAD], NOW)
    assert not vouched([STALE_BAD, STALE_GOOD, BAD], NOW)
    assert vouched([STALE_GOOD, GOOD], NOW)


@pytest.mark.parametrize(
    ("known_ago_s", "seen_ago_s", "apart_s", "old"),
    [
        pytest.param(60, 1, 85, False, id="checked a minute ago"),
        pytest.param(121, 1, 85, False, id="before it was silent for two minutes"),
        pytest.param(122, 1, 85, True, id="for more"),
        pytest.param(200, 100, 85, False, id="what it knew when it fell silent"),
        pytest.param(40_000, 1, 86_425, False, id="it checks once a day"),
        pytest.param(90_000, 1, 86_425, True, id="and missed one"),
        pytest.param(None, 1, 85, True, id="nothing is known"),
        pytest.param(-60, 1, 85, False, id="a clock was set back"),
        pytest.param(9999, None, 85, False, id="nobody checks there"),
    ],
)
def test_what_is_too_old_to_vote(
    known_ago_s: int | None, seen_ago_s: int | None, apart_s: int, *, old: bool
) -> None:
    known, seen = (None if s is None else NOW - timedelta(seconds=s) for s in (known_ago_s, seen_ago_s))
    assert outlived(known, seen, timedelta(seconds=apart_s)) is old
