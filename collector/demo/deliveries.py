"""Deliveries of the demonstration: claimed and finished as the sender does, without sending anything."""

from datetime import timedelta
from random import Random
from typing import Final

from collector.demo import storage
from collector.demo.core.setup import BROKEN
from collector.notifications.storage import deliveries as table
from collector.notifications.storage.deliveries import AttemptOutcome, ClaimedDelivery
from collector.platform.delivery import DeliveryStatus
from collector.platform.storage.db import Db

_AT_ONCE: Final = 500
_TRIES: Final = 3
_REFUSED: Final = "connection refused"


async def deliver(db: Db, team_id: int, random: Random) -> int:
    """Attempt all deliveries that are due until each has arrived or failed; return the number of attempts."""
    attempts = 0
    while True:
        async with db.transaction() as tx:
            await table.walk(tx)
            claimed = await table.claim(tx, _AT_ONCE, _AT_ONCE, {}, mails=_AT_ONCE)
            await table.finish(tx, [_finish(delivery, random) for delivery in claimed])
        if not claimed:
            break
        attempts += len(claimed)
    async with db.transaction() as tx:
        await storage.date_deliveries(tx, team_id)
    return attempts


def _finish(delivery: ClaimedDelivery, random: Random) -> AttemptOutcome:
    """Channels that are broken fail after a few attempts; others stumble now and then."""
    took = round(random.lognormvariate(5, 0.5))
    broken = delivery.channel_name in BROKEN
    if broken or (delivery.attempt == 1 and random.random() < 0.04):
        failed = broken and delivery.attempt >= _TRIES
        status = DeliveryStatus.FAILED if failed else DeliveryStatus.PENDING
        error, code = (_REFUSED, None) if broken else ("HTTP 503", 503)
        return AttemptOutcome(
            delivery.team_id,
            delivery.id,
            delivery.attempt,
            status,
            wait=timedelta(),
            status_code=code,
            latency_ms=took,
            error=error,
        )
    return AttemptOutcome(
        delivery.team_id,
        delivery.id,
        delivery.attempt,
        DeliveryStatus.DELIVERED,
        status_code=200,
        latency_ms=took,
    )
