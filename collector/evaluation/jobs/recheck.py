"""Re-evaluates verdicts that change with time alone: a silent location, a settled collector."""

from collector.evaluation.evaluate import NO_REQUESTS, CheckRequests, differs, reevaluate
from collector.evaluation.storage import locked_monitors, states
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db


class Verdicts:
    """Re-evaluates monitors whose locations disagree with their stored state. Any number may run.

    Results cause most changes of a verdict, but only for their own location, and when they arrive.
    *opinions*: see `ResultWriter`.
    """

    def __init__(
        self,
        db: Db,
        *,
        clock: TrustedClock,
        opinions: CheckRequests = NO_REQUESTS,
    ) -> None:
        self._db = db
        self._clock = clock
        self._opinions = opinions

    async def turn(self) -> bool:
        now, since = self._clock.now(), self._clock.trusted_since()
        async with self._db.connection() as connection:
            doubtful = await locked_monitors.doubtful(connection)
            located = await states.of_monitors(connection, [monitor.monitor for monitor in doubtful])
        wrong = differs(doubtful, located, since, now)
        if not wrong:
            return False
        async with self._db.transaction() as tx:
            evaluation = await reevaluate(tx, wrong, since, now)
        self._opinions.request(evaluation)
        return False
