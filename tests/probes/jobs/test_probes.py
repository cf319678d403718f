"""Who checks what when probes come, go, or only seem to: silence counts only while somebody could listen."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from collector.platform.database_clock import DatabaseClock
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.jobs.probes import Probes
from collector.probes.service import assignments
from collector.probes.storage import reads
from shared.clock import utc_now
from tests.clocks import GivenClock
from tests.probes.ground import connect, fetch, make_monitors, make_team, sign

NOW = utc_now()
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def sweeper(db: Db, now: datetime, since: datetime | None) -> Probes:
    return Probes(db, Signals(db), GivenClock(lambda: now, lambda: since))


async def holders(db: Db) -> set[object]:
    return {row["probe_id"] for row in await fetch(db, "SELECT probe_id FROM states")}


async def place(db: Db, count: int, now: datetime = NOW) -> None:
    team_id = await make_team(db, NOW)
    for monitor in await make_monitors(db, team_id, count, now=NOW):
        async with db.transaction() as tx:
            await assignments.place(tx, monitor, 1, ["local"], now=now)


async def test_the_work_of_a_silent_probe_goes_to_the_other(db: Db) -> None:
    id_, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    assert await holders(db) == {id_, other}
    later = NOW + 20 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, NOW - HOUR).turn()
    assert await holders(db) == {other}


@pytest.mark.oldest
async def test_after_a_start_the_silent_are_given_time_to_find_us(db: Db) -> None:
    id_, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    later = NOW + 20 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, later - SECOND).turn()
    assert await holders(db) == {id_, other}


@pytest.mark.parametrize("step", [HOUR, -HOUR])
async def test_a_clock_that_was_set_takes_no_work_from_anybody_who_is_there(db: Db, step: timedelta) -> None:
    id_, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    await sign(db, other, NOW + step)
    await sweeper(db, NOW + step, None).turn()
    assert await holders(db) == {id_, other}
    # Half a minute later the one is still silent, wherever the clocks have put its last word.
    later = NOW + step + 31 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, NOW + step).turn()
    assert await holders(db) == {other}


class Fleet:
    """Two probes that share 20 monitors, both heard in each turn, and a clock that the test moves."""

    def __init__(self, db: Db, id_: UUID, other: UUID) -> None:
        self.db = db
        self.one = id_
        self.other = other
        self._now = NOW
        self._sweeper = Probes(db, Signals(db), GivenClock(lambda: self._now, lambda: NOW - HOUR))

    async def turn(self, second: int) -> None:
        self._now = NOW + second * SECOND
        for probe in (self.one, self.other):
            await sign(self.db, probe, self._now)
        await self._sweeper.turn()

    async def drain(self, *, begins: bool) -> None:
        async with self.db.transaction() as tx:
            await reads.drain(tx, self.one, self._now if begins else None)

    async def monitors_of(self, probe: UUID) -> set[int]:
        rows = await fetch(self.db, "SELECT monitor FROM states WHERE probe_id = $1", probe)
        return {row["monitor"] for row in rows}

    async def held(self) -> int:
        return len(await self.monitors_of(self.one))

    async def hand_over(self, most: int = 20) -> None:
        rows = await fetch(
            self.db, "SELECT assignment FROM states WHERE probe_id = $1 LIMIT $2", self.one, most
        )
        async with self.db.transaction() as tx:
            await assignments.hand_over(tx, self.one, [row["assignment"] for row in rows], self._now)


@pytest.fixture
async def fleet(db: Db) -> Fleet:
    id_, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    made = Fleet(db, id_, other)
    await made.turn(1)
    return made


async def test_a_probe_that_does_not_hand_over_loses_its_work_after_ten_seconds(fleet: Fleet) -> None:
    before = await fleet.held()
    await fleet.drain(begins=True)
    for second in range(2, 12):
        await fleet.turn(second)
        assert await fleet.held() == before
    await fleet.turn(12)
    assert await fleet.held() == 0


async def test_a_change_that_follows_a_hand_over_has_ten_seconds_of_its_own(fleet: Fleet) -> None:
    before = await fleet.held()
    await fleet.drain(begins=True)
    await fleet.turn(2)
    await fleet.hand_over()
    await fleet.drain(begins=False)
    for second in range(3, 13):
        await fleet.turn(second)
        assert await fleet.held() == 0, "the other is asked for it, and nothing is taken from it"
    await fleet.turn(13)
    assert await fleet.held() == before


async def test_what_was_asked_for_first_is_taken_first(fleet: Fleet) -> None:
    """Another change that comes meanwhile gives nobody more time, and takes nobody's."""
    await fleet.drain(begins=True)
    await fleet.turn(2)
    await connect(fleet.db, "local", now=NOW + 7 * SECOND)
    await fleet.turn(7)
    asked_later = await fleet.monitors_of(fleet.other)
    await fleet.turn(12)

    assert await fleet.held() == 0
    assert asked_later <= await fleet.monitors_of(fleet.other)


async def test_two_collectors_whose_machines_clocks_differ_leave_the_probes_alone(db: Db) -> None:
    """Signs of life come each 5 s and are written up to 1 s later, of the 8 s that a probe has."""
    elapsed_us = 0
    behind = DatabaseClock(db, wall=lambda: utc_now() - 4 * SECOND, boot_us=lambda: elapsed_us)
    right = DatabaseClock(db, boot_us=lambda: elapsed_us)
    for clock in (behind, right):
        await clock.turn()
    id_, other = await connect(db, "local", now=behind.now()), await connect(db, "local", now=right.now())
    await place(db, 20, right.now())
    sweepers = [
        Probes(db, Signals(db), GivenClock(clock.now, lambda: NOW - HOUR)) for clock in (behind, right)
    ]
    held = await fetch(db, "SELECT monitor, probe_id FROM states ORDER BY 1")
    for half in range(1, 41):
        elapsed_us = half * 500_000
        if half % 10 == 2:
            await sign(db, id_, behind.now() - 0.9 * SECOND)
        if half % 10 == 6:
            await sign(db, other, right.now() - 0.9 * SECOND)
        for each in sweepers:
            await each.turn()
        assert await fetch(db, "SELECT monitor, probe_id FROM states ORDER BY 1") == held


async def test_states_of_monitors_that_are_gone_go_too(db: Db) -> None:
    await connect(db, "local", now=NOW)
    await place(db, 2)
    await fetch(db, "DELETE FROM monitors WHERE monitor = (SELECT min(monitor) FROM monitors)")
    await sweeper(db, NOW, NOW - HOUR).turn()
    assert len(await fetch(db, "SELECT FROM states")) == 1
