"""Redelivers a past delivery, whether it succeeded or failed."""

from uuid import UUID

from collector.notifications.storage import deliveries, reads
from collector.notifications.storage.reads import Delivery
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared import ids
from shared.errors import Conflict, NotFound

WHAT = "Delivery"


async def redeliver(db: Db, who: Actor, id_: UUID) -> Delivery:
    """Queue the same event for the same channel again, due at once.

    Raises NotFound; Conflict while the old delivery is still being attempted.
    """
    new = ids.uuid7()
    async with db.transaction() as tx:
        before = await reads.one(tx, who.team_id, id_)
        if before is None:
            raise NotFound(f"{WHAT} not found")
        if not await deliveries.again(tx, who.team_id, id_, new):
            raise Conflict("The delivery is still being tried")
        await audit.record(tx, who, "redeliver", "delivery", ids.show("dlv", id_), name=before.event_kind)
        made = await reads.one(tx, who.team_id, new)
    if made is None:
        raise NotFound(f"{WHAT} not found")
    return made
