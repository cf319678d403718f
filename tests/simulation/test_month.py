"""A month of a thousand monitors: no incident is false, and every outage that can be seen is found once."""

import sys
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulation.chance import Losses
from tests.simulation.month import Month
from tests.simulation.place import TIMEOUT, Place
from tests.simulation.run import run
from tests.simulation.script import DAY, MINUTE, SECOND, Spans, Wall, written

pytestmark = pytest.mark.races

SEED = 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_month_of_trouble_raises_no_false_incident_and_hides_no_outage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = run(written(SEED, 30), 1000)

    with capsys.disabled():
        sys.stdout.write("\n".join(["", *tally.lines(), ""]))
    assert tally.monitors == 1000
    assert tally.due > 1500
    assert not tally.false
    assert not tally.missed
    assert not tally.again
    assert not tally.wrong
    # From the first failed check to the incident.
    assert median(tally.waits[False]) < 8 * SECOND
    assert median(tally.waits[True]) < 3 * TIMEOUT + 5 * SECOND


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("loss", [0.02, 0.3])
def test_leaping_over_checks_comes_to_the_same_as_taking_every_step(*, blind: bool, loss: float) -> None:
    script = written(2, 2 if loss < 0.1 else 1, loss=loss, partial=0.3, blind=blind)
    for number in (1, 2):
        leaping, stepping = Month(script, number), Month(script, number, stepwise=True)

        assert leaping.run() == stepping.run()
        assert leaping.judge.monitor == stepping.judge.monitor
        assert [_stands(place) for place in leaping.places] == [_stands(place) for place in stepping.places]
        assert leaping.checks < stepping.checks


def _stands(place: Place) -> tuple[object, ...]:
    began = place.began if place.state.fails else None
    return place.state.failing, place.state.failed_since, began, place.streak.settled


def test_the_same_seed_makes_the_same_month() -> None:
    first, again = (Month(written(5, 3, loss=0.2), 1).run() for _ in range(2))

    assert first == again
    assert first


def test_checks_are_lost_as_often_as_they_should_be() -> None:
    losses = Losses(1, 1, 1, 0.02)
    numbers = []
    while losses.next < 1_000_000:
        numbers.append(losses.next)
        losses.move(losses.next)
    extras = sum(losses.extra(start) for start in range(0, 10**11, 10**6))

    assert 19_400 < len(numbers) < 20_600
    assert 1_850 < extras < 2_150
    # Whether a check is lost says nothing of the next one.
    assert 330 < sum(after - before == 1 for before, after in pairwise(numbers)) < 470


def test_no_loss_is_ever_drawn_where_none_is_asked_for() -> None:
    losses = Losses(1, 1, 1, 0.0)

    assert losses.next > 10**15
    assert not any(losses.extra(start) for start in range(1000))


@given(st.lists(st.integers(0, 50), max_size=8, unique=True), st.integers(-1, 51))
@settings(deadline=None)
def test_spans_are_asked_right(edges: list[int], at: int) -> None:
    edges = sorted(edges)[: len(edges) // 2 * 2]
    pairs = list(zip(edges[::2], edges[1::2], strict=True))
    spans = Spans(pairs)

    assert spans.holds(at) == any(start <= at < end for start, end in pairs)
    later = [max(start, at) for start, end in pairs if end > at]
    assert spans.soonest(at) == (min(later) if later else None)


def test_a_script_has_what_it_promises() -> None:
    script = written(3, 30)

    cut = [end - start for spans in script.cut for start, end in zip(spans.starts, spans.ends, strict=True)]
    assert cut == [60 * MINUTE] * 30
    assert len(script.up.starts) == 31
    assert sum(len(spans.starts) - 1 for spans in script.running) >= 25
    assert all(len(wall.edges) >= 18 for wall in (*script.walls, script.clock))
    assert script.until == 30 * DAY


def test_a_wall_clock_shows_what_it_was_set_to() -> None:
    wall = Wall([(10 * SECOND, 60 * SECOND), (20 * SECOND, -60 * SECOND)])

    assert [wall.offset(at * SECOND) for at in (9, 10, 19, 20)] == [0, 60 * SECOND, 60 * SECOND, 0]
    assert wall.moment(9 * SECOND) < wall.moment(20 * SECOND) < wall.moment(19 * SECOND)
