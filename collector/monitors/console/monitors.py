"""The list of monitors: search, filter, bulk actions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from aiohttp import web

from collector.console import charts, common
from collector.console.answers import back, page, posted, value
from collector.console.charts import Bars
from collector.console.state import visitor
from collector.history.service import statistics
from collector.http.context import context_of
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.service import bulk, reads
from collector.monitors.service.bulk import BulkRun, By, Done
from collector.monitors.service.bulk_fields import parse
from collector.monitors.storage.lists import ListedMonitor, MonitorFilter
from collector.platform.monitor import status
from shared import ids
from shared.errors import Invalid
from shared.kinds import TYPES

HERE: Final = "/monitors"
_STATUSES: Final = ("up", "down", "paused")
_SILENCED: Final = "silenced"
_DAYS: Final = 30
_LONGEST: Final = 200
# The duration of the list's silence action.
_HOUR_S: Final = 3_600


@dataclass(frozen=True, slots=True)
class MonitorLine:
    """A line of the list."""

    item: ListedMonitor
    status: str
    unmeasured: bool
    silenced: bool
    bars: Bars | None
    uptime: float | None


async def list_(request: web.Request) -> web.StreamResponse:
    context, team_id = context_of(request), visitor(request).team_id
    number, wanted = common.asked(request), _wanted(request)
    offset, now = (number - 1) * common.PER_PAGE, context.now()
    found, total = await reads.page(context.db, team_id, wanted, common.PER_PAGE, offset)
    days = (
        await statistics.daily_of(context.db, team_id, [one.id for one in found], _DAYS, now) if found else {}
    )
    return page(
        request,
        "monitors.html.j2",
        rows=[_row(one, days.get(one.id), now) for one in found],
        total=total,
        at=common.at(request, number, total),
        wanted=wanted,
        query=_query(request),
        narrowed=wanted != MonitorFilter(),
        types=list(TYPES),
        statuses=(*_STATUSES, _SILENCED),
    )


async def carry_out(request: web.Request) -> web.StreamResponse:
    """Run one action on the ticked monitors."""
    form = await posted(request)
    action: dict[str, Any] = {"action": value(form, "deed"), "filter": {"ids": form.get("id", [])}}
    if action["action"] == "silence":
        action["duration"] = _HOUR_S
    if action["action"] == "tag":
        name, _, text = value(form, "tag").partition(":")
        action["tags"] = {name.strip(): text.strip()}
    if not form.get("id"):
        return back(request, _here(form), "Select monitors first.", tone="warn")
    context, mine = context_of(request), visitor(request)
    try:
        asked = parse(action)
    except Invalid as fault:
        return back(
            request, _here(form), "; ".join(f"{k}: {v}" for k, v in fault.details.items()), tone="bad"
        )
    by = By(mine.team_id, mine.name)
    run = BulkRun(common.service_context(request), request.app[MONITOR_FOLLOWERS], by, asked)
    done = await bulk.carry_out(run, context.now)
    return back(request, _here(form), _said(done), tone="bad" if done.failed else "good")


def _said(done: Done) -> str:
    said = f"{len(done.changed)} of {done.matched} changed."
    if done.failed:
        said += f" {len(done.failed)} failed: {done.failed[0][1]}"
    return said


def _here(form: Any) -> str:
    """Return the list's address with its filter, and no other address."""
    query = value(form, "query")
    return f"{HERE}?{query}" if query and not query.startswith("/") else HERE


def _row(item: ListedMonitor, daily: statistics.Daily | None, now: datetime) -> MonitorLine:
    return MonitorLine(
        item,
        status(paused_at=item.paused_at, down=item.down, last_at=item.last_at),
        item.unmeasured_since is not None and item.paused_at is None and not item.down,
        item.silenced_until is not None and item.silenced_until > now,
        charts.bars([day.uptime for day in daily.days]) if daily else None,
        daily.uptime if daily else None,
    )


def _wanted(request: web.Request) -> MonitorFilter:
    """Return the filter of the query, without invalid values."""
    asked = {name: text.strip()[:_LONGEST] for name, text in request.query.items() if text.strip()}
    known = {"status": asked.get("status"), "type": asked.get("type")}
    return MonitorFilter(
        status=known["status"] if known["status"] in _STATUSES else None,
        type=known["type"] if known["type"] in TYPES else None,
        group=asked.get("group"),
        tag=asked.get("tag"),
        text=asked.get("q"),
        location=asked.get("location"),
        silenced_at=context_of(request).now() if known["status"] == _SILENCED else None,
    )


def _query(request: web.Request) -> str:
    """Return the list's query without its page."""
    return request.rel_url.without_query_params("page").query_string


def path(id_: Any) -> str:
    """Return the path of a monitor's page."""
    return f"{HERE}/{ids.show('mon', id_)}"
