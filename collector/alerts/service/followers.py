"""What alerting does when a monitor is deleted or an incident acknowledged."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.alerts.service import alerts
from collector.alerts.storage import alerts as table
from collector.alerts.storage import rules
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.events.storage.events import Event
from collector.monitors.storage.monitors import Monitor
from collector.notifications.service import deleted_monitors
from collector.platform.access import Actor
from collector.platform.storage.db import Tx


class AlertingFollowers:
    """Implements `MonitorFollowers` and `IncidentFollowers`."""

    async def release(self, tx: Tx, monitor: Monitor) -> None:
        await rules.drop_monitors(tx, monitor.team_id, [monitor.id])

    async def concerned(self, tx: Tx, team_id: int, ids: Sequence[UUID]) -> set[UUID]:
        alerting = {
            alert.monitor_id for alert in await table.of_monitors(tx, [(team_id, id_) for id_ in ids])
        }
        return alerting | await deleted_monitors.owed_an_end(tx, team_id, ids)

    async def release_all(self, tx: Tx, team_id: int, ids: Sequence[UUID]) -> None:
        await rules.drop_monitors(tx, team_id, ids)
        await deleted_monitors.forget(tx, team_id, ids)

    async def end(
        self, tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime
    ) -> list[Event]:
        await deleted_monitors.notify(tx, monitor, incident, now)
        return await alerts.end_with(tx, monitor, now)

    async def acknowledge(self, tx: Tx, actor: Actor, incident_id: UUID, now: datetime) -> None:
        await table.acknowledge_of(tx, actor.team_id, incident_id, actor.shown, now)

    async def unacknowledge(
        self, tx: Tx, team_id: int, incident_id: UUID, since: datetime, now: datetime
    ) -> None:
        await table.unacknowledge_of(tx, team_id, incident_id, since, now)


FOLLOWERS = AlertingFollowers()
