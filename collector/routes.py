"""Every path of the service, on one screen."""

import re
from functools import lru_cache, partial
from typing import Final

from aiohttp import hdrs, web

from collector import docs
from collector.accounts.api import audit, me, team, tokens, users
from collector.alerts.api import alerts, rules
from collector.declarative import api as apply
from collector.events import api as events
from collector.heartbeats import api as pings
from collector.http.auth import NEEDS, Handler
from collector.incidents import api as incidents
from collector.maintenance import api as maintenance
from collector.metrics import api as ingest
from collector.monitors.api import bulk, explain, monitors, results, results_export, statistics
from collector.notifications.api import channels, deliveries
from collector.ops.api import health, metrics
from collector.platform.access import Permission
from collector.probes.api import probes
from collector.probes.api import tokens as probe_tokens
from collector.reports.api import editions as report_editions
from collector.reports.api import reports
from collector.slos import api as slos
from collector.status_pages.api import (
    access,
    components,
    incident_templates,
    password,
    public,
    public_subscribers,
    root_files,
    single_sign_on,
    status_pages,
    subscribers,
)
from collector.status_pages.api import incidents as status_pages_incidents

OPEN, READ, WRITE, ADMIN = None, Permission.READ_ONLY, Permission.READ_WRITE, Permission.ADMIN

