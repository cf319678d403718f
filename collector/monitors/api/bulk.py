"""One action on many monitors, chosen by a filter."""

from aiohttp import web

from collector.http.auth import caller, service_context
from collector.http.context import context_of
from collector.http.request_data import body, ok
from collector.monitors.answers import ChangedMonitors, FailedChange
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.service import bulk
from collector.monitors.service.bulk import BulkCaller, BulkRun
from collector.monitors.service.bulk_fields import parse
from collector.platform.validation.validation import ignored
from shared import ids


async def carry_out(request: web.Request) -> web.Response:
    """Run one action on many monitors; *ids* are those changed; a failure does not stop the others."""
    who = caller(request)
    asked = parse(await body(request))
    by = BulkCaller(who.team_id, who.name)
    run = BulkRun(service_context(request), request.app[MONITOR_FOLLOWERS], by, asked)
    done = await bulk.carry_out(run, context_of(request).now)
    answer = ChangedMonitors(
        action=asked.action,
        matched=done.matched,
        changed=len(done.changed),
        ids=[ids.show("mon", id_) for id_ in done.changed],
        failed=[FailedChange(id=ids.show("mon", id_), message=why) for id_, why in done.failed],
        warnings=ignored(asked.unknown) or None,
    )
    return ok(answer)
