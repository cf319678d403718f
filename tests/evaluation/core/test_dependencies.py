"""Whose trouble it is: a child's own, its parent's, or not yet known."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from collector.evaluation.core.dependencies import DownChild, ParentLocation, Parents, ParentState, verdict
from collector.evaluation.core.quorum import Vote

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
FAILED, TURNED = NOW - 4 * SECOND, NOW - SECOND
CHILD = DownChild(since=FAILED, turned_at=TURNED, measured_at=TURNED)


def at(*, checked_s: float | None = 1, fails: int = 0, heard_s: float = 1) -> ParentLocation:
    """Checked, and its probe heard, so many seconds ago."""
    last_at = None if checked_s is None else NOW - checked_s * SECOND
    return ParentLocation(Vote("eu", fails >= 3, NOW - heard_s * SECOND, last_at is not None), fails, last_at)


def parent(
    *places: ParentLocation,
    down: bool = False,
    paused: bool = False,
    turned_s: float | None = None,
    quorum: str = "majority",
) -> ParentState:
    turned_at = None if turned_s is None else NOW - turned_s * SECOND
    return ParentState(UUID(int=1), "gateway", quorum, down, paused, turned_at, None, places or (at(),))


@pytest.mark.parametrize(
    ("parents", "says"),
    [
        pytest.param([], Parents.WELL, id="it depends on nothing"),
        pytest.param([parent()], Parents.WELL, id="checked since, and well"),
        pytest.param([parent(down=True)], Parents.DOWN, id="down"),
        pytest.param([parent(), parent(down=True)], Parents.DOWN, id="one of them is down"),
        pytest.param([parent(down=True, paused=True)], Parents.WELL, id="a paused one says nothing"),
        pytest.param([parent(at(checked_s=30))], Parents.AWAITED, id="not checked since the child failed"),
        pytest.param([parent(at(checked_s=None))], Parents.AWAITED, id="never checked"),
        pytest.param([parent(at(fails=1))], Parents.AWAITED, id="failing too, and not confirmed"),
        pytest.param([parent(at(checked_s=30, heard_s=300))], Parents.WELL, id="no voters: nobody will say"),
        pytest.param(
            [parent(at(), at(), at(fails=1))], Parents.WELL, id="one of three failing cannot take it down"
        ),
        pytest.param([parent(at(), at(fails=1), at(checked_s=30))], Parents.AWAITED, id="two of three might"),
        pytest.param([parent(at(), at(fails=1), quorum="any")], Parents.AWAITED, id="any might"),
        pytest.param([parent(turned_s=2)], Parents.WELL, id="up again, and the child was checked since"),
        pytest.param([parent(turned_s=0.5)], Parents.AWAITED, id="up again, and the child was not"),
    ],
)
def test_what_the_parents_say(parents: list[ParentState], says: Parents) -> None:
    assert verdict(CHILD, parents, NOW) is says


@pytest.mark.parametrize(("waited_s", "says"), [(14, Parents.AWAITED), (15, Parents.WELL)])
def test_nobody_waits_longer_than_fifteen_seconds_for_a_verdict(waited_s: int, says: Parents) -> None:
    child = DownChild(FAILED - 20 * SECOND, NOW - waited_s * SECOND, NOW)
    assert verdict(child, [parent(at(checked_s=300))], NOW) is says


@pytest.mark.parametrize(("up_s", "says"), [(59, Parents.AWAITED), (60, Parents.WELL)])
def test_nor_longer_than_a_minute_for_a_check_after_the_parent_came_up(up_s: int, says: Parents) -> None:
    child = DownChild(NOW - 600 * SECOND, NOW - 590 * SECOND, NOW - 100 * SECOND)
    assert verdict(child, [parent(turned_s=up_s)], NOW) is says
