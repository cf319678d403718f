"""Tracks the health of channels from delivery attempts: failing ones, and those that ask for a pause."""

from collections.abc import Sequence
from typing import Final

from collector.notifications.storage import deliveries, faults
from collector.notifications.storage.deliveries import LOST, AttemptOutcome, ClaimedDelivery
from collector.notifications.storage.faults import FailedChannel
from collector.platform.delivery import DeliveryStatus
from collector.platform.storage.db import Tx

DISABLED: Final = "the channel is disabled"


async def record(tx: Tx, done: Sequence[tuple[ClaimedDelivery, AttemptOutcome]]) -> None:
    """Record which channels work or fail: one success among the finished attempts means that it works."""
    works = {delivery.channel_id for delivery, finish in done if finish.status is DeliveryStatus.DELIVERED}
    failed = {
        delivery.channel_id: FailedChannel(delivery.team_id, delivery.channel_id, finish.error)
        for delivery, finish in done
        if finish.error is not None
        and finish.error not in (DISABLED, LOST)
        and delivery.channel_id not in works
    }
    if failed:
        await faults.fail(tx, list(failed.values()))
    pauses = {
        (delivery.team_id, delivery.channel_id): finish.pause
        for delivery, finish in done
        if finish.pause is not None
    }
    if pauses:
        await deliveries.pause(tx, pauses)
