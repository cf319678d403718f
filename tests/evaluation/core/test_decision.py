"""What a verdict means for the incident, and who hears of it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from collector.evaluation.core.decision import (
    Announcement,
    Decision,
    EvaluatedLocation,
    EvaluatedMonitor,
    IncidentAction,
    after,
    decide,
    goes_on,
    needs_surroundings,
)
from collector.evaluation.core.dependencies import Parents
from collector.evaluation.core.holds import MonitorContext
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak, StateChange

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
EARLIER = NOW - timedelta(seconds=9)
FIRST = NOW - timedelta(seconds=20)
SECOND = timedelta(seconds=1)


def monitor(*, down: bool = False, told: bool = False, silenced_s: int = 0) -> EvaluatedMonitor:
    until = NOW + timedelta(seconds=silenced_s) if silenced_s else None
    return EvaluatedMonitor("api", "majority", down, told, until)


def seen(
    *,
    failing: bool,
    since: datetime = FIRST,
    change: StateChange | None = None,
    error: str = "",
    at: datetime = NOW,
) -> EvaluatedLocation:
    state = CheckStreak(failing, 3, 0, since) if failing else CheckStreak()
    return EvaluatedLocation(
        Vote("eu", failing, at), state, change, EARLIER if change else None, int(failing), error
    )


def decided(
    before: EvaluatedMonitor, *places: EvaluatedLocation, started_at: datetime = LONG_AGO
) -> Decision:
    return decide(before, places, started_at, NOW)


@pytest.mark.parametrize(
    ("before", "failing", "deed", "tell"),
    [
        pytest.param(
            monitor(), True, IncidentAction.OPEN, Announcement.DOWN, id="going down opens and is told"
        ),
        pytest.param(monitor(), False, IncidentAction.NONE, Announcement.NOTHING, id="staying up is nothing"),
        pytest.param(
            monitor(down=True, told=True),
            True,
            IncidentAction.NONE,
            Announcement.NOTHING,
            id="staying down neither",
        ),
        pytest.param(
            monitor(down=True, told=True),
            False,
            IncidentAction.RESOLVE,
            Announcement.UP,
            id="coming up is told",
        ),
        pytest.param(
            monitor(silenced_s=9),
            True,
            IncidentAction.OPEN,
            Announcement.NOTHING,
            id="silenced: recorded, not told",
        ),
        pytest.param(
            monitor(down=True, silenced_s=9),
            False,
            IncidentAction.RESOLVE,
            Announcement.NOTHING,
            id="nobody was told, nobody is",
        ),
        pytest.param(
            monitor(down=True, told=True, silenced_s=9),
            False,
            IncidentAction.RESOLVE,
            Announcement.UP,
            id="who was told is told of the end, silenced or not",
        ),
        pytest.param(
            monitor(down=True, silenced_s=-9),
            True,
            IncidentAction.NONE,
            Announcement.DOWN,
            id="told when the silence is over",
        ),
    ],
)
def test_what_follows(
    before: EvaluatedMonitor, deed: IncidentAction, tell: Announcement, *, failing: bool
) -> None:
    decision = decided(before, seen(failing=failing))
    assert (decision.action, decision.announcement, decision.down) == (deed, tell, failing)


def test_an_outage_begins_with_the_first_failure_of_all_failing_locations() -> None:
    decision = decided(monitor(), seen(failing=True, since=EARLIER), seen(failing=True, since=FIRST))
    assert (decision.since, decision.failures) == (FIRST, 6)


def test_it_ends_with_the_check_that_recovered() -> None:
    decision = decided(monitor(down=True), seen(failing=False, change=StateChange.RECOVERED))
    assert decision.until == EARLIER
    assert decision.entries == (("location_recovered", "eu"),)


def test_a_failing_location_is_an_entry_with_its_error() -> None:
    decision = decided(monitor(), seen(failing=True, change=StateChange.FAILING, error="status 503"))
    assert decision.entries == (("location_failing", "eu: status 503"),)
    assert decision.error == "status 503"


def test_nothing_opens_while_a_started_collector_waits_for_the_others() -> None:
    away = EvaluatedLocation(Vote("us", failing=False, seen_at=NOW - timedelta(seconds=50)), CheckStreak())
    places = (seen(failing=True), seen(failing=True), away)
    assert decided(monitor(), *places, started_at=NOW - timedelta(seconds=5)).action is IncidentAction.NONE
    assert decided(monitor(), *places, started_at=NOW - timedelta(seconds=31)).action is IncidentAction.OPEN


@pytest.mark.parametrize(
    ("ago", "by", "same"),
    [
        pytest.param(timedelta(minutes=4), {"id": None}, True, id="System, just now"),
        pytest.param(timedelta(minutes=6), {"id": None}, False, id="System, too long ago"),
        pytest.param(timedelta(minutes=1), {"id": "usr_1"}, False, id="somebody resolved it"),
        pytest.param(None, None, False, id="it is still open"),
    ],
)
def test_which_incident_a_new_outage_belongs_to(
    ago: timedelta | None, by: dict[str, object] | None, *, same: bool
) -> None:
    assert goes_on(NOW - ago if ago else None, by, NOW) is same


def test_under_maintenance_it_is_down_without_an_incident_until_the_window_ends() -> None:
    until = NOW + timedelta(seconds=60)
    before = replace(monitor(), around=MonitorContext(maintenance_until=until))
    within = decided(before, seen(failing=True))
    assert (within.down, within.turned, within.action, within.announcement) == (
        True,
        True,
        IncidentAction.NONE,
        Announcement.NOTHING,
    )

    still = replace(after(before, within), around=MonitorContext(maintenance_until=until))
    assert decided(still, seen(failing=True)).action is IncidentAction.NONE

    ended = decide(after(before, within), [seen(failing=True, at=until)], LONG_AGO, until + 9 * SECOND)
    assert (ended.turned, ended.action, ended.announcement, ended.since) == (
        False,
        IncidentAction.OPEN,
        Announcement.DOWN,
        until,
    )
    assert after(before, ended).unrecorded_until is None


def test_what_recovers_within_the_window_leaves_nothing_behind() -> None:
    around = MonitorContext(maintenance_until=NOW + timedelta(seconds=60))
    down = after(monitor(), decided(replace(monitor(), around=around), seen(failing=True)))
    ended = decided(replace(down, around=around), seen(failing=False, change=StateChange.RECOVERED))
    assert (ended.action, ended.announcement, ended.unrecorded_until) == (
        IncidentAction.RESOLVE,
        Announcement.NOTHING,
        None,
    )


def test_an_incident_that_was_open_before_the_window_ends_and_is_told_within_it() -> None:
    around = MonitorContext(maintenance_until=NOW + timedelta(seconds=60))
    ended = decided(replace(monitor(down=True, told=True), around=around), seen(failing=False))
    assert (ended.action, ended.announcement) == (IncidentAction.RESOLVE, Announcement.UP)


@pytest.mark.parametrize("parents", [Parents.DOWN, Parents.AWAITED])
def test_while_a_parent_is_down_its_incident_is_recorded_and_nobody_is_told(parents: Parents) -> None:
    before = replace(monitor(), around=MonitorContext(parents=parents))
    held = decided(before, seen(failing=True))
    assert (held.action, held.announcement) == (IncidentAction.OPEN, Announcement.NOTHING)
    assert decided(after(before, held), seen(failing=True)).announcement is Announcement.DOWN


def test_some_failing_but_not_enough_is_degraded_until_they_recover() -> None:
    some = decided(monitor(), seen(failing=True), seen(failing=False), seen(failing=False))
    assert (some.action, some.degraded_since) == (IncidentAction.NONE, NOW)

    later = NOW + timedelta(minutes=1)
    places = [seen(failing=True, at=later), seen(failing=False, at=later), seen(failing=False, at=later)]
    assert decide(after(monitor(), some), places, LONG_AGO, later).degraded_since == NOW
    assert decided(after(monitor(), some), seen(failing=False)).degraded_since is None
    assert decided(after(monitor(), some), seen(failing=True), seen(failing=True)).degraded_since is None


def test_a_reopened_incident_is_told_again_and_its_end_once() -> None:
    owed = replace(monitor(down=True, told=True), reannounce=True)
    silenced = replace(owed, silenced_until=NOW + SECOND)
    assert decided(silenced, seen(failing=True)).announcement is Announcement.NOTHING
    decision = decided(owed, seen(failing=True))
    assert decision.announcement is Announcement.DOWN
    assert decided(after(owed, decision), seen(failing=True)).announcement is Announcement.NOTHING
    over = decided(silenced, seen(failing=False))
    assert (over.announcement, after(silenced, over).reannounce) == (Announcement.UP, False)


def test_nothing_changes_before_something_was_measured() -> None:
    unmeasured = replace(seen(failing=True), vote=Vote("eu", failing=True, seen_at=NOW, known=False))
    assert decided(monitor(), unmeasured).turned is False


def turn(monitor: EvaluatedMonitor, minute: float, *, down: bool) -> Decision:
    """What is decided so many minutes from now, when it turns."""
    now = NOW + timedelta(minutes=minute)
    return decide(monitor, [seen(failing=down, at=now, since=now)], LONG_AGO, now)


def flapped() -> tuple[EvaluatedMonitor, list[Decision]]:
    """A monitor that went down and up each minute, seven changes in all."""
    one, decisions = monitor(), []
    for minute in range(7):
        decisions.append(turn(one, minute, down=minute % 2 == 0))
        one = after(one, decisions[-1])
    return one, decisions


def test_more_than_six_changes_in_half_an_hour_are_flapping_and_told_no_more() -> None:
    monitor, decisions = flapped()
    assert [each.announcement for each in decisions] == [Announcement.DOWN, Announcement.UP] * 3 + [
        Announcement.NOTHING
    ]
    assert [each.action for each in decisions] == [IncidentAction.OPEN, IncidentAction.RESOLVE] * 3 + [
        IncidentAction.OPEN
    ]
    assert monitor.flapping_since == NOW + timedelta(minutes=6)
    for minute in range(7, 12):
        change = turn(monitor, minute, down=minute % 2 == 0)
        assert (change.turned, change.announcement) == (True, Announcement.NOTHING)
        assert change.action is not IncidentAction.RESOLVE
        monitor = after(monitor, change)


@pytest.mark.parametrize(
    ("down", "deed", "tell"),
    [
        pytest.param(True, IncidentAction.NONE, Announcement.DOWN, id="still bad: told then"),
        pytest.param(
            False,
            IncidentAction.RESOLVE,
            Announcement.NOTHING,
            id="well: the incident ends, and they heard of it",
        ),
    ],
)
def test_once_one_state_has_held_for_ten_minutes_it_is_told(
    deed: IncidentAction, tell: Announcement, *, down: bool
) -> None:
    monitor, _ = flapped()
    minute = 6 if down else 7
    if not down:
        monitor = after(monitor, turn(monitor, minute, down=False))
    assert turn(monitor, minute + 9.9, down=down).flapping_since is not None
    calm = turn(monitor, minute + 10, down=down)
    assert (calm.turned, calm.action, calm.announcement, calm.flapping_since) == (False, deed, tell, None)
    assert calm.until == NOW + timedelta(minutes=minute)
    assert turn(after(monitor, calm), minute + 11, down=down).action is IncidentAction.NONE


def test_who_heard_that_it_is_down_before_it_flapped_hears_of_the_end_once_it_is_calm() -> None:
    one = replace(monitor(down=True, told=True), turned_at=tuple(NOW for _ in range(6)))
    held = turn(one, 1, down=False)
    assert (held.action, held.announcement) == (IncidentAction.NONE, Announcement.NOTHING)
    assert turn(after(one, held), 12, down=False).announcement is Announcement.UP


def every_monitor() -> Iterator[EvaluatedMonitor]:
    """In each state that it can be in, and in some that it cannot."""
    moments = (None, EARLIER, NOW + SECOND)
    changes = ((), (LONG_AGO,), tuple(NOW - n * SECOND for n in range(7)))
    for down, told, owed in product((False, True), repeat=3):
        for silenced, unrecorded, flapping, turned_at in product(moments, moments, (None, FIRST), changes):
            yield EvaluatedMonitor(
                "api", "any", down, told, silenced, owed, unrecorded, None, flapping, turned_at
            )


@pytest.mark.parametrize("since", [None, EARLIER, LONG_AGO])
def test_what_surrounds_a_monitor_is_needed_exactly_where_something_would_happen(
    since: datetime | None,
) -> None:
    places = [
        (seen(failing=True),),
        (seen(failing=False, at=LONG_AGO),),
        (seen(failing=False), seen(failing=True, change=StateChange.FAILING, error="timeout")),
        (seen(failing=False, change=StateChange.RECOVERED),),
    ]
    needed = []
    for before, here in product(every_monitor(), places):
        decision = decide(before, here, since, NOW)
        acts = decision.action is not IncidentAction.NONE or decision.announcement is not Announcement.NOTHING
        needed.append(needs_surroundings(before, here, since, NOW))
        assert needed[-1] is acts
    assert {True, False} == set(needed)