ROUTES: tuple[tuple[str, str, Handler, Permission | None], ...] = (
    ("GET", "/healthz", health.healthz, OPEN),
    ("GET", "/readyz", health.readyz, OPEN),
    ("GET", "/metrics", metrics.collector, OPEN),
    ("GET", "/robots.txt", root_files.robots, OPEN),
    ("GET", "/favicon.ico", root_files.favicon, OPEN),
    ("GET", "/status/{slug}.json", public.data, OPEN),
    ("GET", "/status/{slug}", public.show, OPEN),
    ("POST", "/status/{slug}", password.enter, OPEN),
    ("GET", "/status/{slug}/sign-in", single_sign_on.begin, OPEN),
    ("GET", "/status/{slug}/sign-in/back", single_sign_on.back, OPEN),
    ("GET", "/status/{slug}/history", public.history, OPEN),
    ("GET", "/status/{slug}/incidents/{incidentId}", public.incident, OPEN),
    ("GET", "/status/{slug}/api/v2/summary.json", public.summary, OPEN),
    ("GET", "/status/{slug}/feed.atom", public.atom, OPEN),
    ("GET", "/status/{slug}/feed.rss", public.rss, OPEN),
    ("GET", "/status/{slug}/maintenance.ics", public.calendar, OPEN),
    ("GET", "/status/{slug}/badge.svg", public.badge, OPEN),
    ("GET", "/status/{slug}/widget", public.widget, OPEN),
    ("GET", "/status/{slug}/style.css", public.style, OPEN),
    ("GET", "/status/{slug}/custom.css", public.custom_style, OPEN),
    ("GET", "/status/{slug}/icon.svg", public.icon, OPEN),
    ("GET", "/status/{slug}/picture", public.picture, OPEN),
    ("GET", "/status/{slug}/status.js", public.script, OPEN),
    ("GET", "/status/{slug}/subscribe", public_subscribers.ask, OPEN),
    ("POST", "/status/{slug}/subscribe", public_subscribers.begin, OPEN),
    ("GET", "/subscriptions/{token}", public_subscribers.show, OPEN),
    ("POST", "/subscriptions/{token}", public_subscribers.choose, OPEN),
    ("GET", "/subscriptions/{token}/confirm", public_subscribers.show_confirm, OPEN),
    ("POST", "/subscriptions/{token}/confirm", public_subscribers.confirm, OPEN),
    ("GET", "/subscriptions/{token}/unsubscribe", public_subscribers.show_leave, OPEN),
    ("POST", "/subscriptions/{token}/unsubscribe", public_subscribers.leave, OPEN),
    ("GET", "/v1/openapi.json", docs.openapi, OPEN),
    ("GET", "/v1/docs", docs.show, OPEN),
    ("GET", "/v1/apply-schema.json", docs.apply_schema, OPEN),
    ("POST", "/v1/ingest/prometheus/{id}", ingest.remote_write, OPEN),
    ("POST", "/v1/ingest/otlp/{id}/v1/metrics", ingest.otlp, OPEN),
    ("GET", "/v1/me", me.get, READ),
    ("GET", "/v1/metrics", metrics.monitors, READ),
    ("GET", "/v1/monitors", monitors.list_, READ),
    ("POST", "/v1/monitors", monitors.create, WRITE),
    ("POST", "/v1/monitors/test", monitors.test, WRITE),
    ("POST", "/v1/monitors/bulk", bulk.carry_out, WRITE),
    ("GET", "/v1/monitors/uptime", statistics.daily, READ),
    ("GET", "/v1/monitors/{id}", monitors.get, READ),
    ("PUT", "/v1/monitors/{id}", monitors.update, WRITE),
    ("DELETE", "/v1/monitors/{id}", monitors.delete, WRITE),
    ("GET", "/v1/monitors/{id}/explain", explain.get, READ),
    ("GET", "/v1/monitors/{id}/results", results.list_, READ),
    ("GET", "/v1/monitors/{id}/results/export", results_export.export, READ),
    ("GET", "/v1/monitors/{id}/series", ingest.list_series, READ),
    ("GET", "/v1/monitors/{id}/stats", statistics.chart, READ),
    ("POST", "/v1/monitors/{id}/check", monitors.check_now, WRITE),
    ("POST", "/v1/monitors/{id}/pause", monitors.pause, WRITE),
    ("POST", "/v1/monitors/{id}/resume", monitors.resume, WRITE),
    ("POST", "/v1/monitors/{id}/silence", monitors.silence, WRITE),
    ("DELETE", "/v1/monitors/{id}/silence", monitors.unsilence, WRITE),
    ("POST", "/v1/monitors/{id}/ping", pings.take_by_id, WRITE),
    ("POST", "/v1/monitors/{id}/rotate-key", pings.rotate, WRITE),
    *(
        (method, path, pings.take, OPEN)
        for path in ("/v1/ping/{key}", "/v1/ping/{key}/{sign}", "/ping/{key}", "/ping/{key}/{sign}")
        for method in ("GET", "POST")
    ),
    ("GET", "/api/push/{key}", pings.take_push, OPEN),
    ("POST", "/api/push/{key}", pings.take_push, OPEN),
    ("GET", "/v1/events", events.stream, READ),
    ("GET", "/v1/incidents", incidents.list_, READ),
    ("POST", "/v1/incidents", incidents.create, WRITE),
    ("GET", "/v1/incidents/stats", incidents.stats, READ),
    ("GET", "/v1/incidents/{id}", incidents.get, READ),
    ("PUT", "/v1/incidents/{id}", incidents.update, WRITE),
    ("POST", "/v1/incidents/{id}/acknowledge", incidents.acknowledge, WRITE),
    ("DELETE", "/v1/incidents/{id}/acknowledge", incidents.unacknowledge, WRITE),
    ("POST", "/v1/incidents/{id}/snooze", incidents.snooze, WRITE),
    ("DELETE", "/v1/incidents/{id}/snooze", incidents.end_snooze, WRITE),
    ("POST", "/v1/incidents/{id}/resolve", incidents.resolve, WRITE),
    ("POST", "/v1/incidents/{id}/reopen", incidents.reopen, WRITE),
    ("POST", "/v1/incidents/{id}/notes", incidents.add_note, WRITE),
    ("GET", "/v1/incidents/{id}/evidence", incidents.evidence, READ),
    ("GET", "/v1/incidents/{id}/postmortem", incidents.post_mortem, READ),
    ("GET", "/v1/incidents/{id}/timeline", incidents.timeline, READ),
    ("GET", "/v1/alert-rules", rules.list_, READ),
    ("POST", "/v1/alert-rules", rules.create, WRITE),
    ("POST", "/v1/alert-rules/preview", rules.preview, WRITE),
    ("GET", "/v1/alert-rules/{id}", rules.get, READ),
    ("PUT", "/v1/alert-rules/{id}", rules.update, WRITE),
    ("DELETE", "/v1/alert-rules/{id}", rules.delete, WRITE),
    ("GET", "/v1/alerts", alerts.list_, READ),
    ("GET", "/v1/alerts/{id}", alerts.get, READ),
    ("POST", "/v1/alerts/{id}/acknowledge", alerts.acknowledge, WRITE),
    ("POST", "/v1/alerts/{id}/resolve", alerts.resolve, WRITE),
    ("GET", "/v1/alert-channels", channels.list_, READ),
    ("POST", "/v1/alert-channels", channels.create, WRITE),
    ("GET", "/v1/alert-channels/{id}", channels.get, READ),
    ("PUT", "/v1/alert-channels/{id}", channels.update, WRITE),
    ("DELETE", "/v1/alert-channels/{id}", channels.delete, WRITE),
    ("POST", "/v1/alert-channels/{id}/test", channels.test, WRITE),
    ("GET", "/v1/alert-channels/{id}/deliveries", channels.deliveries, READ),
    ("POST", "/v1/deliveries/{id}/redeliver", deliveries.redeliver, WRITE),
    ("GET", "/v1/incident-templates", incident_templates.list_, READ),
    ("POST", "/v1/incident-templates", incident_templates.create, WRITE),
    ("GET", "/v1/incident-templates/{id}", incident_templates.get, READ),
    ("PUT", "/v1/incident-templates/{id}", incident_templates.update, WRITE),
    ("DELETE", "/v1/incident-templates/{id}", incident_templates.delete, WRITE),
    ("GET", "/v1/status-pages", status_pages.list_, READ),
    ("POST", "/v1/status-pages", status_pages.create, WRITE),
    ("GET", "/v1/status-pages/{id}", status_pages.get, READ),
    ("PUT", "/v1/status-pages/{id}", status_pages.update, WRITE),
    ("DELETE", "/v1/status-pages/{id}", status_pages.delete, WRITE),
    ("POST", "/v1/status-pages/{id}/verify-domain", status_pages.verify_domain, WRITE),
    ("GET", "/v1/status-pages/{id}/access", access.get, READ),
    ("PUT", "/v1/status-pages/{id}/access", access.update, WRITE),
    ("GET", "/v1/status-pages/{id}/components", components.list_, READ),
    ("POST", "/v1/status-pages/{id}/components", components.add, WRITE),
    ("PUT", "/v1/status-pages/{id}/components", components.arrange, WRITE),
    ("GET", "/v1/status-pages/{pageId}/components/{componentId}", components.get, READ),
    ("PUT", "/v1/status-pages/{pageId}/components/{componentId}", components.update, WRITE),
    ("DELETE", "/v1/status-pages/{pageId}/components/{componentId}", components.delete, WRITE),
    ("GET", "/v1/status-pages/{id}/incidents", status_pages_incidents.list_, READ),
    ("POST", "/v1/status-pages/{id}/incidents", status_pages_incidents.publish, WRITE),
    ("GET", "/v1/status-pages/{pageId}/incidents/{incidentId}", status_pages_incidents.get, READ),
    ("PUT", "/v1/status-pages/{pageId}/incidents/{incidentId}", status_pages_incidents.update, WRITE),
    ("DELETE", "/v1/status-pages/{pageId}/incidents/{incidentId}", status_pages_incidents.delete, WRITE),
    ("GET", "/v1/status-pages/{id}/subscribers", subscribers.list_, READ),
    ("POST", "/v1/status-pages/{id}/subscribers", subscribers.add, WRITE),
    ("GET", "/v1/status-pages/{pageId}/subscribers/{subscriberId}", subscribers.get, READ),
    ("PUT", "/v1/status-pages/{pageId}/subscribers/{subscriberId}", subscribers.update, WRITE),
    (
        "DELETE",
        "/v1/status-pages/{pageId}/subscribers/{subscriberId}",
        subscribers.delete,
        WRITE,
    ),
    ("GET", "/v1/maintenance-windows", maintenance.list_, READ),
    ("POST", "/v1/maintenance-windows", maintenance.create, WRITE),
    ("GET", "/v1/maintenance-windows/{id}", maintenance.get, READ),
    ("PUT", "/v1/maintenance-windows/{id}", maintenance.update, WRITE),
    ("DELETE", "/v1/maintenance-windows/{id}", maintenance.delete, WRITE),
    ("POST", "/v1/maintenance-windows/{id}/end", maintenance.end, WRITE),
    ("GET", "/v1/reports", reports.list_, READ),
    ("POST", "/v1/reports", reports.create, WRITE),
    ("GET", "/v1/reports/{id}", reports.get, READ),
    ("PUT", "/v1/reports/{id}", reports.update, WRITE),
    ("DELETE", "/v1/reports/{id}", reports.delete, WRITE),
    ("GET", "/v1/reports/{id}/editions", report_editions.list_, READ),
    ("POST", "/v1/reports/{id}/editions", report_editions.create, WRITE),
    ("GET", "/v1/reports/{reportId}/editions/{editionId}", report_editions.get, READ),
    ("GET", "/v1/reports/{reportId}/editions/{editionId}/csv", report_editions.csv, READ),
    ("GET", "/v1/reports/{reportId}/editions/{editionId}/pdf", report_editions.pdf, READ),
    ("GET", "/v1/slos", slos.list_, READ),
    ("POST", "/v1/slos", slos.create, WRITE),
    ("GET", "/v1/slos/{id}", slos.get, READ),
    ("PUT", "/v1/slos/{id}", slos.update, WRITE),
    ("DELETE", "/v1/slos/{id}", slos.delete, WRITE),
    ("POST", "/v1/apply", apply.carry_out, WRITE),
    ("GET", "/v1/export", apply.export, READ),
    ("GET", "/v1/probes", probes.list_, ADMIN),
    ("GET", "/v1/probes/{id}", probes.get, ADMIN),
    ("PUT", "/v1/probes/{id}", probes.rename, ADMIN),
    ("DELETE", "/v1/probes/{id}", probes.delete, ADMIN),
    ("POST", "/v1/probes/{id}/drain", probes.drain, ADMIN),
    ("DELETE", "/v1/probes/{id}/drain", probes.undrain, ADMIN),
    ("POST", "/v1/probes/{id}/revoke", probes.revoke, ADMIN),
    ("GET", "/v1/probe-tokens", probe_tokens.list_, ADMIN),
    ("POST", "/v1/probe-tokens", probe_tokens.create, ADMIN),
    ("DELETE", "/v1/probe-tokens/{id}", probe_tokens.delete, ADMIN),
    ("GET", "/v1/team", team.get, ADMIN),
    ("PUT", "/v1/team", team.update, ADMIN),
    ("GET", "/v1/users", users.list_, ADMIN),
    ("POST", "/v1/users", users.create, ADMIN),
    ("GET", "/v1/users/{id}", users.get, ADMIN),
    ("PUT", "/v1/users/{id}", users.update, ADMIN),
    ("DELETE", "/v1/users/{id}", users.delete, ADMIN),
    ("POST", "/v1/users/{id}/invite", users.invite, ADMIN),
    ("GET", "/v1/tokens", tokens.list_, ADMIN),
    ("POST", "/v1/tokens", tokens.create, ADMIN),
    ("DELETE", "/v1/tokens/{id}", tokens.delete, ADMIN),
    ("GET", "/v1/audit-log", audit.list_, ADMIN),
)
_PLACE: Final = re.compile(r"\{\w+\}")
# The same handler serves both.
_ALSO = {"GET": "HEAD", "PUT": "PATCH"}


