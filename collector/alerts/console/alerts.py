"""Open alerts, with actions for those without an incident."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from aiohttp import web

from collector.alerts.console import sections
from collector.alerts.core.status import AlertStatus
from collector.alerts.service import alerts
from collector.alerts.storage.alerts import Alert, AlertFilter
from collector.console import common
from collector.console.answers import back, page
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared.errors import Conflict

HERE: Final = "/alerting/alerts"
_OPEN: Final = (AlertStatus.FIRING, AlertStatus.ACKNOWLEDGED)
_STATUSES: Final = (*_OPEN, AlertStatus.RECOVERED)


async def list_(request: web.Request) -> web.StreamResponse:
    """List open alerts, or those of the requested status."""
    asked = request.query.get("status", "")
    wanted = asked if asked in _STATUSES else ""
    context, team_id, number = context_of(request), visitor(request).team_id, common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    rows: list[Alert] = []
    total = 0
    for status in (wanted,) if wanted else _OPEN:
        found, more = await alerts.page(
            context.db, team_id, AlertFilter(status=status), common.PER_PAGE, offset
        )
        rows, total = rows + found, max(total, more)
    return page(
        request,
        "alerts.html.j2",
        rows=rows,
        wanted=wanted,
        statuses=_STATUSES,
        reason=sections.reason,
        silence=sections.silence(await sections.every_channel(request)),
        at=common.at(request, number, total),
    )


async def acknowledge(request: web.Request) -> web.StreamResponse:
    return await _perform(request, alerts.acknowledge, "Acknowledged. Reminders have stopped.")


async def resolve(request: web.Request) -> web.StreamResponse:
    return await _perform(request, alerts.resolve, "Alert resolved.")


async def _perform(
    request: web.Request, action: Callable[[Db, Actor, UUID, datetime], Awaitable[Alert]], text: str
) -> web.StreamResponse:
    context, id_ = context_of(request), path_id(request, "alert", alerts.WHAT)
    try:
        await action(context.db, who(request), id_, context.now())
    except Conflict as fault:
        return back(request, HERE, str(fault), tone="bad")
    return back(request, HERE, text)
