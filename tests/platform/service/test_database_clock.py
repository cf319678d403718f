"""The time that collectors share is the database's, whatever the clock of a collector's machine says."""

from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from collector.platform import metrics
from collector.platform.database_clock import MOST_APART, DatabaseClock
from collector.platform.storage import database_time
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import Unavailable

SECOND = timedelta(seconds=1)
STEPS = [timedelta(days=40), timedelta(days=-40), timedelta(hours=2), timedelta(hours=-2), 61 * SECOND]


class Machine:
    """A machine whose clocks a test sets."""

    def __init__(self) -> None:
        self.wall_ahead = timedelta()
        self.boot_us = 1_000_000_000
        self.next_boot_us: list[int] = []

    def wall(self) -> datetime:
        return utc_now() + self.wall_ahead

    def boot(self) -> int:
        return self.next_boot_us.pop(0) if self.next_boot_us else self.boot_us


async def asked(db: Db) -> datetime:
    async with db.connection() as tx:
        return await database_time.read(tx)


@pytest.mark.parametrize("ahead", STEPS)
async def test_it_is_the_database_s_time_whatever_our_own_clock_says(db: Db, ahead: timedelta) -> None:
    machine = Machine()
    clock = DatabaseClock(db, wall=machine.wall)
    machine.wall_ahead = ahead
    await clock.turn()
    first = await asked(db)
    now = clock.now()
    last = await asked(db)
    # It may be off by half as long as the answer took.
    assert first - SECOND < now < last + SECOND


@pytest.mark.parametrize("step", STEPS)
async def test_our_clock_is_set_and_the_time_goes_on(db: Db, step: timedelta) -> None:
    """At once, not only at the next turn: nobody deletes in between."""
    machine = Machine()
    clock = DatabaseClock(db, wall=machine.wall)
    await clock.turn()
    before = clock.agreed()
    machine.wall_ahead = step
    assert before <= clock.now() < before + MOST_APART
    with pytest.raises(Unavailable, match="more than a minute apart"):
        clock.agreed()
    machine.wall_ahead = timedelta()
    assert clock.agreed() >= before


async def test_what_disagrees_is_said_once_and_shown_in_the_metrics(db: Db) -> None:
    machine = Machine()
    clock = DatabaseClock(db, wall=machine.wall)
    with capture_logs() as logs:
        await clock.turn()
        machine.wall_ahead = timedelta(hours=1)
        await clock.turn()
        await clock.turn()
        shown = metrics.clock_ahead._value.get()
        machine.wall_ahead = timedelta()
        await clock.turn()
    assert [line["event"].partition(":")[0] for line in logs] == ["clocks disagree", "clocks agree again"]
    assert 3_590 < shown < 3_610


async def test_a_slow_answer_moves_nothing_and_a_clock_that_was_set_does(db: Db) -> None:
    machine = Machine()
    clock = DatabaseClock(db, boot_us=machine.boot)
    await clock.turn()
    now = clock.now()
    # This answer takes two minutes.
    machine.next_boot_us = [machine.boot_us - 60_000_000, machine.boot_us + 60_000_000]
    await clock.turn()
    assert clock.now() == now
    machine.boot_us -= 3_600_000_000  # by our boot clock the database's was set to an hour later
    await clock.turn()
    assert timedelta() < clock.now() - now < MOST_APART


async def test_between_two_turns_the_boot_clock_counts(db: Db) -> None:
    machine = Machine()
    clock = DatabaseClock(db, boot_us=machine.boot)
    await clock.turn()
    now = clock.now()
    machine.boot_us += 5_000_000
    assert clock.now() - now == 5 * SECOND
