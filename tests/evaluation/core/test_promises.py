"""What holds whatever happens, in any order: no false outage, no second incident, nobody left untold."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from collector.evaluation.core.decision import (
    Announcement,
    EvaluatedLocation,
    EvaluatedMonitor,
    IncidentAction,
    after,
    announcement,
    decide,
)
from collector.evaluation.core.dependencies import Parents
from collector.evaluation.core.flapping import HELD
from collector.evaluation.core.holds import MonitorContext
from collector.evaluation.core.quorum import SILENCE, Vote, verdict, vouched
from collector.evaluation.core.state import CheckResult, CheckStreak, StreakThresholds, step
from shared.results import Status

START = datetime(2026, 11, 21, tzinfo=UTC)
LONG_AGO = START - timedelta(days=1)
SECOND = timedelta(seconds=1)
PLACES = ("eu", "us", "asia")
STATUSES = st.sampled_from(list(Status))
QUORUMS = st.sampled_from(["majority", "any", "all", "1", "2", "9"])


@given(st.lists(st.tuples(STATUSES, st.booleans())), st.integers(1, 4), st.integers(1, 3))
def test_a_late_result_changes_nothing_by_itself(
    results: list[tuple[Status, bool]], failure: int, recovery: int
) -> None:
    state = CheckStreak()
    for status, late in results:
        state, change = step(
            state, CheckResult(status, START, late=late), StreakThresholds(failure, recovery)
        )
        assert not (late and change)
        assert status is not Status.UNKNOWN or change is None


@given(QUORUMS, st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_locations_that_fall_silent_never_take_a_monitor_down(
    quorum: str, failing: list[bool], data: st.DataObject
) -> None:
    votes = [Vote(str(n), bad, START) for n, bad in enumerate(failing)]
    cut = data.draw(st.sets(st.integers(0, len(votes) - 1)))
    later = START + data.draw(st.integers(0, SILENCE // SECOND)) * SECOND
    silent = [vote if n in cut else replace(vote, seen_at=later) for n, vote in enumerate(votes)]
    if not verdict(votes, quorum, START):
        assert not verdict(silent, quorum, later)


@given(QUORUMS, st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_locations_back_from_a_silence_move_no_verdict_by_what_they_said_before(
    quorum: str, failing: list[bool], data: st.DataObject
) -> None:
    votes = [Vote(str(n), bad, START) for n, bad in enumerate(failing)]
    cut = data.draw(st.sets(st.integers(0, len(votes) - 1)))
    back = [replace(vote, stale=n in cut) for n, vote in enumerate(votes)]
    assert verdict(votes, quorum, START) or not verdict(back, quorum, START)
    assert verdict(back, quorum, START, down=True) is verdict(votes, quorum, START, down=True)
    away = [vote for n, vote in enumerate(votes) if n not in cut]
    assert vouched(back, START) is vouched(away, START)


@dataclass(frozen=True, slots=True)
class Happens:
    """One thing, after so many seconds."""

    after_s: int
    what: str
    place: int
    on: bool


THINGS = st.builds(
    Happens,
    after_s=st.sampled_from([0, 1, 2, 5, 30, 60, 200, 700]),
    what=st.sampled_from(["target", "target", "target", "heard", "silence", "window", "parent", "sweeper"]),
    place=st.integers(0, 2),
    on=st.booleans(),
)


@dataclass(slots=True)
class World:
    """A monitor at three locations, decided about after each thing that happens, and swept."""

    monitor: EvaluatedMonitor
    now: datetime = START
    bad: list[bool] = field(default_factory=lambda: [False] * 3)
    heard: list[bool] = field(default_factory=lambda: [True] * 3)
    window: datetime | None = None
    parents: Parents = Parents.WELL
    open: bool = False
    told: list[Announcement] = field(default_factory=list)

    def happen(self, thing: Happens) -> None:
        self.now += thing.after_s * SECOND
        lasts = self.now + timedelta(minutes=5) if thing.on else None
        match thing.what:
            case "target":
                self.bad[thing.place] = thing.on
            case "heard":
                self.heard[thing.place] = thing.on
            case "silence":
                self.monitor = replace(self.monitor, silenced_until=lasts)
            case "window":
                self.window = lasts
            case "parent":
                self.parents = Parents.DOWN if thing.on else Parents.WELL
            case "sweeper":
                self.sweep()
        self.decide()

    def decide(self) -> None:
        monitor, seen = replace(self.monitor, around=self.around()), self.seen()
        decision = decide(monitor, seen, LONG_AGO, self.now)
        assert not (decision.action is IncidentAction.OPEN and self.window and self.window > self.now)
        if decision.action is IncidentAction.OPEN:
            assert decision.down
            self.open = True
        elif decision.action is IncidentAction.RESOLVE:
            self.open = False
        self.monitor = after(self.monitor, decision)
        if decision.announcement is not Announcement.NOTHING:
            self.told.append(decision.announcement)

    def sweep(self) -> None:
        """Announce open outages that were not announced, and the end of those that were, as the job does."""
        monitor = replace(self.monitor, around=self.around())
        tell = announcement(monitor, down=monitor.down, now=self.now)
        if tell is Announcement.UP or (tell is Announcement.DOWN and self.open):
            self.monitor = replace(self.monitor, announced=tell is Announcement.DOWN)
            self.told.append(tell)

    def around(self) -> MonitorContext:
        return MonitorContext(maintenance_until=self.window, parents=self.parents, votes=any(self.heard))

    def seen(self) -> Sequence[EvaluatedLocation]:
        return [
            EvaluatedLocation(
                Vote(name, bad, self.now if heard else None),
                CheckStreak(bad, 3 * bad, 0, self.now if bad else None),
            )
            for name, bad, heard in zip(PLACES, self.bad, self.heard, strict=True)
        ]


@given(QUORUMS, st.lists(THINGS, max_size=40))
def test_when_every_hold_has_ended_whoever_should_be_told_has_been_told_once(
    quorum: str, things: list[Happens]
) -> None:
    world = World(EvaluatedMonitor("api", quorum, down=False, announced=False, silenced_until=None))
    for thing in things:
        world.happen(thing)
        assert not world.open or world.monitor.down or world.monitor.flapping_since or not any(world.heard)

    world.heard, world.window, world.parents = [True] * 3, None, Parents.WELL
    world.monitor = replace(world.monitor, silenced_until=None)
    for _ in range(2):
        world.decide()
        world.sweep()
        world.now += HELD

    assert world.monitor.announced is world.monitor.down is world.open
    assert world.told == ([Announcement.DOWN, Announcement.UP] * len(world.told))[: len(world.told)]
    assert world.monitor.flapping_since is None
    assert world.monitor.unrecorded_until is None


@given(QUORUMS, st.lists(THINGS, max_size=30))
def test_what_is_never_failing_is_never_down_and_tells_nobody(quorum: str, things: list[Happens]) -> None:
    world = World(EvaluatedMonitor("api", quorum, down=False, announced=False, silenced_until=None))
    for thing in things:
        world.happen(replace(thing, on=False) if thing.what == "target" else thing)
    assert (world.monitor.down, world.open, world.told) == (False, False, [])
