"""Streams the latest checks of the monitors that an open list shows."""

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
from aiohttp import hdrs, web

from collector.console.state import visitor
from collector.monitors.console import rows
from collector.monitors.service.pulse import CheckFeed, ListFollower
from collector.monitors.storage.board import LatestCheck, RecentCheck
from shared import ids

PULSE: web.AppKey[CheckFeed] = web.AppKey("pulse", CheckFeed)
_HEADERS: Final = {
    hdrs.CONTENT_TYPE: "text/event-stream",
    hdrs.CACHE_CONTROL: "no-store",
    "X-Accel-Buffering": "no",
}
# The client then comes again, and its session is checked.
_LASTS_S: Final = 60.0
_COMMENT_EVERY_S: Final = 15.0
_MOST_SHOWN: Final = 200


async def stream(request: web.Request) -> web.StreamResponse:
    """Send an event for each check of the monitors of the query, each with the moment it is known until."""
    pulse = request.app[PULSE]
    follower = pulse.join(visitor(request).team_id, _shown(request))
    response = web.StreamResponse(headers=_HEADERS)
    try:
        with suppress(ConnectionError):
            await response.prepare(request)
            await _follow(follower, response)
    finally:
        pulse.leave(follower)
    return response


async def _follow(follower: ListFollower, response: web.StreamResponse) -> None:
    await response.write(b"retry: 1000\n\n")
    end = time.monotonic() + _LASTS_S
    while not follower.ended and (rest := end - time.monotonic()) > 0:
        news = await follower.take(min(rest, _COMMENT_EVERY_S))
        await response.write(news or b":\n\n")


def draw(latest: LatestCheck, checks: Sequence[RecentCheck]) -> bytes:
    """Return the event of a monitor's latest check."""
    body = {
        "id": ids.show("mon", latest.id),
        "at": latest.last_at,
        "ms": latest.ms,
        "bars": [(bar.x, bar.level, bar.words) for bar in rows.bars(checks)],
        "summary": rows.summary(checks),
        "spark": rows.spark(checks),
    }
    return b"event: check\ndata: %s\n\n" % orjson.dumps(body)


async def close(app: web.Application) -> None:
    app[PULSE].close()


def _shown(request: web.Request) -> dict[UUID, datetime | None]:
    """Read ``mon_...@moment`` pairs; a monitor without a moment was never checked."""
    shown: dict[UUID, datetime | None] = {}
    for text in request.query.get("shown", "").split(",")[:_MOST_SHOWN]:
        name, _, moment = text.partition("@")
        if id_ := ids.read("mon", name):
            shown[id_] = _moment(moment)
    return shown


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
