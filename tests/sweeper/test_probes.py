"""Who checks what when probes come, go, or only seem to: silence counts only while somebody could listen."""

from datetime import datetime, timedelta

import pytest

from collector.services import assignments
from collector.services.signals import Signals
from collector.storage.db import Db
from collector.sweeper.probes import Probes
from shared.clock import utc_now
from tests.services.ground import connect, fetch, make_monitors, make_team, sign

NOW = utc_now()
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def sweeper(db: Db, now: datetime, since: datetime | None) -> Probes:
    return Probes(db, Signals(db), since=lambda: since, now=lambda: now)


async def holders(db: Db) -> set[object]:
    return {row["probe_id"] for row in await fetch(db, "SELECT probe_id FROM states")}


async def place(db: Db, count: int) -> None:
    team_id = await make_team(db, NOW)
    for monitor in await make_monitors(db, team_id, count, now=NOW):
        async with db.transaction() as tx:
            await assignments.place(tx, monitor, 1, ["local"], now=NOW)


async def test_the_work_of_a_silent_probe_goes_to_the_other(db: Db) -> None:
    one, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    assert await holders(db) == {one, other}
    later = NOW + 20 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, NOW - HOUR).turn()
    assert await holders(db) == {other}


async def test_after_a_start_the_silent_are_given_time_to_find_us(db: Db) -> None:
    one, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    later = NOW + 20 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, later - SECOND).turn()
    assert await holders(db) == {one, other}


@pytest.mark.parametrize("step", [HOUR, -HOUR])
async def test_a_clock_that_was_set_takes_no_work_from_anybody_who_is_there(db: Db, step: timedelta) -> None:
    one, other = await connect(db, "local", now=NOW), await connect(db, "local", now=NOW)
    await place(db, 20)
    await sign(db, other, NOW + step)
    await sweeper(db, NOW + step, None).turn()
    assert await holders(db) == {one, other}
    # Half a minute later the one is still silent, wherever the clocks have put its last word.
    later = NOW + step + 31 * SECOND
    await sign(db, other, later)
    await sweeper(db, later, NOW + step).turn()
    assert await holders(db) == {other}


async def test_states_of_monitors_that_are_gone_go_too(db: Db) -> None:
    await connect(db, "local", now=NOW)
    await place(db, 2)
    await fetch(db, "DELETE FROM monitors WHERE monitor = (SELECT min(monitor) FROM monitors)")
    await sweeper(db, NOW, NOW - HOUR).turn()
    assert len(await fetch(db, "SELECT FROM states")) == 1
