"""Alerts: list, read; acknowledge and resolve those without an incident."""

from typing import Final

from aiohttp import web

from collector.alerts.answers import AlertAnswer
from collector.alerts.core.conditions import plain
from collector.alerts.core.status import AlertStatus
from collector.alerts.service import alerts
from collector.alerts.storage.alerts import Alert, AlertFilter
from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, ok, path_id
from collector.platform.people import person
from shared import ids

_STATUSES: Final = tuple(AlertStatus)


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


def _shown(alert: Alert) -> AlertAnswer:
    return AlertAnswer(
        id=ids.show("alert", alert.id),
        rule_id=ids.show("rule", alert.rule_id),
        rule_name=alert.rule_name,
        monitor_id=ids.show("mon", alert.monitor_id),
        monitor_name=alert.monitor_name,
        status=alert.status,
        reason=alert.reason,
        value=plain(alert.value),
        threshold=plain(alert.threshold),
        fired_at=alert.fired_at,
        notified_at=alert.notified_at,
        acknowledged_at=alert.acknowledged_at,
        acknowledged_by=person(alert.acknowledged_by),
        recovered_at=alert.recovered_at,
        recovered_by=person(alert.recovered_by),
        escalations=alert.escalations,
        incident_id=ids.show("inc", alert.incident_id) if alert.incident_id else None,
    )
