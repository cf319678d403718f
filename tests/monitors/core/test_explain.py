"""What is said of a monitor: never other than what is decided about it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.evaluation.core.decision import EvaluatedLocation, EvaluatedMonitor, decide
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak
from collector.monitors.core import explain, explain_holds
from collector.monitors.core.explain import MonitorFacts, Trace, VotingLocation
from shared.results import Status

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
THEN = NOW - timedelta(minutes=3)
SECOND = timedelta(seconds=1)


def place(
    name: str, *, failing: bool = False, ago_s: float | None = 1, known: bool = True, error: str = ""
) -> VotingLocation:
    seen_at = None if ago_s is None else NOW - timedelta(seconds=ago_s)
    state = CheckStreak(failing, 3, 0, THEN) if failing else CheckStreak()
    return VotingLocation(Vote(name, failing, seen_at, known), state, THEN if known else None, error)


def facts(
    *,
    down: bool = False,
    told: bool = False,
    quorum: str = "majority",
    silenced_s: int | None = None,
    paused: bool = False,
    by_hand: bool = False,
) -> MonitorFacts:
    until = None if silenced_s is None else NOW + timedelta(seconds=silenced_s)
    return MonitorFacts(
        monitor=EvaluatedMonitor("api", quorum, down, told, until),
        changed_at=THEN,
        paused_at=THEN if paused else None,
        ended_by_hand_at=THEN if by_hand else None,
    )


WELL, BAD = place("eu"), place("us", failing=True, error="connect: refused\nby 192.0.2.1:443")
SILENT = place("asia", failing=True, ago_s=121)
places = st.lists(
    st.builds(
        place,
        st.sampled_from(["eu", "us", "asia"]),
        failing=st.booleans(),
        ago_s=st.sampled_from([None, -600, -1, 0, 1, 29, 60, 119, 120, 121, 900]),
        known=st.booleans(),
        error=st.sampled_from(["", "timeout", "a\n\nb", "x" * 1000]),
    ),
    max_size=6,
)
everything = st.builds(
    facts,
    down=st.booleans(),
    told=st.booleans(),
    quorum=st.sampled_from(["majority", "any", "all", "1", "2", "9"]),
    silenced_s=st.sampled_from([None, -5, 0, 5]),
    paused=st.booleans(),
    by_hand=st.booleans(),
)


@given(
    everything.filter(lambda facts: facts.paused_at is None),
    places,
    st.none() | st.integers(0, 300).map(lambda ago: NOW - ago * SECOND),
)
def test_the_verdict_is_what_is_decided_unless_a_hold_says_why_not(
    held: MonitorFacts, where: list[VotingLocation], since: datetime | None
) -> None:
    seen = [
        EvaluatedLocation(location.vote, location.state, last_error=location.last_error) for location in where
    ]
    decided = decide(held.monitor, seen, since, NOW).down
    verdict = explain.tally(held, where, NOW).down
    names = {hold.name for hold in explain_holds.holds(held, where, NOW)}

    if verdict is not decided:
        assert names & {"no_voters", "settling", "unvouched", "deciding", "unmeasured"}
        assert decided is held.monitor.down
    if "unvouched" in names or "no_voters" in names:
        assert decided is held.monitor.down
    if since is not None and NOW - since >= timedelta(minutes=2) and not names & {"unvouched", "unmeasured"}:
        assert decided is (held.monitor.down if verdict is None else verdict)


@given(everything, places)
def test_the_parts_agree_with_each_other(held: MonitorFacts, where: list[VotingLocation]) -> None:
    votes = explain.tally(held, where, NOW)
    standings = [explain.standing(location.vote, NOW) for location in where]
    names = [hold.name for hold in explain_holds.holds(held, where, NOW)]

    if held.paused_at is None:
        assert votes.voters == sum(standing != "silent" for standing in standings)
        assert votes.failing == standings.count("failing")
        assert (votes.down is None) is (votes.voters == 0)
        assert votes.down is None or votes.down is (votes.failing >= votes.needed)
    assert ("paused" in names) is (explain.status(held, where) == "paused") is (held.paused_at is not None)
    assert len(set(names)) == len(names)


@given(everything, places)
def test_the_sentence_is_one_line_of_a_readable_length(
    held: MonitorFacts, where: list[VotingLocation]
) -> None:
    text = explain.sentence(held, where, NOW)

    assert text.endswith(".")
    assert len(text.splitlines()) == 1
    assert len(text) < 500


@pytest.mark.parametrize(
    ("held", "where", "said"),
    [
        pytest.param(
            facts(),
            [WELL, WELL],
            "Up since 2026-11-21T11:57:00.000Z: 2 of 2 voting locations find it well.",
            id="all is well",
        ),
        pytest.param(
            facts(),
            [WELL, BAD, WELL],
            "Up since 2026-11-21T11:57:00.000Z: 1 of 3 voting locations fails, 2 needed for down; "
            "us says: connect: refused by 192.0.2.1:443.",
            id="one fails, and it is not enough",
        ),
        pytest.param(
            facts(down=True, told=True),
            [BAD, SILENT],
            "Down since 2026-11-21T11:57:00.000Z: 1 of 1 voting locations fails, 1 needed for down; "
            "us says: connect: refused by 192.0.2.1:443.",
            id="a silent location does not vote",
        ),
        pytest.param(
            facts(down=True, silenced_s=60),
            [BAD],
            "Down since 2026-11-21T11:57:00.000Z: 1 of 1 voting locations fails, 1 needed for down; "
            "us says: connect: refused by 192.0.2.1:443; silenced until 2026-11-21T12:01:00.000Z.",
            id="silenced",
        ),
        pytest.param(
            facts(),
            [BAD],
            "Up since 2026-11-21T11:57:00.000Z: 1 of 1 voting locations fails, 1 needed for down; "
            "held up for now; us says: connect: refused by 192.0.2.1:443.",
            id="the verdict is held back",
        ),
        pytest.param(
            facts(down=True),
            [SILENT],
            "Down since 2026-11-21T11:57:00.000Z: no location votes, so nothing changes.",
            id="nobody votes",
        ),
        pytest.param(
            facts(),
            [place("eu", known=False)],
            "Not measured yet: 0 of 1 voting locations find it well.",
            id="nothing was measured",
        ),
        pytest.param(
            facts(paused=True, down=True),
            [BAD],
            "Paused since 2026-11-21T11:57:00.000Z: nothing is checked and nothing is told.",
            id="paused",
        ),
    ],
)
def test_the_sentence(held: MonitorFacts, where: list[VotingLocation], said: str) -> None:
    assert explain.sentence(held, where, NOW) == said


@pytest.mark.parametrize(
    ("held", "heard", "routed", "reasons"),
    [
        pytest.param(facts(), True, True, [], id="nothing stands in the way"),
        pytest.param(facts(), False, True, ["no enabled channel"], id="no channel listens"),
        pytest.param(facts(), True, False, ["not been handed"], id="a router has not come by"),
        pytest.param(facts(paused=True), True, True, ["paused"], id="paused"),
        pytest.param(facts(silenced_s=9), True, True, ["silenced until"], id="silenced"),
        pytest.param(facts(silenced_s=-9), True, True, [], id="a silence that is over is none"),
        pytest.param(
            facts(down=True, told=True, silenced_s=9), True, True, [], id="silenced after it was told"
        ),
        pytest.param(facts(down=True, by_hand=True), True, True, ["resolved by hand"], id="resolved by hand"),
        pytest.param(facts(by_hand=True), True, True, [], id="resolved by hand, and up since"),
        pytest.param(
            facts(paused=True, silenced_s=9), False, False, ["paused", "silenced", "no enabled"], id="several"
        ),
    ],
)
def test_why_nobody_hears(held: MonitorFacts, reasons: list[str], *, heard: bool, routed: bool) -> None:
    lines = explain_holds.not_told(held, NOW, heard=heard, routed=routed)

    assert len(lines) == len(reasons)
    assert all(part in reason for part, reason in zip(reasons, lines, strict=True))


FIRST, SECOND_ONE = THEN, THEN + SECOND
TRACE = Trace(frozenset({FIRST}), frozenset({NOW}), [FIRST, SECOND_ONE])


@pytest.mark.parametrize(
    ("status", "at", "trace", "did"),
    [
        pytest.param(Status.UNKNOWN, FIRST, TRACE, ("nothing", None), id="an unknown one moves nothing"),
        pytest.param(Status.DOWN, FIRST, TRACE, ("began", 1), id="the first of the outage"),
        pytest.param(Status.DOWN, SECOND_ONE, TRACE, ("counted", 2), id="the second of the streak"),
        pytest.param(Status.DOWN, NOW, TRACE, (None, None), id="a failed one that left no mark"),
        pytest.param(
            Status.DOWN, FIRST, Trace(frozenset({FIRST})), ("began", None), id="of an outage that is over"
        ),
        pytest.param(Status.UP, NOW, TRACE, ("recovered", None), id="the one that ended it"),
        pytest.param(Status.UP, FIRST, TRACE, (None, None), id="a good one that left no mark"),
    ],
)
def test_what_a_result_did(
    status: Status, at: datetime, trace: Trace, did: tuple[str | None, int | None]
) -> None:
    assert explain.did(status, at, trace) == did
