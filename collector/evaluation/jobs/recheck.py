"""Re-evaluates verdicts that change with time alone: a silent location, a settled collector."""

from collections.abc import Callable
from datetime import datetime

from collector.evaluation.evaluate import Ask, differs, reevaluate, request_none
from collector.evaluation.storage import locked_monitors, states
from collector.platform.storage.db import Db


class Verdicts:
    """Re-evaluates monitors whose locations disagree with their stored state. Any number may run.

    Results cause most changes of a verdict, but only for their own location, and when they arrive.
    *since*: see `ClockGuard`; *ask*: see `ResultWriter`.
    """

    def __init__(
        self,
        db: Db,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
        ask: Ask = request_none,
    ) -> None:
        self._db = db
        self._since = since
        self._now = now
        self._ask = ask

    async def turn(self) -> bool:
        now, since = self._now(), self._since()
        async with self._db.connection() as connection:
            doubtful = await locked_monitors.doubtful(connection)
            located = await states.of_monitors(connection, [one.monitor for one in doubtful])
        wrong = differs(doubtful, located, since, now)
        if not wrong:
            return False
        async with self._db.transaction() as tx:
            evaluation = await reevaluate(tx, wrong, since, now)
        self._ask(evaluation.doubted, evaluation.risen)
        return False
