"""Results of a monitor: any range, newest first, paged by a cursor."""

import base64
import binascii
from datetime import datetime, timedelta

from aiohttp import web

from collector.heartbeats import service
from collector.history.storage.result_reads import ResultCursor, ResultFilter
from collector.http import pages
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import Query, ok, path_id
from collector.monitors.answers import MonitorResults, ResultsMeta
from collector.monitors.api import views
from collector.monitors.service import reads as monitor_reads
from collector.monitors.service import results
from collector.web3 import api
from collector.web3.service import reads as web3_reads
from shared.clock import EPOCH, iso
from shared.results import Status

_STATUSES = {"up": Status.UP, "down": Status.DOWN, "unknown": Status.UNKNOWN}
_LIMIT = 100
_MOST = 1000
_DEFAULT_RANGE = timedelta(days=1)


async def list_(request: web.Request) -> web.Response:
    """List results; the monitor is looked up before the query is read: 404 comes before 400."""
    context = context_of(request)
    id_ = path_id(request, "mon", monitor_reads.WHAT)
    monitor = await monitor_reads.found(context.db, caller(request).team_id, id_)
    query = Query(request)
    limit = pages.limit(query, default=_LIMIT, most=_MOST)
    now = context.now()
    wanted = wanted_results(query, now)
    query.done()
    shown, total = await results.page(context.db, monitor, wanted, limit, now)
    whole, logs = await web3_reads.logs(context.db, monitor, shown)
    more = len(shown) == limit or len(whole) < len(shown)
    following = _show_cursor(whole[-1].cursor) if more else None
    brought = api.logs_of_results(logs)
    bodies = {} if brought else await service.bodies(context.db, monitor, whole)
    answer = MonitorResults(
        data=[
            views.result(each, body=bodies.get(each.cursor), logs=brought.get(each.cursor)) for each in whole
        ],
        meta=ResultsMeta(total=total, from_=wanted.since, to=wanted.until, limit=limit, next=following),
    )
    return ok(answer, headers=_link(request, wanted, following))


def _link(request: web.Request, wanted: ResultFilter, following: str | None) -> dict[str, str] | None:
    """Return the link with the resolved range: the default range moves with the time."""
    if following is None:
        return None
    query = {"from": iso(wanted.since), "to": iso(wanted.until), "cursor": following}
    url = f"{context_of(request).public_url}{request.rel_url.update_query(query)}"
    return {"Link": f'<{url}>; rel="next"'}


def wanted_results(query: Query, now: datetime) -> ResultFilter:
    """Return the filter; by default the last 24 h, or the 24 h before ``to``."""
    since, until = query.span()
    until = until or max(now, since or now)
    if since is None:
        since = until - _DEFAULT_RANGE if until > EPOCH + _DEFAULT_RANGE else until
    status = query.one_of("status", tuple(_STATUSES))
    return ResultFilter(
        since=since,
        until=until,
        location=query.text("location"),
        status=_STATUSES[status] if status else None,
        before=_read_cursor(query),
    )


def _show_cursor(cursor: ResultCursor) -> str:
    ms = (cursor.ts - EPOCH) // timedelta(milliseconds=1)
    return base64.urlsafe_b64encode(f"{ms}.{cursor.location}.{cursor.n}".encode()).decode().rstrip("=")


def _read_cursor(query: Query) -> ResultCursor | None:
    text = query.text("cursor")
    if text is None:
        return None
    try:
        ms, location, n = (int(part) for part in base64.urlsafe_b64decode(text + "==").split(b"."))
        return ResultCursor(EPOCH + timedelta(milliseconds=ms), _small(location), _small(n))
    except (ValueError, OverflowError, binascii.Error):
        query.fault("cursor", "must be meta.next of an earlier answer")
        return None


def _small(value: int) -> int:
    if not 0 <= value < 2**15:
        raise ValueError("no such number in a key")
    return value
