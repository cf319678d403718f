"""A probe's owner is notified once that it is gone or back, whatever restarts and however many collect."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.events.core.events import Fact, body
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from collector.probes.jobs.watch import ProbeWatch
from collector.probes.service import assignments
from collector.probes.storage.probes import ProbeSignal, note
from shared import ids
from shared.clock import utc_now
from tests.clocks import GivenClock
from tests.probes.ground import connect, fetch, make_monitors, make_team

NOW = utc_now()
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Ground:
    """A deployment whose clock a test moves; *watches* are of as many collectors."""

    def __init__(self, db: Db, watches: int = 1) -> None:
        self.db = db
        self.clock = Clock()
        self.watches = [self.watch() for _ in range(watches)]
        self.told = 0
        db.pass_on = commit_hook(self._tell, lambda: None)

    def watch(self) -> ProbeWatch:
        return ProbeWatch(self.db, GivenClock(self.clock, lambda: NOW - HOUR))

    async def turn(self, *, passes: timedelta = timedelta(), step: timedelta = 5 * SECOND) -> None:
        """Let time pass; all collectors take their turns in it, side by side."""
        end = self.clock.now + passes
        while True:
            await asyncio.gather(*(watch.turn() for watch in self.watches))
            if self.clock.now >= end:
                return
            self.clock.now = min(end, self.clock.now + step)

    async def events(self) -> list[tuple[int, str, dict[str, Any]]]:
        rows = await fetch(self.db, "SELECT team_id, kind, payload FROM events ORDER BY created_at, team_id")
        return [(row["team_id"], row["kind"], row["payload"]) for row in rows]

    async def kinds(self) -> list[str]:
        return [kind for _, kind, _ in await self.events()]

    async def alive(self, probe_id: UUID, *, blind: bool = False) -> None:
        async with self.db.transaction() as tx:
            session = await tx.fetchval("SELECT session FROM probes WHERE probe_id = $1", probe_id)
            await note(tx, [ProbeSignal(probe_id, session, self.clock.now, {"blind": blind})])

    async def end(self, probe_id: UUID, *, stopped: bool = False) -> None:
        async with self.db.transaction() as tx:
            session = await tx.fetchval("SELECT session FROM probes WHERE probe_id = $1", probe_id)
            await note(tx, [ProbeSignal(probe_id, session, self.clock.now, {}, ended=True, stopped=stopped)])

    def _tell(self) -> None:
        self.told += 1


async def monitors(db: Db, count: int, locations: Sequence[str] = ("local",)) -> int:
    """A team with so many monitors, placed."""
    team_id = await make_team(db, NOW)
    for monitor in await make_monitors(db, team_id, count, locations=locations, now=NOW):
        async with db.transaction() as tx:
            await assignments.place(tx, monitor, 1, list(locations), now=NOW)
    return team_id


async def test_a_lost_probe_is_one_notice_to_each_team_that_has_monitors_there(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW)
    number, other = await monitors(db, 3), await monitors(db, 2)
    await monitors(db, 1, ["elsewhere"])
    ground = Ground(db)
    await ground.turn(passes=119 * SECOND)
    assert await ground.kinds() == []
    await ground.turn(passes=10 * MINUTE)
    assert [(team, kind, said["affectedMonitors"]) for team, kind, said in await ground.events()] == [
        (number, "probe.offline", 3),
        (other, "probe.offline", 2),
    ]
    [_, (_, _, answer)] = await ground.events()
    assert answer["probe"] == {
        "id": ids.show("prb", probe_id),
        "name": "probe",
        "locations": ["local"],
        "version": "0.1.0",
        "lastSeenAt": answer["probe"]["lastSeenAt"],
        "reason": "lost",
    }
    assert ground.told == 1


@pytest.mark.oldest
async def test_it_is_back_once_to_those_who_were_told(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW)
    number = await monitors(db, 1)
    ground = Ground(db)
    await ground.turn(passes=3 * MINUTE)
    await monitors(db, 1)
    await ground.alive(probe_id)
    await ground.turn(passes=10 * SECOND)
    assert [(team, kind) for team, kind, _ in await ground.events()] == [
        (number, "probe.offline"),
        (number, "probe.online"),
    ]
    assert (await ground.events())[1][2]["probe"]["reason"] == "lost"
    await ground.turn(passes=3 * MINUTE)
    assert await ground.kinds() == ["probe.offline", "probe.online"] + 2 * ["probe.offline"]


async def test_a_teams_probe_is_its_teams_matter_with_monitors_or_without(db: Db) -> None:
    team_id, other = await make_team(db, NOW), await monitors(db, 1)
    probe_id = await connect(db, "local", now=NOW)
    await fetch(db, "UPDATE probes SET team_id = $1 WHERE probe_id = $2", team_id, probe_id)
    ground = Ground(db)
    await ground.turn(passes=3 * MINUTE)
    assert [(team, answer["affectedMonitors"]) for team, _, answer in await ground.events()] == [(team_id, 0)]
    assert other != team_id


@pytest.mark.parametrize(("stopped", "reason"), [(True, "stopped"), (False, "lost")])
async def test_the_notice_says_whether_it_was_stopped(db: Db, stopped: bool, reason: str) -> None:
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db)
    await ground.end(probe_id, stopped=stopped)
    await ground.turn(passes=3 * MINUTE)
    [(_, kind, answer)] = await ground.events()
    assert (kind, answer["probe"]["reason"]) == ("probe.offline", reason)


async def test_a_blind_probe_is_told_of_while_it_is_connected(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db)
    for _ in range(30):
        await ground.alive(probe_id, blind=True)
        await ground.turn(passes=5 * SECOND)
    [(_, kind, answer)] = await ground.events()
    assert (kind, answer["probe"]["reason"]) == ("probe.offline", "blind")
    await ground.alive(probe_id)
    await ground.turn()
    assert await ground.kinds() == ["probe.offline", "probe.online"]


async def test_a_short_blindness_is_nobodys_matter(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db)
    for second in range(0, 600, 5):
        await ground.alive(probe_id, blind=second % 100 < 60)
        await ground.turn(passes=5 * SECOND)
    assert await ground.kinds() == []


@pytest.mark.parametrize("deed", ["revoked_at", "draining_at"])
async def test_who_was_sent_away_is_not_missed(db: Db, deed: str) -> None:
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    await fetch(db, f"UPDATE probes SET {deed} = $2 WHERE probe_id = $1", probe_id, NOW)
    ground = Ground(db)
    await ground.turn(passes=10 * MINUTE)
    assert await ground.kinds() == []


async def test_several_collectors_tell_it_once(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db, watches=3)
    await ground.turn(passes=5 * MINUTE)
    await ground.alive(probe_id)
    await ground.turn(passes=10 * SECOND)
    assert await ground.kinds() == ["probe.offline", "probe.online"]


async def test_a_restarted_collector_tells_nothing_again(db: Db) -> None:
    await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db)
    await ground.turn(passes=5 * MINUTE)
    ground.watches = [ground.watch()]
    await ground.turn(passes=5 * MINUTE)
    assert await ground.kinds() == ["probe.offline"]


async def test_time_in_which_nobody_listened_is_no_silence(db: Db) -> None:
    """A collector that starts, or that has not reached its database for long, waits for two minutes."""
    probe_id = await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db)
    await ground.turn(passes=20 * SECOND)
    ground.clock.now += HOUR
    await ground.turn(passes=MINUTE)
    assert await ground.kinds() == []
    await ground.alive(probe_id)
    await ground.turn(passes=90 * SECOND)
    assert await ground.kinds() == []
    ground.clock.now -= HOUR
    await ground.turn(passes=MINUTE)
    assert await ground.kinds() == []


async def test_a_probe_that_never_came_is_not_missed(db: Db) -> None:
    await connect(db, "local", now=NOW)
    await fetch(db, "UPDATE probes SET seen_at = NULL, session = NULL")
    await monitors(db, 1)
    ground = Ground(db)
    await ground.turn(passes=10 * MINUTE)
    assert await ground.kinds() == []


async def test_hundreds_that_go_at_once_are_told_of_each_once(db: Db) -> None:
    for _ in range(120):
        await connect(db, "local", now=NOW)
    await monitors(db, 1)
    ground = Ground(db, watches=2)
    await ground.turn(passes=3 * MINUTE)
    rows = await fetch(db, "SELECT count(*) AS told, count(DISTINCT stream_id) AS probes FROM events")
    assert rows == [{"told": 120, "probes": 120}]


async def test_its_link_leads_to_the_probe() -> None:
    probe_id = UUID(int=7)
    fact = Fact(UUID(int=1), "probe.offline", probe_id, 1, {"event": "probe.offline", "probe": {}}, None)
    shown = body(fact, "https://tocsin.example.com")
    assert shown["links"] == {"probe": f"https://tocsin.example.com/probes/{ids.show('prb', probe_id)}"}
