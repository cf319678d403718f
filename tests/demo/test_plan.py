"""What the demonstration plans: a fleet of every kind, and a past that can have happened."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Final

from collector.demo.core import fleet, numbers, past, setup
from collector.demo.core.past import ResponseTimes
from shared.kinds import TYPES

NOW: Final = datetime(2026, 3, 1, 12, 34, 56, tzinfo=UTC)
DAY: Final = timedelta(days=1)


def test_the_fleet_is_of_every_kind_and_each_name_is_given_once() -> None:
    made = fleet.monitors(Random(1))

    assert len(made) == fleet.MONITORS
    assert {monitor.type for monitor in made} == set(TYPES)
    assert len({monitor.name for monitor in made}) == len(made)
    assert made == fleet.monitors(Random(1))


def test_outages_of_a_monitor_do_not_touch_and_lie_within_the_history() -> None:
    planned = fleet.monitors(Random(1))
    spans = defaultdict(list)
    for trouble in past.troubles(planned, NOW, Random(1)):
        spans[trouble.monitor.name].append((trouble.started_at, trouble.ended_at or NOW))

    for of_one in spans.values():
        assert all(NOW - past.HISTORY < since < until <= NOW for since, until in of_one)
        assert all(until < since for (_, until), (since, _) in pairwise(of_one))


def test_a_slow_week_is_slow_and_over() -> None:
    [monitor] = [one for one in fleet.monitors(Random(1)) if one.name == "Invoices API"]
    times = ResponseTimes(past.slow_times(NOW))

    usual, slow = (times.mean_ms(monitor, NOW - days * DAY, "frankfurt") for days in (30, 40))

    assert slow > 2 * usual


def test_an_hour_counts_its_outage_and_leaves_maintenance_out() -> None:
    monitor = fleet.monitors(Random(1))[0]
    hour = NOW.replace(minute=0, second=0), NOW.replace(hour=13, minute=0, second=0)
    since = numbers.ms_of(hour[0])
    down, away = [(since + 600_000, since + 1_200_000)], [(since + 3_000_000, since + 9_000_000)]

    row = numbers.of_span(monitor, (7, "frankfurt"), hour, down, away, ResponseTimes([]), Random(1))
    whole = numbers.together([row], down)

    assert (row.known_ms, row.down_ms) == (3_000_000, 600_000)
    assert row.checks == row.good + row.failed == 3600 // monitor.interval_s
    assert row.failed == round(row.checks / 6)
    assert sum(row.counts) == row.answers == row.good
    assert list(row.buckets) == sorted(set(row.buckets))
    assert whole == row._replace(location=0)


def test_news_of_the_status_page_are_older_than_their_updates() -> None:
    for ago, _, updates in setup.page_incidents(NOW):
        assert [later for later, _, _ in updates] == sorted(later for later, _, _ in updates)
        assert all(later < ago for later, _, _ in updates)
