"""Announces Web3 findings: thresholds at their edges, logs once each, in the chain's order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.evaluation import event_writer
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import AllowedEffects, Hold, allowed, holding
from collector.evaluation.storage import locked_monitors, states
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.suppression import as_decided, surroundings
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.platform.clock import Clock
from collector.platform.storage.db import Db, Tx
from collector.web3.core.web3 import ChainAlert, ChainAnnouncement, due, passes
from collector.web3.storage import news as web3_news
from collector.web3.storage import writes
from collector.web3.storage.news import CheckedChain, UnannouncedLog
from collector.web3.storage.writes import Key
from shared.loop import Bell

_MONITORS: Final = 20
# Each may be as large as 64 kB.
_LOGS: Final = 100
# A contract may emit more than anybody reads: of each monitor this many logs are announced per minute,
# later ones afterwards.
PACE: Final = 1_000
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _LockedChain:
    """A locked monitor, and its holds."""

    row: LockedMonitor
    chain: CheckedChain
    holds: tuple[Hold, ...]

    @property
    def free(self) -> AllowedEffects:
        return allowed(self.holds)

    @property
    def key(self) -> tuple[int, UUID]:
        return self.row.team_id, self.row.id


@dataclass(slots=True)
class _ChainEvents:
    events: list[Event] = field(default_factory=list)
    alerts: dict[Key, ChainAlert | None] = field(default_factory=dict)
    logs: list[UnannouncedLog] = field(default_factory=list)
    more: bool = False


class Web3:
    """Announces findings on chains. Any number may run."""

    __slots__ = ("_after", "_again", "_clock", "_db", "bell")

    def __init__(self, db: Db, *, clock: Clock) -> None:
        """*bell* wakes it after a finding."""
        self._db = db
        self._clock = clock
        self._after = 0
        self._again = False
        self.bell = Bell()

    async def turn(self) -> bool:
        """Process the next monitors with unannounced findings; some may be held back for long."""
        now = self._clock.now()
        async with self._db.connection() as tx:
            waiting = await web3_news.waiting(tx, self._after, now, _MONITORS)
        if waiting:
            self._again |= await self._write(waiting, now)
        more = len(waiting) == _MONITORS
        self._after = waiting[-1] if more else 0
        again, self._again = self._again, self._again and more
        return more or again

    async def _write(self, monitors: Sequence[int], now: datetime) -> bool:
        async with self._db.transaction() as tx:
            news = await _news(tx, await _looked_at(tx, monitors, now), now)
            await writes.save_alerts(tx, news.alerts)
            if news.logs:
                await web3_news.mark_announced(tx, news.logs, now)
            if news.events:
                await events.append_all(tx, news.events, now)
        return news.more


async def _looked_at(tx: Tx, monitors: Sequence[int], now: datetime) -> list[_LockedChain]:
    locked = await locked_monitors.lock(tx, monitors)
    places = states.by_monitor(await states.of_monitors(tx, [monitor.monitor for monitor in locked]))
    held = await surroundings(tx, locked, places, now)
    chains = await web3_news.chains(tx, [monitor.monitor for monitor in locked])
    return [
        _LockedChain(
            monitor,
            chains[monitor.monitor],
            holding(standing(as_decided(monitor, held[monitor.monitor])), now),
        )
        for monitor in locked
    ]


async def _news(tx: Tx, looked_at: Sequence[_LockedChain], now: datetime) -> _ChainEvents:
    news = _ChainEvents()
    of = {monitor.key: monitor for monitor in looked_at}
    for (team, id_, key), alert in (await writes.alerts(tx, list(of))).items():
        _weigh(news, of[team, id_], key, alert, now)
    ending = [(*monitor.key, _LOGS) for monitor in looked_at if monitor.free.recovery]
    ended = await web3_news.unannounced(tx, ending, _LOGS, removed=True)
    if passed := [monitor.key for monitor in looked_at if passes(monitor.holds)]:
        await web3_news.pass_over(tx, passed)
    lately = await web3_news.announced_since(tx, list(of), now - _MINUTE)
    room = {
        monitor.key: min(_LOGS, PACE - lately.get(monitor.key, 0))
        for monitor in looked_at
        if monitor.free.openings
    }
    beginning = [(*key, most) for key, most in room.items() if most > 0]
    begun = await web3_news.unannounced(tx, beginning, _LOGS, removed=False)
    news.logs = [*ended, *begun]
    for log in news.logs:
        monitor = of[log.team_id, log.monitor_id]
        news.events.append(event_writer.chain_log(monitor.row, monitor.chain, log, now))
    news.more = len(news.logs) >= _LOGS
    return news


def _weigh(news: _ChainEvents, monitor: _LockedChain, key: str, alert: ChainAlert, now: datetime) -> None:
    """Add a threshold's announcement, if there is one."""
    announcement, after = due(alert, monitor.free, now)
    if after != alert:
        news.alerts[monitor.row.team_id, monitor.row.id, key] = after
    for over in {
        ChainAnnouncement.RAISED: (False,),
        ChainAnnouncement.RECOVERED: (True,),
        ChainAnnouncement.BOTH: (False, True),
    }.get(announcement, ()):
        news.events.append(event_writer.crossing(monitor.row, monitor.chain, key, alert, over=over, now=now))
