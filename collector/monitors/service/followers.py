"""What features above monitors do when a monitor is deleted: an interface that they implement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.events.storage.events import Event
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Tx


class MonitorFollowers(Protocol):
    """Takes part in the transaction that deletes a monitor."""

    async def release(self, tx: Tx, monitor: Monitor) -> None:
        """Remove the monitor from what names it; its row is deleted already."""

    async def concerned(self, tx: Tx, team_id: int, ids: Sequence[UUID]) -> set[UUID]:
        """Return those of the monitors whose deletion somebody has to be notified of.

        Nobody is notified of what is pending of all of them until the transaction ends.
        """

    async def release_all(self, tx: Tx, team_id: int, ids: Sequence[UUID]) -> None:
        """As `release`, for deleted monitors that are not `concerned`: pending events are dropped."""

    async def end(
        self, tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime
    ) -> list[Event]:
        """Notify the recipients of its outage of the end; return further events to append.

        *incident*: the monitor's newest one, as it was before the deletion.
        """
