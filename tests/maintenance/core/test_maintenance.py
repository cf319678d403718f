"""A window keeps the time of its clock, whatever daylight saving does, and lays its spans in pieces."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.maintenance.core.windows import (
    SHOWN,
    Schedule,
    Selection,
    WindowSpan,
    from_now,
    lay,
    local,
    moment,
    occurrences,
    status,
)

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Asia/Kolkata",
    "UTC",
)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOW = datetime(2026, 11, 21, 16, tzinfo=UTC)


def schedule(
    start: str, zone: str = "UTC", rrule: str | None = None, hours: float = 1, *exdates: str
) -> Schedule:
    at = datetime.fromisoformat(start)
    return Schedule(
        starts_at=moment(at, ZoneInfo(zone)),
        starts_local=at,
        duration=timedelta(hours=hours),
        timezone=zone,
        rrule=rrule,
        exdates=[date.fromisoformat(day) for day in exdates],
    )


def starts(window: Schedule, most: int) -> list[str]:
    found = islice(occurrences(window, window.starts_local), most)
    return [span.starts_at.strftime("%m-%dT%H:%MZ") for _, span in found]


@pytest.mark.parametrize(
    ("start", "zone", "expected"),
    [
        pytest.param(
            "2026-03-28T02:30", "Europe/Berlin", ["03-28T01:30Z", "03-29T01:30Z", "03-30T00:30Z"],
            id="Berlin in spring: 02:30 does not come, it is 03:30",
        ),
        pytest.param(
            "2026-10-24T02:30", "Europe/Berlin", ["10-24T00:30Z", "10-25T00:30Z", "10-26T01:30Z"],
            id="Berlin in autumn: 02:30 comes twice, the first counts",
        ),
        pytest.param(
            "2026-03-07T02:30", "America/New_York", ["03-07T07:30Z", "03-08T07:30Z", "03-09T06:30Z"],
            id="New York in spring",
        ),
        pytest.param(
            "2026-10-31T01:30", "America/New_York", ["10-31T05:30Z", "11-01T05:30Z", "11-02T06:30Z"],
            id="New York in autumn",
        ),
        pytest.param(
            "2026-10-03T02:15", "Australia/Lord_Howe", ["10-02T15:45Z", "10-03T15:45Z", "10-04T15:15Z"],
            id="Lord Howe in spring: half an hour, 02:15 is 02:45",
        ),
        pytest.param(
            "2026-04-04T01:45", "Australia/Lord_Howe", ["04-03T14:45Z", "04-04T14:45Z", "04-05T15:15Z"],
            id="Lord Howe in autumn",
        ),
    ],
)  # fmt: skip
def test_the_wall_clock_is_kept_when_it_is_put_forward_or_back(
    start: str, zone: str, expected: list[str]
) -> None:
    assert starts(schedule(start, zone, "FREQ=DAILY"), 3) == expected


def _walked(at: datetime, zone: ZoneInfo) -> datetime:
    """The moment of a local time, found by watching the clock of *zone* minute by minute."""
    from_ = at.replace(tzinfo=UTC) - 16 * HOUR
    watched = [(from_ + n * MINUTE, local(from_ + n * MINUTE, zone)) for n in range(32 * 60)]
    for when, shown in watched:
        if shown == at:
            return when
    [(before, after)] = [(one[1], other[1]) for one, other in pairwise(watched) if one[1] < at < other[1]]
    later = at + (after - before - MINUTE)
    return next(when for when, shown in watched if shown == later)


@settings(max_examples=60, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    day=st.one_of(
        st.integers(0, 730),
        # Days around the changes of all these zones, 2026.
        st.sampled_from([65, 66, 67, 86, 87, 88, 93, 94, 95, 275, 276, 277, 296, 297, 298, 303, 304, 305]),
    ),
    minute=st.one_of(st.integers(0, 24 * 60 - 1), st.integers(60, 4 * 60)),
)
def test_moments_are_those_of_somebody_who_watches_the_clock(zone: str, day: int, minute: int) -> None:
    at = datetime(2026, 1, 1) + day * DAY + minute * MINUTE  # noqa: DTZ001 - local time
    assert moment(at, ZoneInfo(zone)) == _walked(at, ZoneInfo(zone))


def test_a_duration_is_of_time_that_passes() -> None:
    [(_, night)] = occurrences(schedule("2026-03-29T01:00", "Europe/Berlin", hours=3), datetime.min)  # noqa: DTZ901
    assert local(night.ends_at, ZoneInfo("Europe/Berlin")).hour == 5


def test_the_second_of_two_equal_times_is_kept_when_it_was_meant() -> None:
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    window = schedule("2026-10-25T02:30", "Europe/Berlin", "FREQ=DAILY;COUNT=2")
    window = Schedule(second, window.starts_local, HOUR, window.timezone, window.rrule, [])
    assert starts(window, 2) == ["10-25T01:30Z", "10-26T01:30Z"]


def test_an_end_by_the_world_and_one_by_the_clock() -> None:
    assert starts(
        schedule("2026-12-01T23:30", "America/New_York", "FREQ=DAILY;UNTIL=20261203T043000Z"), 9
    ) == [
        "12-02T04:30Z",
        "12-03T04:30Z",
    ]
    assert starts(schedule("2026-12-01T23:30", "America/New_York", "FREQ=DAILY;UNTIL=20261202"), 9) == [
        "12-02T04:30Z",
        "12-03T04:30Z",
    ]


def test_days_may_be_left_out_and_count_all_the_same() -> None:
    window = schedule("2026-12-23T22:00", "Europe/Berlin", "FREQ=DAILY;COUNT=4", 1, "2026-12-24")
    assert starts(window, 9) == ["12-23T21:00Z", "12-25T21:00Z", "12-26T21:00Z"]


@pytest.mark.parametrize(
    ("rrule", "count"),
    [("FREQ=HOURLY", 100), ("FREQ=DAILY", 35), ("FREQ=YEARLY", SHOWN), ("FREQ=DAILY;COUNT=3", 3)],
)
def test_spans_are_laid_some_weeks_ahead_and_at_least_a_few(rrule: str, count: int) -> None:
    laid = lay(schedule("2026-11-21T17:00", rrule=rrule), None, NOW)
    assert len(laid.spans) == count
    if rrule.endswith("COUNT=3"):
        assert laid.extend_at is laid.until is None
    else:
        assert laid.extend_at == laid.spans[-SHOWN].starts_at


@settings(max_examples=50, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    rrule=st.sampled_from(
        [
            "FREQ=HOURLY", "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30", "FREQ=WEEKLY;BYDAY=SU,MO",
            "FREQ=MONTHLY;BYDAY=-1SU", "FREQ=DAILY;COUNT=300", "FREQ=DAILY;UNTIL=20270401T020000Z",
        ]
    ),
    gaps=st.lists(st.integers(0, 60), min_size=1, max_size=8),
)  # fmt: skip
def test_laid_in_pieces_it_is_as_laid_at_once(zone: str, rrule: str, gaps: list[int]) -> None:
    """However long nobody was there to lay more: what began meanwhile is laid late."""
    window, now = schedule("2026-02-20T02:30", zone, rrule), datetime(2026, 2, 1, tzinfo=UTC)
    laid = lay(window, None, now)
    spans = list(laid.spans)
    for gap in gaps:
        now += gap * DAY
        while laid.extend_at is not None and laid.extend_at <= now:
            laid = lay(window, laid.until, now)
            spans += laid.spans
    assert spans == [span for _, span in islice(occurrences(window, window.starts_local), len(spans))]
    assert laid.extend_at is None or sum(span.ends_at > now for span in spans) >= SHOWN


def test_what_was_over_before_counts_only_where_it_was_meant() -> None:
    once = schedule("2026-11-20T10:00", hours=2)
    assert [span.starts_at.day for span in lay(once, None, NOW).spans] == [20]
    daily = schedule("2026-11-01T15:30", rrule="FREQ=DAILY;COUNT=22")
    assert [span.starts_at.day for span in lay(daily, None, NOW).spans] == [21, 22]


def test_what_is_under_way_begins_anew_when_a_window_is_changed() -> None:
    spans = [
        WindowSpan(NOW + begin * HOUR, NOW + end * HOUR)
        for begin, end in [(-9, -8), (-2, 1), (-1, 2), (0, 1), (3, 4)]
    ]
    assert from_now(spans, NOW) == [WindowSpan(NOW, NOW + 2 * HOUR), spans[-1]]
    assert from_now(spans[:1], NOW) == []


@pytest.mark.parametrize(
    ("spans", "enabled", "expected"),
    [
        ([], True, "ended"),
        ([WindowSpan(NOW, NOW + HOUR)], True, "active"),
        ([WindowSpan(NOW + HOUR, NOW + 2 * HOUR)], True, "scheduled"),
        ([], False, "disabled"),
    ],
)
def test_how_a_window_stands(spans: list[WindowSpan], enabled: bool, expected: str) -> None:
    assert status(spans, NOW, enabled=enabled) == expected


def test_tags_of_an_object_go_together_and_those_of_a_list_do_not() -> None:
    both = Selection(False, [uuid4()], {"env": "prod", "tier": "1"})
    assert (both.names, both.pairs) == ([], [{"env": "prod", "tier": "1"}])
    any_ = Selection(False, [], ["env:prod", "legacy", "url:a:b"])
    assert (any_.names, any_.pairs) == (["legacy"], [{"env": "prod"}, {"url": "a:b"}])
    none = Selection(True, [], {})
    assert (none.names, none.pairs) == ([], [])
