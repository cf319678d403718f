"""Line charts: round axes, gaps where nothing was measured, a text for each step."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.console import line_charts
from collector.console.line_charts import ChartSpan, Series

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def series(*values: float | None, joined: timedelta = 15 * MINUTE, pointed: bool = False) -> Series:
    """A value every ten minutes since START."""
    timed = [(START + 10 * MINUTE * at, value) for at, value in enumerate(values)]
    return Series(label="Median", style="p50", values=timed, joined=joined, pointed=pointed)


def test_without_a_value_there_is_no_chart() -> None:
    assert line_charts.draw(START, START + HOUR, [series(None, None)]) is None
    assert line_charts.draw(START, START + HOUR, []) is None


@pytest.mark.parametrize(
    ("highest", "labels"),
    [
        (83.0, ["0", "50 ms", "100 ms"]),
        (200.0, ["0", "50 ms", "100 ms", "150 ms", "200 ms"]),
        (0.3, ["0", "0.1 ms", "0.2 ms", "0.3 ms"]),
        (3_100.0, ["0", "1 s", "2 s", "3 s", "4 s"]),
        (0.0, ["0", "0.1 ms"]),
    ],
)
def test_the_value_axis_has_round_numbers_with_their_unit(highest: float, labels: list[str]) -> None:
    drawn = line_charts.draw(START, START + HOUR, [series(highest)])

    assert drawn is not None
    assert [label.text for label in drawn.values] == labels
    assert [float(drawn.values[at].place) for at in (0, -1)] == [line_charts.HEIGHT, 0]


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (HOUR, ["07:10", "07:20", "07:30", "07:40", "07:50"]),
        (24 * HOUR, ["08:00", "12:00", "16:00", "20:00", "00:00", "04:00"]),
        (7 * 24 * HOUR, ["22 Nov", "23 Nov", "24 Nov", "25 Nov", "26 Nov", "27 Nov", "28 Nov"]),
    ],
)
def test_the_time_axis_has_round_times(length: timedelta, labels: list[str]) -> None:
    drawn = line_charts.draw(START, START + length, [series(1.0)])

    assert drawn is not None
    assert [label.text for label in drawn.times] == labels


def test_a_line_has_a_gap_where_nothing_was_measured_and_a_lone_value_is_a_point() -> None:
    drawn = line_charts.draw(START, START + HOUR, [series(100.0, 50.0, None, 25.0, None, 0.0, 100.0)])

    assert drawn is not None
    assert drawn.paths[0].line == "M0.0 0L120.0 80M360.0 120M600.0 160L720.0 0"
    assert drawn.paths[0].points == "M360.0 120h0"


def test_values_that_are_due_rarely_are_joined() -> None:
    drawn = line_charts.draw(START, START + HOUR, [series(100.0, None, 50.0, joined=25 * MINUTE)])

    assert drawn is not None
    assert drawn.paths[0].line == "M0.0 0L240.0 80"
    assert drawn.paths[0].points == ""


def test_single_checks_are_points_on_their_line() -> None:
    drawn = line_charts.draw(START, START + HOUR, [series(100.0, 50.0, pointed=True)])

    assert drawn is not None
    assert drawn.paths[0].points == "M0.0 0h0M120.0 80h0"


def test_a_band_is_cut_to_the_window_and_a_short_one_stays_visible() -> None:
    long = ChartSpan(START - HOUR, START + 30 * MINUTE, "Down for 1 h 30 min", "down")
    short = ChartSpan(START + 45 * MINUTE, START + 45 * MINUTE, "Down for 0 s", "down")
    drawn = line_charts.draw(START, START + HOUR, [series(1.0)], [long, short])

    assert drawn is not None
    assert [(box.x, box.width) for box in drawn.bands] == [("0.0", "360.0"), ("540.0", "1.5")]
    assert long.title == "21 Nov, 06:00 to 07:30 UTC\nDown for 1 h 30 min"


def test_moments_reach_halfway_to_their_neighbours() -> None:
    stretches = line_charts.around(
        [(START + 10 * MINUTE, "a"), (START + 30 * MINUTE, "b")], START, START + HOUR
    )

    assert [(stretch.since, stretch.until) for stretch in stretches] == [
        (START, START + 20 * MINUTE),
        (START + 20 * MINUTE, START + HOUR),
    ]
    assert stretches[0].title == "21 Nov, 07:10:00 UTC\na"


def test_areas_stand_upon_each_other_and_an_absent_part_takes_no_room() -> None:
    parts = [(START, {"dns": 10.0, "connect": 30.0}), (START + HOUR, {"connect": 40.0})]
    drawn = line_charts.stack(parts, {"dns": "DNS", "connect": "connect", "tls": "TLS"})

    assert drawn is not None
    assert drawn.highest == 40.0
    assert [(path.style, path.line) for path in drawn.paths] == [
        ("dns", "M0.0 120L720.0 160L720.0 160L0.0 160z"),
        ("connect", "M0.0 0L720.0 0L720.0 160L0.0 120z"),
    ]
    assert drawn.steps[0].of.text == "DNS 10 ms\nconnect 30 ms"
    assert line_charts.stack(parts[:1], {"dns": "DNS"}) is None
    assert line_charts.stack([(START, {}), (START + HOUR, {})], {"dns": "DNS"}) is None
