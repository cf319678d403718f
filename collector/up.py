"""``tocsin up``: PostgreSQL, a collector and a probe as three processes; restarts each that dies."""

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
        from collector.supervisor import Supervisor  # noqa: PLC0415 - as above

        self._supervisor = Supervisor(self._settings, collector)
        await self._supervisor.work()

    async def stop(self) -> None:
        """Stop all three."""
        if self._supervisor is not None:
            await self._supervisor.stop()
