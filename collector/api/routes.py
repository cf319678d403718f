"""Every path of the service, on one screen."""

from aiohttp import web

from collector.api import (
    bulk,
    channels,
    events,
    explain,
    health,
    incidents,
    me,
    monitors,
    probe_tokens,
    probes,
    results,
    statistics,
)
from collector.api.auth import NEEDS, Handler
from collector.core.access import Permission

OPEN, READ, WRITE, ADMIN = None, Permission.READ_ONLY, Permission.READ_WRITE, Permission.ADMIN

ROUTES: tuple[tuple[str, str, Handler, Permission | None], ...] = (
    ("GET", "/healthz", health.healthz, OPEN),
    ("GET", "/readyz", health.readyz, OPEN),
    ("GET", "/metrics", health.metrics, OPEN),
    ("GET", "/v1/me", me.get, READ),
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
    ("GET", "/v1/monitors/{id}/stats", statistics.chart, READ),
    ("POST", "/v1/monitors/{id}/pause", monitors.pause, WRITE),
    ("POST", "/v1/monitors/{id}/resume", monitors.resume, WRITE),
    ("POST", "/v1/monitors/{id}/silence", monitors.silence, WRITE),
    ("DELETE", "/v1/monitors/{id}/silence", monitors.unsilence, WRITE),
    ("GET", "/v1/events", events.stream, READ),
    ("GET", "/v1/incidents", incidents.list_, READ),
    ("POST", "/v1/incidents", incidents.create, WRITE),
    ("GET", "/v1/incidents/stats", incidents.stats, READ),
    ("GET", "/v1/incidents/{id}", incidents.get, READ),
    ("PUT", "/v1/incidents/{id}", incidents.update, WRITE),
    ("POST", "/v1/incidents/{id}/acknowledge", incidents.acknowledge, WRITE),
    ("POST", "/v1/incidents/{id}/resolve", incidents.resolve, WRITE),
    ("POST", "/v1/incidents/{id}/reopen", incidents.reopen, WRITE),
    ("POST", "/v1/incidents/{id}/notes", incidents.add_note, WRITE),
    ("GET", "/v1/incidents/{id}/postmortem", incidents.post_mortem, READ),
    ("GET", "/v1/incidents/{id}/timeline", incidents.timeline, READ),
    ("GET", "/v1/alert-channels", channels.list_, READ),
    ("POST", "/v1/alert-channels", channels.create, WRITE),
    ("GET", "/v1/alert-channels/{id}", channels.get, READ),
    ("PUT", "/v1/alert-channels/{id}", channels.update, WRITE),
    ("DELETE", "/v1/alert-channels/{id}", channels.delete, WRITE),
    ("POST", "/v1/alert-channels/{id}/test", channels.test, WRITE),
    ("GET", "/v1/alert-channels/{id}/deliveries", channels.deliveries, READ),
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
)
# The same handler serves both.
_ALSO = {"GET": "HEAD", "PUT": "PATCH"}


def register(app: web.Application) -> None:
    """Put every route into *app*, and what each asks for where the guard finds it."""
    needs: dict[tuple[str, str], Permission | None] = {}
    for method, path, handler, permission in ROUTES:
        for name in filter(None, (method, _ALSO.get(method))):
            app.router.add_route(name, path, handler)
            needs[name, path] = permission
    app[NEEDS] = needs
