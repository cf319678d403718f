"""Reads the findings of a Web3 monitor; other kinds have none."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from collector.history.storage.result_reads import Result, ResultCursor
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Db
from collector.web3.storage import web3
from collector.web3.storage.web3 import RaisedThreshold, StoredLog
from shared.findings import MAX_FINDINGS
from shared.kinds import WEB3, effective

_WITH_LOGS: Final = frozenset({"whale_wallet", "web3_contract_event"})
# A page of results is cut off before it contains more logs; each may be as large as 64 kB.
_MOST_LOGS: Final = MAX_FINDINGS


async def alerts(db: Db, monitor: Monitor) -> list[RaisedThreshold] | None:
    """The thresholds that are crossed now; None for kinds without thresholds."""
    if effective(monitor.type, monitor.config) not in WEB3:
        return None
    async with db.connection() as tx:
        return await web3.raised(tx, monitor.team_id, monitor.id)


async def logs(
    db: Db, monitor: Monitor, shown: Sequence[Result]
) -> tuple[Sequence[Result], Mapping[ResultCursor, Sequence[StoredLog]]]:
    """The newest of *shown*, fewer if they contain too many logs, and each one's logs, newest first.

    Empty for kinds that read no logs.
    """
    if effective(monitor.type, monitor.config) not in _WITH_LOGS or not shown:
        return shown, {}
    async with db.connection() as tx:
        kept = await web3.logs_between(tx, monitor.team_id, monitor.id, shown[-1].ts, shown[0].ts, _MOST_LOGS)
    if len(kept) == _MOST_LOGS:
        whole = [result for result in shown if result.ts > kept[-1].found_at]
        shown = whole or [result for result in shown if result.ts == shown[0].ts]
    by_result = defaultdict(list)
    for log in kept:
        by_result[log.found_at, log.location].append(log)
    return shown, {result.cursor: by_result.pop((result.ts, result.name), []) for result in shown}
