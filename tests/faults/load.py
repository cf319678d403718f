"""A durable server of its own, and a probe's session that submits a thousand results a batch to a writer."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from collector.evaluation.storage import cursors
from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.embedded.server import Embedded
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now
from shared.results import Status
from tests.evaluation.world import World, make_world

BATCH = 1_000
IN_FLIGHT = 4


@asynccontextmanager
async def durable(directory: Path) -> AsyncIterator[tuple[Embedded, World]]:
    """A server as it is shipped, unlike that of the other tests, with `BATCH` monitors of one probe."""
    server = Embedded(directory)
    await server.start()
    try:
        await migrate(server.url, utc_now())
        db = await Db.open(server.url, size=6)
        try:
            yield server, await make_world(db, monitors=BATCH)
        finally:
            await db.close()
    finally:
        await server.stop()


@dataclass(slots=True)
class Session:
    """Submits batches in their order, again from the cursor on after any error.

    *acked_at*: the monotonic time of each acknowledgement.
    """

    world: World
    writer: ResultWriter
    batches: list[Submission] = field(default_factory=list)
    acked_at: list[float] = field(default_factory=list)

    async def run(self, until: asyncio.Event, failing: Sequence[int] = ()) -> None:
        """Go on until that event, and then until all is stored.

        *failing*: the numbers of batches in which the first ten monitors are down.
        """
        while not (until.is_set() and await self._stored() == len(self.batches)):
            left = self.batches[await self._stored() :]
            if not until.is_set():
                while len(left) < IN_FLIGHT:
                    left.append(self._next(failing))
            await self._submit(left[:IN_FLIGHT])

    def _next(self, failing: Sequence[int]) -> Submission:
        keys = sorted(self.world.assignments)
        down = 10 if len(self.batches) in failing else 0
        statuses = [Status.DOWN] * down + [Status.UP] * (len(keys) - down)
        self.batches.append(self.world.batch_of(keys, statuses))
        return self.batches[-1]

    async def _submit(self, some: Sequence[Submission]) -> None:
        waiting = [self.writer.submit(replace(each, session=self.world.session)) for each in some]
        for each in waiting:
            try:
                await each
            except Exception:  # noqa: BLE001 - whatever a killed server leads to
                await asyncio.gather(*waiting, return_exceptions=True)
                return
            self.acked_at.append(time.monotonic())

    async def _stored(self) -> int:
        """The number of stored batches, by the cursor of a new session."""
        while True:
            try:
                self.world.session += 1
                await self.world.run(
                    "UPDATE probe_cursors SET session = $1 WHERE probe_id = $2",
                    self.world.session,
                    self.world.probe_id,
                )
                async with self.world.db.connection() as connection:
                    cursor = await cursors.read(connection, self.world.probe_id, self.world.incarnation)
            except Exception:  # noqa: BLE001 - likewise
                await asyncio.sleep(0.02)
            else:
                assert cursor is not None
                return cursor.last_seq
