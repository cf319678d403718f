"""Statistics of incidents over time: how many, and how long until they are acknowledged and resolved."""

from datetime import timedelta
from typing import Final

from aiohttp import web

from collector.console.answers import page
from collector.console.charts import columns
from collector.console.state import visitor
from collector.http.context import context_of
from collector.incidents.core.stats import Period
from collector.incidents.service import stats
from collector.incidents.service.stats import Group

_SPANS: Final = {
    Period.DAY: timedelta(days=30),
    Period.WEEK: timedelta(days=182),
    Period.MONTH: timedelta(days=730),
}


async def show(request: web.Request) -> web.StreamResponse:
    """Show the statistics by day, by week or by month."""
    asked = request.query.get("by", Period.DAY)
    period = Period(asked) if asked in tuple(Period) else Period.DAY
    context, now = context_of(request), context_of(request).now()
    since = now - _SPANS[period]
    numbers = await stats.stats(context.db, visitor(request).team_id, period, since, now, now)
    return page(
        request,
        "incident_stats.html.j2",
        numbers=numbers,
        chart=columns([(_label(group, period), group.incidents) for group in numbers.groups]),
        period=period,
        periods=tuple(Period),
        since=since,
    )


def _label(group: Group, period: Period) -> str:
    return f"{group.date:%b %Y}" if period is Period.MONTH else f"{group.date:%d %b}"
