"""Notifies when every check of a monitor is unknown, and when it is measured again: once each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import structlog

from collector.evaluation import event_writer
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import allowed, holding
from collector.evaluation.storage import locked_monitors, states, unmeasured
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.unmeasured import MeasurementChange
from collector.evaluation.suppression import as_decided, surroundings
from collector.events.core import events as payloads
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.platform.clock import Clock
from collector.platform.storage.db import Db, Tx
from shared import ids

log = structlog.get_logger()

_AT_ONCE: Final = 200


class Unmeasured:
    """Any number may run."""

    __slots__ = ("_clock", "_db")

    def __init__(self, db: Db, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def turn(self) -> bool:
        now = self._clock.now()
        async with self._db.connection() as tx:
            turns = await unmeasured.turns(tx, now)
        for start in range(0, len(turns), _AT_ONCE):
            await self._record([one.monitor for one in turns[start : start + _AT_ONCE]], now)
        return False

    async def _record(self, monitors: Sequence[int], now: datetime) -> None:
        async with self._db.transaction() as tx:
            locked = {monitor.monitor: monitor for monitor in await locked_monitors.lock(tx, monitors)}
            free = await _notifiable(tx, list(locked.values()), now)
            turned = [
                one
                for one in await unmeasured.turns(tx, now, list(locked))
                if one.measured or one.monitor in free
            ]
            if turned:
                await unmeasured.save(tx, turned)
                await events.append_all(tx, [_event(one, locked[one.monitor], now) for one in turned], now)
        for one in turned:
            _say(one, locked[one.monitor])


async def _notifiable(tx: Tx, locked: Sequence[LockedMonitor], now: datetime) -> set[int]:
    """Monitors whose notifications no hold suppresses."""
    places = states.by_monitor(await states.of_monitors(tx, [monitor.monitor for monitor in locked]))
    held = await surroundings(tx, locked, places, now)
    return {
        monitor.monitor
        for monitor in locked
        if allowed(holding(standing(as_decided(monitor, held[monitor.monitor])), now)).openings
    }


def _event(turned: MeasurementChange, of: LockedMonitor, now: datetime) -> Event:
    about = event_writer.about(of, down=of.down)
    payload = payloads.measurement(
        about, measured=turned.measured, since=turned.since, error=turned.error, now=now
    )
    return Event(of.team_id, of.id, payload.event, payload)


def _say(turned: MeasurementChange, of: LockedMonitor) -> None:
    named = {"monitor": ids.show("mon", of.id), "name": of.name, "since": turned.since.isoformat()}
    if turned.measured:
        log.info("monitor is measured again", **named)
    else:
        log.warning("monitor is not measured: all its checks are unknown", **named, error=turned.error)
