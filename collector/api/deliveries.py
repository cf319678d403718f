"""Deliveries: how each is shown, and sending one again."""

from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from collector.api.auth import actor
from collector.api.deps import deps
from collector.api.reading import ok, path_id
from collector.services import redelivery
from collector.storage.deliveries import Status
from collector.storage.delivery_reads import Delivery
from shared import ids


async def redeliver(request: web.Request) -> web.Response:
    """The new delivery: the old one stays as it is."""
    id_ = path_id(request, "dlv", redelivery.WHAT)
    return ok(shown(await redelivery.redeliver(deps(request).db, actor(request), id_)))


def shown(one: Delivery) -> dict[str, Any]:
    """A try has a `note` where something about it needs a word."""
    return {
        "id": ids.show("dlv", one.id),
        "event": one.event_kind,
        "eventId": ids.show("evt", one.event_id),
        "status": Status(one.status).name.lower(),
        "createdAt": one.created_at,
        "nextAttemptAt": one.next_attempt_at,
        "attempts": [{**tried, "at": datetime.fromtimestamp(tried["at"], UTC)} for tried in one.attempts],
    }
