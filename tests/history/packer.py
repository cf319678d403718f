"""A process that packs MONDAY a monitor at a time, for tests that kill it: its argument is the database."""

import asyncio
import sys

from collector.history.jobs import packing
from collector.history.jobs.packing import Packing
from collector.platform.storage.db import Db
from tests.clocks import GivenClock
from tests.history.packed import DAY, MONDAY


async def main(url: str) -> None:
    packing._MONITORS = 1
    db = await Db.open(url, size=2)
    work = Packing(db, clock=GivenClock(lambda: MONDAY + 4 * DAY))
    sys.stdout.write("packing\n")
    sys.stdout.flush()
    while await work.turn():
        pass
    await db.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
