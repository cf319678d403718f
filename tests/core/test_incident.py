"""What a verdict means for the incident, and who hears of it."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.core.incident import Decision, Deed, Monitor, Seen, Tell, decide, goes_on
from collector.core.quorum import Vote
from collector.core.state import Change, LocationState

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
EARLIER = NOW - timedelta(seconds=9)
FIRST = NOW - timedelta(seconds=20)


def monitor(*, down: bool = False, told: bool = False, silenced_s: int = 0) -> Monitor:
    until = NOW + timedelta(seconds=silenced_s) if silenced_s else None
    return Monitor("api", "majority", down, told, until)


def seen(*, failing: bool, since: datetime = FIRST, change: Change | None = None, error: str = "") -> Seen:
    state = LocationState(failing, 3, 0, since) if failing else LocationState()
    return Seen(Vote("eu", failing, NOW), state, change, EARLIER if change else None, int(failing), error)


def decided(before: Monitor, *places: Seen, started_at: datetime = LONG_AGO) -> Decision:
    return decide(before, places, started_at, NOW)


@pytest.mark.parametrize(
    ("before", "failing", "deed", "tell"),
    [
        pytest.param(monitor(), True, Deed.OPEN, Tell.DOWN, id="going down opens and is told"),
        pytest.param(monitor(), False, Deed.NONE, Tell.NOTHING, id="staying up is nothing"),
        pytest.param(monitor(down=True, told=True), True, Deed.NONE, Tell.NOTHING, id="staying down neither"),
        pytest.param(monitor(down=True, told=True), False, Deed.RESOLVE, Tell.UP, id="coming up is told"),
        pytest.param(monitor(silenced_s=9), True, Deed.OPEN, Tell.NOTHING, id="silenced: recorded, not told"),
        pytest.param(
            monitor(down=True, silenced_s=9),
            False,
            Deed.RESOLVE,
            Tell.NOTHING,
            id="nobody was told, nobody is",
        ),
        pytest.param(
            monitor(down=True, told=True, silenced_s=9),
            False,
            Deed.RESOLVE,
            Tell.UP,
            id="who was told is told of the end, silenced or not",
        ),
        pytest.param(
            monitor(down=True, silenced_s=-9), True, Deed.NONE, Tell.DOWN, id="told when the silence is over"
        ),
    ],
)
def test_what_follows(before: Monitor, deed: Deed, tell: Tell, *, failing: bool) -> None:
    decision = decided(before, seen(failing=failing))
    assert (decision.deed, decision.tell, decision.down) == (deed, tell, failing)


def test_an_outage_begins_with_the_first_failure_of_all_failing_locations() -> None:
    decision = decided(monitor(), seen(failing=True, since=EARLIER), seen(failing=True, since=FIRST))
    assert (decision.since, decision.failures) == (FIRST, 6)


def test_it_ends_with_the_check_that_recovered() -> None:
    decision = decided(monitor(down=True), seen(failing=False, change=Change.RECOVERED))
    assert decision.until == EARLIER
    assert decision.entries == (("location_recovered", "eu"),)


def test_a_failing_location_is_an_entry_with_its_error() -> None:
    decision = decided(monitor(), seen(failing=True, change=Change.FAILING, error="status 503"))
    assert decision.entries == (("location_failing", "eu: status 503"),)
    assert decision.error == "status 503"


def test_nothing_opens_while_a_started_collector_waits_for_the_others() -> None:
    away = Seen(Vote("us", failing=False, seen_at=NOW - timedelta(seconds=50)), LocationState())
    places = (seen(failing=True), seen(failing=True), away)
    assert decided(monitor(), *places, started_at=NOW - timedelta(seconds=5)).deed is Deed.NONE
    assert decided(monitor(), *places, started_at=NOW - timedelta(seconds=31)).deed is Deed.OPEN


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
