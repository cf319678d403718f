"""Who checks what: the rules, one sentence a row, and the evenness of the choice."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.probes.core.assignment import KEPT, LIVE, ProbeCandidate, choose, pool

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
A, B, C = (UUID(int=number << 64 | number * 977) for number in (1, 2, 3))


def probe(
    id_: UUID,
    *locations: str,
    silent: timedelta = timedelta(),
    team_id: int | None = None,
    kinds: tuple[str, ...] = ("http",),
    stands_in: bool = False,
    draining: bool = False,
) -> ProbeCandidate:
    return ProbeCandidate(
        id_, team_id, frozenset(locations), frozenset(kinds), stands_in, NOW - silent, draining
    )


LOST = probe(B, "eu", silent=KEPT / 2)
GONE = probe(B, "eu", silent=KEPT)


@pytest.mark.parametrize(
    ("probes", "holder", "chosen"),
    [
        pytest.param([], None, None, id="nobody is there"),
        pytest.param([probe(A, "eu")], None, A, id="the only probe of the location"),
        pytest.param([probe(A, "us")], None, None, id="a probe of elsewhere does not serve"),
        pytest.param([probe(A, "eu", kinds=("tcp",))], None, None, id="a probe that does not know the kind"),
        pytest.param([probe(A, "eu", team_id=8)], None, None, id="another team's probe"),
        pytest.param([probe(A, "eu", team_id=7)], None, A, id="the team's own probe"),
        pytest.param([probe(A, "eu", silent=LIVE)], None, None, id="a silent one gets nothing new"),
        pytest.param([probe(A, "eu", silent=LIVE)], A, A, id="but keeps what nobody else can take"),
        pytest.param([probe(A, "eu", silent=LIVE), probe(B, "eu")], A, B, id="and loses it to a live one"),
        pytest.param([probe(A, "us"), probe(B, "eu")], A, B, id="who serves elsewhere now loses it"),
        pytest.param([probe(A, "eu", draining=True), probe(B, "eu")], A, B, id="a draining one hands on"),
        pytest.param([probe(A, "eu", draining=True)], A, A, id="and keeps what nobody else can take, too"),
        pytest.param([probe(A, "eu", draining=True)], None, A, id="even what is new, so that it is checked"),
        pytest.param([probe(A, "us")], A, None, id="even when nobody can take it"),
        pytest.param([probe(A, "us", stands_in=True)], None, A, id="a stand-in where no probe is"),
        pytest.param(
            [probe(A, stands_in=True), probe(B, "eu")], A, B, id="the location's own goes before it"
        ),
        pytest.param([probe(A, stands_in=True), LOST], B, B, id="a lost own probe is not stood in for"),
        pytest.param([probe(A, stands_in=True), GONE], B, A, id="one lost since long is"),
    ],
)
def test_choice(probes: list[ProbeCandidate], holder: UUID | None, chosen: UUID | None) -> None:
    assert choose(pool(probes, 7, "http", "eu", NOW), 1, 1, holder) == chosen


def test_patience_leaves_a_silent_holder_its_work() -> None:
    there = pool([probe(A, "eu", silent=LIVE), probe(B, "eu")], 7, "http", "eu", NOW)

    assert choose(there, 1, 1, A, patient=True) == A
    assert choose(there, 1, 1, None, patient=True) == B


def test_a_location_counts_as_served_only_by_a_live_probe_of_its_own() -> None:
    assert pool([probe(A, "eu")], 7, "http", "eu", NOW).own
    assert not pool([probe(A, "eu", silent=LIVE)], 7, "http", "eu", NOW).own
    assert not pool([probe(A, stands_in=True)], 7, "http", "eu", NOW).own


def test_three_probes_get_even_parts() -> None:
    there = pool([probe(id_, "eu") for id_ in (A, B, C)], 7, "http", "eu", NOW)
    parts = Counter(choose(there, monitor, 1, None) for monitor in range(1, 6001))

    assert all(1800 < count < 2200 for count in parts.values())


@given(st.sets(st.uuids(), min_size=2, max_size=6), st.integers(1, 2**31 - 1), st.integers(1, 2**15 - 1))
def test_when_a_probe_goes_only_its_own_part_moves(ids: set[UUID], monitor: int, location: int) -> None:
    order = sorted(ids)
    before = choose(pool([probe(id_, "eu") for id_ in order], 7, "http", "eu", NOW), monitor, location, None)
    rest = [probe(id_, "eu") for id_ in order[1:]]
    after = choose(pool(rest, 7, "http", "eu", NOW), monitor, location, before)

    assert after == before or before == order[0]
