"""Deliveries as responses, and redelivery."""

from typing import Final

from aiohttp import web

from collector.http.auth import actor
from collector.http.context import context_of
from collector.http.request_data import ok, path_id
from collector.notifications.answers import DeliveryAnswer, DeliveryAttemptAnswer, DeliveryState
from collector.notifications.service import redelivery
from collector.notifications.storage.reads import Delivery, DeliveryAttempt
from collector.platform.delivery import DeliveryStatus
from shared import ids

_STATES: Final[dict[int, DeliveryState]] = {
    DeliveryStatus.PENDING: "pending",
    DeliveryStatus.DELIVERED: "delivered",
    DeliveryStatus.FAILED: "failed",
}


async def redeliver(request: web.Request) -> web.Response:
    """Return the new delivery; the old one stays unchanged."""
    id_ = path_id(request, "dlv", redelivery.WHAT)
    return ok(shown(await redelivery.redeliver(context_of(request).db, actor(request), id_)))


def shown(delivery: Delivery) -> DeliveryAnswer:
    """Return a delivery as lists and reads show it."""
    return DeliveryAnswer(
        id=ids.show("dlv", delivery.id),
        event=delivery.event_kind,
        event_id=ids.show("evt", delivery.event_id),
        status=_STATES[delivery.status],
        created_at=delivery.created_at,
        next_attempt_at=delivery.next_attempt_at,
        attempts=[_attempt(each) for each in delivery.attempts],
    )


def _attempt(attempt: DeliveryAttempt) -> DeliveryAttemptAnswer:
    return DeliveryAttemptAnswer(
        at=attempt.at,
        status_code=attempt.status_code,
        latency_ms=attempt.latency_ms,
        error=attempt.error,
        note=attempt.note,
    )
