"""``TOCSIN_WORKERS``: several processes of one role from one command, restarted when they die."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from shared import children

log = structlog.get_logger()

# Less than the 10 s within which everything has to stop.
_GRACE_S: Final = 8.5


class Workers:
    """*environments*: the variables of each worker; *verb*: the command that each one runs."""

    def __init__(self, environments: Sequence[Mapping[str, str]], *verb: str) -> None:
        self._environments = environments
        self._verb = verb
        self._children: dict[int, Process] = {}
        self._keepers: list[asyncio.Task[None]] = []

    def run(self) -> int:
        """Run until SIGTERM or SIGINT. Raises CannotStart."""
        return children.supervise(self._work, self._stop)

    async def _work(self) -> None:
        self._keepers = [
            asyncio.create_task(children.keep(f"{self._verb[0]} {number}", self._life(number, variables)))
            for number, variables in enumerate(self._environments, 1)
        ]
        await children.all_kept(self._keepers)

    async def _stop(self) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await asyncio.gather(*(children.end(child, _GRACE_S) for child in self._children.values()))

    def _life(self, number: int, variables: Mapping[str, str]) -> children.Life:
        async def live() -> int:
            child = self._children[number] = await children.start(variables, *self._verb)
            log.info("started", process=self._verb[0], worker=number, pid=child.pid)
            return await child.wait()

        return live
