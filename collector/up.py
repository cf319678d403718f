"""``tocsin up``: PostgreSQL, a collector and a probe as three processes; restarts each that dies."""

import asyncio
import sys
from typing import TYPE_CHECKING

from shared import children
from shared.command import begin
from shared.settings import CollectorSettings, UpSettings, environment

if TYPE_CHECKING:
    from collector.supervisor import Supervisor


def main(argv: list[str]) -> int:
    """Run all three until SIGTERM or SIGINT."""
    up = _Up(begin("up", UpSettings, argv))
    return children.supervise(up.work, up.stop)


class _Up:
    def __init__(self, settings: UpSettings) -> None:
        self._settings = settings
        self._supervisor: Supervisor | None = None

    async def work(self) -> None:
        """Start everything and keep it running. Raises CannotStart."""
        # The collector's code, the largest, is loaded beside the supervisor's and while the database starts.
        collector = await children.load(environment(CollectorSettings, self._settings), "collector")
        # In a thread: a signal ends it meanwhile.
        supervisor = await asyncio.to_thread(_supervisor)
        self._supervisor = supervisor(self._settings, collector)
        await self._supervisor.work()

    async def stop(self) -> None:
        """Stop all three."""
        if self._supervisor is None:
            sys.stderr.write("tocsin: stopped\n")  # as when it is stopped before that
        else:
            await self._supervisor.stop()


def _supervisor() -> "type[Supervisor]":
    from collector.supervisor import Supervisor  # noqa: PLC0415 - it takes most of the start

    return Supervisor