def register(app: web.Application) -> None:
    """Add every route to *app*, and the permissions where the guard finds them."""
    needs: dict[tuple[str, str], Permission | None] = {}
    for method, path, handler, permission in ROUTES:
        for name in filter(None, (method, _ALSO.get(method))):
            app.router.add_route(name, path, handler)
            needs[name, path] = permission
    app[NEEDS] = needs


def refuse_other_methods(app: web.Application) -> None:
    """Answer 405 for a path that would otherwise match another route's id."""
    methods: dict[str, set[str]] = {}
    for method, path in app[NEEDS]:
        methods.setdefault(path, set()).add(method)
    resources = {resource.canonical: resource for resource in app.router.resources()}
    for path in _overlapping(frozenset(methods)):
        resource = resources[path]
        assert isinstance(resource, web.Resource)  # noqa: S101 - each was made by a path
        resource.add_route(hdrs.METH_ANY, partial(_refuse, frozenset(methods[path])))


@lru_cache(maxsize=8)
def _overlapping(paths: frozenset[str]) -> tuple[str, ...]:
    """The paths that another path's pattern matches, as ``/monitors/{id}`` matches ``/monitors/new``."""
    patterns = {path: re.compile(_PLACE.sub("[^/]+", path)) for path in paths if "{" in path}
    return tuple(
        path
        for path in paths
        if any(
            other != path and pattern.fullmatch(_PLACE.sub("x", path)) for other, pattern in patterns.items()
        )
    )


async def _refuse(allowed: frozenset[str], request: web.Request) -> web.StreamResponse:
    raise web.HTTPMethodNotAllowed(request.method, allowed)
