"""Deliveries as JSON, and redelivery."""

from typing import Any

from aiohttp import web

from collector.http.auth import actor
from collector.http.context import context_of
from collector.http.request_data import ok, path_id
from collector.notifications.service import redelivery
from collector.notifications.storage.reads import Delivery, DeliveryAttempt
from collector.platform.delivery import Status
from shared import ids


async def redeliver(request: web.Request) -> web.Response:
    """Return the new delivery; the old one stays unchanged."""
    id_ = path_id(request, "dlv", redelivery.WHAT)
    return ok(shown(await redelivery.redeliver(context_of(request).db, actor(request), id_)))


def shown(one: Delivery) -> dict[str, Any]:
    return {
        "id": ids.show("dlv", one.id),
        "event": one.event_kind,
        "eventId": ids.show("evt", one.event_id),
        "status": Status(one.status).name.lower(),
        "createdAt": one.created_at,
        "nextAttemptAt": one.next_attempt_at,
        "attempts": [_attempt(tried) for tried in one.attempts],
    }


def _attempt(tried: DeliveryAttempt) -> dict[str, Any]:
    """An attempt as JSON; `note` is present only if there is something to remark."""
    return {
        "at": tried.at,
        "statusCode": tried.status_code,
        "latencyMs": tried.latency_ms,
        "error": tried.error,
        **({} if tried.note is None else {"note": tried.note}),
    }
