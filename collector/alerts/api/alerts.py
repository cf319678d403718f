"""Alerts: list, read; acknowledge and resolve those without an incident."""

from typing import Any

from aiohttp import web

from collector.alerts.core.conditions import plain
from collector.alerts.service import alerts
from collector.alerts.storage.alerts import Alert, AlertFilter
from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, ok, path_id
from shared import ids

_STATUSES = ("firing", "acknowledged", "recovered")


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    since, until = query.span()
    wanted = AlertFilter(
        status=query.one_of("status", _STATUSES),
        rule_id=query.id("rule_id", "rule"),
        monitor_id=query.id("monitor_id", "mon"),
        since=since,
        until=until,
    )
    query.done()
    found, total = await alerts.page(
        context_of(request).db, caller(request).team_id, wanted, at.limit, at.offset
    )
    return pages.answer(request, at, [_shown(alert) for alert in found], total)


async def get(request: web.Request) -> web.Response:
    id_ = path_id(request, "alert", alerts.WHAT)
    return ok(_shown(await alerts.one(context_of(request).db, caller(request).team_id, id_)))


async def acknowledge(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "alert", alerts.WHAT)
    return ok(_shown(await alerts.acknowledge(context.db, actor(request), id_, context.now())))


async def resolve(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "alert", alerts.WHAT)
    return ok(_shown(await alerts.resolve(context.db, actor(request), id_, context.now())))


def _shown(alert: Alert) -> dict[str, Any]:
    return {
        "id": ids.show("alert", alert.id),
        "ruleId": ids.show("rule", alert.rule_id),
        "ruleName": alert.rule_name,
        "monitorId": ids.show("mon", alert.monitor_id),
        "monitorName": alert.monitor_name,
        "status": alert.status,
        "reason": alert.reason,
        "value": plain(alert.value),
        "threshold": plain(alert.threshold),
        "firedAt": alert.fired_at,
        "notifiedAt": alert.notified_at,
        "acknowledgedAt": alert.acknowledged_at,
        "acknowledgedBy": alert.acknowledged_by,
        "recoveredAt": alert.recovered_at,
        "recoveredBy": alert.recovered_by,
        "escalations": alert.escalations,
        "incidentId": alert.incident_id and ids.show("inc", alert.incident_id),
    }
