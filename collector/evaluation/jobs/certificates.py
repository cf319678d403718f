"""Announces certificates near expiry, once each, when no hold suppresses it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from collector.evaluation import event_writer
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import allowed, holding
from collector.evaluation.storage import certificates, locked_monitors, states
from collector.evaluation.storage.certificates import UnannouncedExpiry
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.suppression import as_decided, surroundings
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import CertificateExpiringEvent, EndingCertificate, EventIncident
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.history.core.certificate import days_left, ends_at, expiry
from collector.platform.clock import Clock
from collector.platform.storage.db import Db, Tx
from shared import ids

_AT_ONCE: Final = 100
# A probe whose clock is behind may still report an expired certificate as near expiry.
_KEEP: Final = timedelta(days=7)
_FORGET_EVERY: Final = timedelta(hours=1)


class Certificates:
    """Any number may run."""

    __slots__ = ("_after", "_clock", "_db", "_forgot_at")

    def __init__(self, db: Db, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._after = 0
        self._forgot_at: datetime | None = None

    async def turn(self) -> bool:
        """Process the next monitors with an unannounced expiry: many may be suppressed for long."""
        now = self._clock.now()
        await self._forget(now)
        async with self._db.connection() as tx:
            found = await certificates.waiting(tx, self._after, now, _AT_ONCE)
        more = len(found) == _AT_ONCE
        self._after = found[-1] if more else 0
        if found:
            await self._write(found, now)
        return more

    async def _write(self, monitors: Sequence[int], now: datetime) -> None:
        async with self._db.transaction() as tx:
            news = await _news(tx, await locked_monitors.lock(tx, monitors), now)
            if news:
                await events.append_all(tx, news, now)

    async def _forget(self, now: datetime) -> None:
        if self._forgot_at is not None and now - self._forgot_at < _FORGET_EVERY:
            return
        async with self._db.transaction() as tx:
            await certificates.forget(tx, now - _KEEP)
        self._forgot_at = now


async def _news(tx: Tx, locked: Sequence[LockedMonitor], now: datetime) -> list[Event]:
    """Return events of certificates that some location still sees and no hold suppresses; mark these."""
    places = states.by_monitor(await states.of_monitors(tx, [monitor.monitor for monitor in locked]))
    held = await surroundings(tx, locked, places, now)
    free = {
        monitor.monitor: monitor
        for monitor in locked
        if allowed(holding(standing(as_decided(monitor, held[monitor.monitor])), now)).openings
    }
    due = [expiry for expiry in await certificates.unannounced(tx, list(free), now) if _seen(expiry)]
    if due:
        await certificates.mark_announced(tx, due, now)
    return [_event(expiry, free[expiry.monitor], now) for expiry in due]


def _seen(unannounced_expiry: UnannouncedExpiry) -> bool:
    return any(
        checkpoint is not None and checkpoint.only_near and ends_at(checkpoint) == unannounced_expiry.ends_at
        for checkpoint in map(expiry, unannounced_expiry.checkpoints)
    )


def _event(expiry: UnannouncedExpiry, of: LockedMonitor, now: datetime) -> Event:
    incident = of.open_incident
    payload = CertificateExpiringEvent(
        event=EventKind.CERTIFICATE_EXPIRING,
        timestamp=now,
        monitor=event_writer.about(of, down=of.down),
        certificate=EndingCertificate(
            ends_at=expiry.ends_at,
            days_left=days_left(expiry.ends_at, now),
            expiry_days=expiry.expiry_days,
        ),
        incident=EventIncident(id=ids.show("inc", incident.id), severity=incident.severity)
        if incident
        else None,
    )
    return Event(of.team_id, of.id, payload.event, payload, incident.id if incident else None)
