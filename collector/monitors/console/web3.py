"""Findings of a Web3 monitor for its page: crossed thresholds and the newest events."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from collector.monitors.storage.monitors import Monitor
from collector.platform.log_words import arguments
from collector.platform.storage.db import Db
from collector.web3.core.crossings import is_web3
from collector.web3.storage import web3
from collector.web3.storage.web3 import RaisedThreshold, StoredLog

_EVENTS: Final = "web3_contract_event"
_LOGS: Final = 20
_BACK: Final = timedelta(days=30)
_SOON: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ChainEventLine:
    """*said*: the arguments, or why they could not be read; *alert*: of a transfer."""

    at: datetime
    location: str
    name: str
    said: str
    alert: str
    transaction: str
    block: Any
    removed: bool


@dataclass(frozen=True, slots=True)
class Web3Findings:
    """*crosses*: it has thresholds; *listens*: it reads events or transfers."""

    raised: list[RaisedThreshold]
    happened: list[ChainEventLine]
    crosses: bool
    listens: bool


async def found(db: Db, monitor: Monitor, kind: str, now: datetime) -> Web3Findings | None:
    """Return the findings; None for a monitor of another type; *kind*: its effective type."""
    if not is_web3(kind):
        return None
    async with db.connection() as tx:
        raised = await web3.raised(tx, monitor.team_id, monitor.id)
        logs = await web3.logs_between(tx, monitor.team_id, monitor.id, now - _BACK, now + _SOON, _LOGS)
    return Web3Findings(
        raised,
        [_happened(log) for log in logs],
        crosses=kind != _EVENTS,
        listens=kind in ("whale_wallet", _EVENTS),
    )


def _happened(log: StoredLog) -> ChainEventLine:
    data, alert = log.data, log.data.get("alert")
    return ChainEventLine(
        at=log.found_at,
        location=log.location,
        name=str(data.get("name") or ""),
        said=str(data.get("error") or arguments(data.get("args"))),
        alert=str(alert.get("message") or "") if isinstance(alert, Mapping) else "",
        transaction=str(data.get("transactionHash") or ""),
        block=data.get("blockNumber"),
        removed=log.removed,
    )
