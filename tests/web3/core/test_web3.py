"""What becomes of a crossed threshold: a sentence a row."""

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from collector.evaluation.core.holds import AllowedEffects, Hold, allowed
from collector.web3.core.web3 import ChainAlert, ChainAnnouncement, due, passes, raised, recovered
from shared.clock import EPOCH

AT = EPOCH + timedelta(days=1)
LATER = AT + timedelta(minutes=1)
FREE = allowed(())
SILENT = allowed((Hold.SILENCED,))
PAUSED = allowed((Hold.PAUSED,))


def crossed(*locations: int, told_at: datetime | None = None) -> ChainAlert:
    return ChainAlert(locations, AT, {"current": "2"}, told_at=told_at)


def test_the_first_location_makes_it_and_the_last_ends_it() -> None:
    alert = raised(None, 2, {"current": "2"}, AT)
    both = raised(alert, 1, {"current": "3"}, LATER)
    assert (both.locations, both.raised_at, both.data) == ((1, 2), AT, {"current": "2"})
    left = recovered(both, 2, {})
    assert left is not None
    assert (left.locations, left.recovery) == ((1,), None)
    over = recovered(left, 1, {"current": "1"})
    assert over is not None
    assert (over.locations, over.recovery) == ((), {"current": "1"})


def test_what_is_known_is_no_news() -> None:
    alert = crossed(1)
    assert raised(alert, 1, {"current": "9"}, LATER) is alert
    assert recovered(alert, 2, {}) is alert
    assert recovered(None, 1, {}) is None


def test_each_edge_is_told_once() -> None:
    assert due(crossed(1), FREE, LATER) == (ChainAnnouncement.RAISED, crossed(1, told_at=LATER))
    assert due(crossed(1, told_at=AT), FREE, LATER) == (ChainAnnouncement.NOTHING, crossed(1, told_at=AT))
    assert due(crossed(told_at=AT), FREE, LATER) == (ChainAnnouncement.RECOVERED, None)
    assert due(crossed(), FREE, LATER) == (ChainAnnouncement.BOTH, None)


def test_what_is_held_waits_and_what_came_back_meanwhile_is_told_to_nobody() -> None:
    assert due(crossed(1), SILENT, LATER) == (ChainAnnouncement.NOTHING, crossed(1))
    assert due(crossed(), SILENT, LATER) == (ChainAnnouncement.NOTHING, None)
    assert due(crossed(told_at=AT), SILENT, LATER) == (ChainAnnouncement.RECOVERED, None)
    assert due(crossed(told_at=AT), PAUSED, LATER) == (ChainAnnouncement.NOTHING, crossed(told_at=AT))


def test_logs_are_passed_over_only_where_somebody_wants_no_news_or_a_parent_is_down() -> None:
    assert [hold for hold in Hold if passes([hold])] == [Hold.SILENCED, Hold.MAINTENANCE, Hold.PARENT_DOWN]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["raised", "recovered"]), st.integers(1, 3)),
            st.sampled_from([FREE, SILENT, PAUSED]),
        )
    )
)
def test_what_is_told_alternates_and_ends_as_it_is(deeds: list[tuple[str, int] | AllowedEffects]) -> None:
    alert: ChainAlert | None = None
    holding: set[int] = set()
    lines: list[str] = []
    for deed in [*deeds, FREE]:
        if isinstance(deed, AllowedEffects):
            if alert is not None:
                announcement, alert = due(alert, deed, AT)
                lines += {
                    ChainAnnouncement.NOTHING: [],
                    ChainAnnouncement.RAISED: ["raised"],
                    ChainAnnouncement.RECOVERED: ["recovered"],
                    ChainAnnouncement.BOTH: ["raised", "recovered"],
                }[announcement]
        elif deed[0] == "raised":
            holding.add(deed[1])
            alert = raised(alert, deed[1], {}, AT)
        else:
            holding.discard(deed[1])
            alert = recovered(alert, deed[1], {})
    assert all(text != other for text, other in pairwise(lines))
    assert lines[:1] in ([], ["raised"])
    assert (lines[-1:] == ["raised"]) == bool(holding)
    assert (alert is not None) == bool(holding)
