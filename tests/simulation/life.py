"""A random life of one monitor, decided by the core alone: results, holds, parents, people."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

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
from collector.evaluation.core.holds import REOPENED_AFTER, MonitorContext
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckResult, CheckStreak, StreakThresholds, outdated, step
from shared.results import Status

SECOND: Final = timedelta(seconds=1)
BIRTH: Final = datetime(2026, 1, 1, tzinfo=UTC)
QUORUMS: Final = ("majority", "any", "all", "1", "2", "9")


class Location:
    """What one location saw, and what it would see now."""

    def __init__(self, name: str, thresholds: StreakThresholds) -> None:
        self.name = name
        self.thresholds = thresholds
        self.state = CheckStreak()
        self.checked_at: datetime | None = None
        self.probe_seen_at = BIRTH
        self.fails = False
        self.gone = False

    def vote(self) -> Vote:
        stale = outdated(self.state, self.thresholds)
        return Vote(
            self.name, self.state.failing, self.probe_seen_at, self.checked_at is not None, stale=stale
        )

    def check(self, status: Status, now: datetime) -> EvaluatedLocation:
        self.state, change = step(self.state, CheckResult(status, now), self.thresholds)
        if status is not Status.UNKNOWN:
            self.checked_at = now
        changed_at = now if change else None
        failed = int(status is Status.DOWN)
        return EvaluatedLocation(
            self.vote(), self.state, change, changed_at, failed, "refused" if failed else ""
        )

    def unchecked(self) -> EvaluatedLocation:
        return EvaluatedLocation(self.vote(), self.state, checked_at=self.checked_at)


class Life:
    """One life, by its seed. Whatever happens, each step keeps what is promised to people."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        thresholds = StreakThresholds(self.chance.choice([1, 2, 3]), self.chance.choice([1, 2, 3]))
        count = self.chance.choice([1, 2, 3, 5])
        self.locations = [Location(f"place-{n}", thresholds) for n in range(count)]
        self.monitor = EvaluatedMonitor("api", self.chance.choice(QUORUMS), False, False, None)
        self.now = BIRTH + timedelta(hours=1)
        self.window_until = BIRTH
        self.parents = Parents.WELL
        self.incident_since: datetime | None = None
        self.by_hand_at: datetime | None = None
        self.told: list[Announcement] = []

    def live(self) -> None:
        for _ in range(self.chance.randint(20, 120)):
            self._pass(self.chance.choice([1, 2, 5, 10, 30, 60, 200, 700]) * SECOND)
            self._something_happens()
            heard = self.chance.random() < 0.8
            self._decide({location for location in self.locations if heard and self.chance.random() < 0.8})
            if self.chance.random() < 0.7:
                self._announce()
            self._keep_promises()

    def settle(self, *, down: bool) -> None:
        """All holds end, and the target stays as it is for long."""
        self.monitor = replace(self.monitor, silenced_until=None)
        self.window_until, self.parents = BIRTH, Parents.WELL
        for location in self.locations:
            location.gone, location.fails = False, down
        for _ in range(90):
            self._pass(30 * SECOND)
            self._decide(set(self.locations))
            self._announce()
            self._reopen()
            self._keep_promises()

    def _pass(self, time: timedelta) -> None:
        self.now += time
        for location in self.locations:
            if not location.gone:
                location.probe_seen_at = self.now

    def _something_happens(self) -> None:
        for_a_while = self.now + self.chance.choice([5, 100, 300, 2000]) * SECOND
        lasts = self.chance.random() < 0.7
        location = self.chance.choice(self.locations)
        match self.chance.randrange(24):
            case 0 | 1 | 2:
                location.fails = not location.fails
            case 3:
                fails = self.chance.random() < 0.5
                for each in self.locations:
                    each.fails = fails
            case 4:
                self.monitor = replace(self.monitor, silenced_until=for_a_while if lasts else None)
            case 5:
                self.window_until = for_a_while if lasts else BIRTH
            case 6:
                self.parents = self.chance.choice([Parents.WELL, Parents.WELL, Parents.DOWN, Parents.AWAITED])
            case 7:
                location.gone = not location.gone
            case 8 if self.incident_since is not None:
                self.incident_since = None
                self.by_hand_at = self.now if self.monitor.down else None
            case 9:
                self._reopen()
            case _:
                pass

    def _reopen(self) -> None:
        """As System does with what a person resolved, if it still fails after ten minutes."""
        over = self.by_hand_at is not None and self.now - self.by_hand_at >= REOPENED_AFTER
        if over and self.monitor.down and self.incident_since is None and self.window_until <= self.now:
            self.incident_since, self.by_hand_at = self.now, None
            self.monitor = replace(self.monitor, reannounce=True)

    def _standing(self) -> EvaluatedMonitor:
        around = MonitorContext(
            maintenance_until=self.window_until if self.window_until > self.now else None,
            parents=self.parents,
            by_hand=self.by_hand_at is not None,
            votes=any(location.vote().counts(self.now) for location in self.locations),
            measured=any(location.checked_at for location in self.locations),
        )
        return replace(self.monitor, around=around)

    def _decide(self, checked: set[Location]) -> None:
        seen = []
        for location in self.locations:
            wrong = Status.DOWN if location.fails else Status.UP
            status = Status.UNKNOWN if self.chance.random() < 0.05 else wrong
            seen.append(
                location.check(status, self.now)
                if location in checked and not location.gone
                else location.unchecked()
            )
        before = self._standing()
        decision = decide(before, seen, BIRTH, self.now)
        if decision.action is IncidentAction.OPEN and self.incident_since is None:
            self.incident_since, self.by_hand_at = self.now, None
        elif decision.action is IncidentAction.RESOLVE:
            self.incident_since = None
        if decision.turned:
            self.by_hand_at = None
        if decision.announcement is not Announcement.NOTHING:
            self.told.append(decision.announcement)
        if decision.announcement is Announcement.DOWN:
            assert not (before.silenced_until and before.silenced_until > self.now), "notified in a silence"
            assert not before.around.maintenance_until, "notified in maintenance"
            assert self.parents is Parents.WELL, "notified while a parent is down"
            assert not decision.flapping_since, "notified while flapping"
        self.monitor = after(before, decision)

    def _announce(self) -> None:
        """As the end of a hold does."""
        tell = announcement(self._standing(), down=self.monitor.down, now=self.now)
        if tell is Announcement.NOTHING or (tell is Announcement.DOWN and self.incident_since is None):
            return
        self.told.append(tell)
        self.monitor = replace(self.monitor, announced=tell is Announcement.DOWN, reannounce=False)

    def _keep_promises(self) -> None:
        assert self.told[:1] != [Announcement.UP], "a recovery of what was never down"
        ups = [n for n, tell in enumerate(self.told) if tell is Announcement.UP]
        assert all(self.told[n - 1] is Announcement.DOWN for n in ups), "two recoveries of one outage"
        assert not self.monitor.announced or self.told[-1] is Announcement.DOWN
        if not self.monitor.down and not self.monitor.flapping_since:
            assert self.incident_since is None, "an incident of a monitor that is up"
