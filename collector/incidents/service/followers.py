"""What features above incidents do when a user acts on an incident: an interface that they implement."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from collector.platform.access import Actor
from collector.platform.storage.db import Tx


class IncidentFollowers(Protocol):
    """Takes part in the transaction of the action."""

    async def acknowledge(self, tx: Tx, actor: Actor, incident_id: UUID, now: datetime) -> None:
        """Acknowledge what was sent for the incident, so that nothing escalates."""

    async def unacknowledge(
        self, tx: Tx, team_id: int, incident_id: UUID, since: datetime, now: datetime
    ) -> None:
        """Withdraw the acknowledgements that followed that of the incident, made at *since*."""
