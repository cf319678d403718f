"""Only listened time counts against a sender."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.platform.deadlines import deadline, unheard

T0 = datetime(2026, 11, 21, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR, GRACE = 60 * MINUTE, 5 * MINUTE


def at(minute: float) -> datetime:
    return T0 + minute * MINUTE


@pytest.mark.parametrize(
    ("deaf", "due"),
    [
        pytest.param([], 65, id="the wait and the grace"),
        pytest.param([(10, 20)], 80, id="ten deaf minutes extend it by ten, and one grace"),
        pytest.param([(10, 20), (30, 40)], 90, id="several by their sum, and one grace"),
        pytest.param([(10, 20), (15, 40)], 100, id="what overlaps counts once"),
        pytest.param([(-30, 10)], 80, id="only what lies after the last sign"),
        pytest.param([(64, 200)], 206, id="one that begins just before the end"),
        pytest.param([(65, 200)], 65, id="one that begins at the end is too late"),
        pytest.param([(10, 20), (75, 85)], 90, id="one that begins within what another extended"),
        pytest.param([(10, 20), (80, 85)], 80, id="or after it"),
        pytest.param([(20, 20)], 65, id="an empty one is none"),
    ],
)
def test_deaf_time_extends_a_deadline_and_one_grace_with_it(deaf: list[tuple[int, int]], due: int) -> None:
    spans = [(at(start), at(end)) for start, end in deaf]
    assert deadline(T0, HOUR, GRACE, spans) == at(due)


MINUTES = st.integers(-100, 300)
SPANS = st.lists(st.tuples(MINUTES, MINUTES).map(lambda both: (at(min(both)), at(max(both)))), max_size=6)


@given(SPANS, st.permutations(range(6)))
def test_it_never_comes_sooner_and_their_order_does_not_matter(
    deaf: list[tuple[datetime, datetime]], order: list[int]
) -> None:
    due = deadline(T0, HOUR, GRACE, deaf)
    assert due >= T0 + HOUR + GRACE
    assert deadline(T0, HOUR, GRACE, [deaf[i] for i in order if i < len(deaf)]) == due


@given(SPANS)
def test_at_the_deadline_as_much_was_heard_as_was_to_be_waited_for(
    deaf: list[tuple[datetime, datetime]],
) -> None:
    due = deadline(T0, HOUR, GRACE, deaf)
    heard = sum((end - start for start, end in unheard(deaf, T0, due)), timedelta())
    assert heard in {HOUR + GRACE, HOUR + 2 * GRACE}


@given(SPANS, MINUTES, MINUTES)
def test_what_was_not_listened_to_is_what_is_left(
    listened: list[tuple[datetime, datetime]], start: int, end: int
) -> None:
    gaps = unheard(listened, at(start), at(end))
    for minute in range(start, end):
        moment = at(minute + 0.5)
        deaf = any(since <= moment < until for since, until in gaps)
        assert deaf is not any(since <= moment < until for since, until in listened)
