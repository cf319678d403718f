"""The table of holds, row by row, and what several of them come to."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from collector.evaluation.core.dependencies import Parents
from collector.evaluation.core.holds import (
    TABLE,
    AfterHold,
    Hold,
    MonitorContext,
    Reminders,
    allowed,
    holding,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER, BEFORE = NOW + timedelta(seconds=1), NOW


@pytest.mark.parametrize(
    ("hold", "incident", "openings", "reminders", "recovery", "after"),
    [
        # incident: may the verdict move, may one open, may System resolve it
        pytest.param(Hold.PAUSED, (0, 0, 0), False, Reminders.HELD, False, AfterHold.DECIDED, id="paused"),
        pytest.param(
            Hold.UNMEASURED, (0, 0, 0), False, Reminders.HELD, False, AfterHold.DECIDED, id="resumed"
        ),
        pytest.param(
            Hold.SILENCED, (1, 1, 1), False, Reminders.HELD, True, AfterHold.ANNOUNCED, id="silenced"
        ),
        pytest.param(
            Hold.MAINTENANCE, (1, 0, 1), False, Reminders.HELD, True, AfterHold.OPENED, id="maintenance"
        ),
        pytest.param(
            Hold.PARENT_DOWN, (1, 1, 1), False, Reminders.HELD, True, AfterHold.ANNOUNCED, id="parent down"
        ),
        pytest.param(
            Hold.PARENT_AWAITED,
            (1, 1, 1),
            False,
            Reminders.HELD,
            True,
            AfterHold.ANNOUNCED,
            id="parent awaited",
        ),
        pytest.param(
            Hold.FLAPPING, (1, 1, 0), False, Reminders.HELD, False, AfterHold.ANNOUNCED, id="flapping"
        ),
        pytest.param(
            Hold.ACKNOWLEDGED, (1, 1, 1), True, Reminders.STOP, True, AfterHold.NOTHING, id="acknowledged"
        ),
        pytest.param(
            Hold.RESOLVED_BY_HAND,
            (1, 0, 1),
            False,
            Reminders.AFRESH,
            True,
            AfterHold.REOPENED,
            id="resolved by hand while failing",
        ),
        pytest.param(
            Hold.NO_VOTERS, (0, 0, 0), False, Reminders.GO_ON, False, AfterHold.DECIDED, id="no voters"
        ),
    ],
)
def test_each_row(
    hold: Hold,
    incident: tuple[int, int, int],
    reminders: Reminders,
    after: AfterHold,
    *,
    openings: bool,
    recovery: bool,
) -> None:
    row = TABLE[hold]
    assert (row.moves, row.opens, row.resolves) == incident
    assert (row.openings, row.reminders, row.recovery, row.after) == (openings, reminders, recovery, after)


def test_every_hold_has_its_row() -> None:
    assert set(TABLE) == set(Hold)


@pytest.mark.parametrize(
    ("standing", "holds"),
    [
        pytest.param(MonitorContext(), (), id="nothing holds"),
        pytest.param(MonitorContext(paused=True, measured=False), (Hold.PAUSED,), id="paused"),
        pytest.param(MonitorContext(measured=False), (Hold.UNMEASURED,), id="resumed, and not measured yet"),
        pytest.param(MonitorContext(silenced_until=LATER), (Hold.SILENCED,), id="silenced"),
        pytest.param(MonitorContext(silenced_until=BEFORE), (), id="a silence ends at its end"),
        pytest.param(MonitorContext(maintenance_until=LATER), (Hold.MAINTENANCE,), id="maintenance"),
        pytest.param(MonitorContext(maintenance_until=BEFORE), (), id="so does a window"),
        pytest.param(MonitorContext(parents=Parents.DOWN), (Hold.PARENT_DOWN,), id="a parent is down"),
        pytest.param(
            MonitorContext(parents=Parents.AWAITED), (Hold.PARENT_AWAITED,), id="a parent is awaited"
        ),
        pytest.param(MonitorContext(flapping=True), (Hold.FLAPPING,), id="flapping"),
        pytest.param(MonitorContext(acknowledged=True), (Hold.ACKNOWLEDGED,), id="acknowledged"),
        pytest.param(MonitorContext(by_hand=True), (Hold.RESOLVED_BY_HAND,), id="resolved by hand"),
        pytest.param(MonitorContext(votes=False), (Hold.NO_VOTERS,), id="nobody votes"),
        pytest.param(
            MonitorContext(silenced_until=LATER, flapping=True),
            (Hold.SILENCED, Hold.FLAPPING),
            id="two at once",
        ),
    ],
)
def test_which_apply(standing: MonitorContext, holds: tuple[Hold, ...]) -> None:
    assert holding(standing, NOW) == holds


def test_several_allow_what_each_of_them_allows() -> None:
    for hold, other in product(Hold, Hold):
        both, rows = allowed((hold, other)), (TABLE[hold], TABLE[other])
        for name in ("moves", "opens", "resolves", "openings", "recovery"):
            assert getattr(both, name) is all(getattr(row, name) for row in rows)


def test_nothing_holds_nothing() -> None:
    free = allowed(())
    assert (free.moves, free.opens, free.resolves, free.openings, free.recovery) == (True,) * 5
    assert free.reminders is Reminders.GO_ON


def test_who_took_it_on_hears_no_reminders_whatever_else_holds() -> None:
    assert allowed((Hold.ACKNOWLEDGED, Hold.NO_VOTERS)).reminders is Reminders.STOP
    assert allowed((Hold.RESOLVED_BY_HAND, Hold.SILENCED)).reminders is Reminders.HELD
