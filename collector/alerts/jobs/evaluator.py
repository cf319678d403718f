"""Evaluates the rules of monitors that were marked or whose alerts are due."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from collector.alerts.core.status import AlertStatus
from collector.alerts.evaluate import AlertChanges, MonitorSnapshot, evaluate_rule
from collector.alerts.inputs import gather
from collector.alerts.storage import alerts as table
from collector.alerts.storage import inputs
from collector.alerts.storage.alerts import Alert
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import allowed, holding
from collector.evaluation.storage import locked_monitors, rule_triggers, states
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.rule_triggers import Key
from collector.evaluation.suppression import as_decided, surroundings
from collector.events.storage import events, timeline
from collector.notifications.storage import channels
from collector.notifications.storage.channels import Addressee
from collector.platform.storage.db import Db, Tx
from shared.clock import UtcClock
from shared.errors import Unavailable
from shared.loop import Bell

log = structlog.get_logger()

_AT_ONCE = 500
# A monitor whose evaluation failed is retried after this time.
_AFTER_A_FAULT = timedelta(minutes=1)


class Evaluator:
    """Any number of them may run."""

    __slots__ = ("_db", "_now", "bell")

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now
        self.bell = Bell()

    async def turn(self) -> bool:
        """Evaluate some monitors; return whether there are more."""
        now = self._now()
        async with self._db.transaction() as tx:
            marked = await rule_triggers.take(tx, now, _AT_ONCE)
            due = await rule_triggers.due(tx, now, _AT_ONCE)
            if marked or due:
                await self._look(tx, marked | due, now)
        return len(marked) == _AT_ONCE or len(due) == _AT_ONCE

    async def _look(self, tx: Tx, keys: Collection[Key], now: datetime) -> None:
        """Evaluate all together; if that fails, each alone, so that one cannot block the others."""
        try:
            async with tx.transaction():
                await evaluate(tx, sorted(keys), now)
                return
        except Unavailable:
            raise
        except Exception:
            log.exception("joint evaluation of monitors failed", monitors=len(keys))
        failed: dict[Key, datetime] = {}
        for key in sorted(keys):
            try:
                async with tx.transaction():
                    await evaluate(tx, [key], now)
            except Unavailable:
                raise
            except Exception:
                log.exception("evaluation of a monitor failed", monitor=str(key[1]))
                await table.postpone(tx, key, now)
                failed[key] = now + _AFTER_A_FAULT
        if failed:
            await rule_triggers.add_later(tx, failed)


async def evaluate(tx: Tx, keys: Sequence[Key], now: datetime) -> None:
    """Evaluate all rules of these monitors."""
    numbers = await inputs.numbers(tx, keys)
    locked = await locked_monitors.lock(tx, sorted(numbers.values()))
    known = await table.of_monitors(tx, keys)
    seen = await _seen(tx, locked, now)
    writes = AlertChanges()
    by_monitor = _by_monitor(known)
    applied = await gather(tx, seen, by_monitor, now)
    for key, of_one in by_monitor.items():
        if numbers.get(key) not in seen:
            writes.changed += [_left(alert, now, gone=key not in numbers) for alert in of_one.values()]
    for monitor in locked:
        found = by_monitor.get((monitor.team_id, monitor.id), {})
        rules = applied.get(monitor.monitor, {})
        for rule_id in dict.fromkeys((*rules, *found)):
            evaluate_rule(seen[monitor.monitor], rules.get(rule_id), found.get(rule_id), now, writes)
    await _write(tx, writes, now)


def _left(alert: Alert, now: datetime, *, gone: bool) -> Alert:
    """End the alert of a deleted monitor; suspend that of a paused one until it is resumed."""
    if gone and alert.status != AlertStatus.RECOVERED:
        return replace(alert, status=AlertStatus.RECOVERED, recovered_at=now, due_at=None, muted_until=None)
    return replace(alert, due_at=None)


def _by_monitor(alerts: Sequence[Alert]) -> Mapping[Key, dict[UUID, Alert]]:
    """Group by monitor and rule; an open alert takes precedence."""
    found: defaultdict[Key, dict[UUID, Alert]] = defaultdict(dict)
    for alert in sorted(alerts, key=lambda one: (one.status != AlertStatus.RECOVERED, one.fired_at)):
        found[alert.team_id, alert.monitor_id][alert.rule_id] = alert
    return found


async def _seen(tx: Tx, locked: Sequence[LockedMonitor], now: datetime) -> dict[int, MonitorSnapshot]:
    """Load the monitors' snapshots by their numbers."""
    places = states.by_monitor(await states.of_monitors(tx, [monitor.monitor for monitor in locked]))
    held = await surroundings(tx, locked, places, now) if locked else {}
    by_team: defaultdict[int, dict[UUID, Addressee]] = defaultdict(dict)
    for channel in await channels.addressees(tx, sorted({monitor.team_id for monitor in locked})):
        by_team[channel.team_id][channel.id] = channel
    return {
        monitor.monitor: MonitorSnapshot(
            monitor,
            places[monitor.monitor],
            allowed(holding(standing(as_decided(monitor, held[monitor.monitor])), now)),
            by_team[monitor.team_id],
        )
        for monitor in locked
    }


async def _write(tx: Tx, writes: AlertChanges, now: datetime) -> None:
    if writes.later:
        await rule_triggers.add_later(tx, writes.later)
    if writes.fired:
        await table.insert(tx, writes.fired)
    if writes.changed:
        await table.save(tx, [await _signed(tx, alert) for alert in writes.changed])
    if writes.entries:
        await timeline.add(tx, writes.entries, now)
    # Last: appending takes the team's next position, for which the team's other transactions wait.
    if writes.events:
        await events.append_all(tx, writes.events, now)


async def _signed(tx: Tx, alert: Alert) -> Alert:
    """Add the user who acknowledged the alert's incident."""
    if (
        alert.status != AlertStatus.ACKNOWLEDGED
        or alert.acknowledged_by is not None
        or alert.incident_id is None
    ):
        return alert
    by = await inputs.acknowledged_by(tx, alert.team_id, alert.incident_id)
    return replace(alert, acknowledged_by=by)
