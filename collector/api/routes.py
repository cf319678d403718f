"""Every path of the service, on one screen."""

from aiohttp import web

from collector.api import channels, health, incidents, me, monitors
from collector.api.auth import NEEDS, Handler
from collector.core.access import Permission

OPEN, READ, WRITE = None, Permission.READ_ONLY, Permission.READ_WRITE

ROUTES: tuple[tuple[str, str, Handler, Permission | None], ...] = (
    ("GET", "/healthz", health.healthz, OPEN),
    ("GET", "/readyz", health.readyz, OPEN),
    ("GET", "/metrics", health.metrics, OPEN),
    ("GET", "/v1/me", me.get, READ),
    ("GET", "/v1/monitors", monitors.list_, READ),
    ("POST", "/v1/monitors", monitors.create, WRITE),
    ("POST", "/v1/monitors/test", monitors.test, WRITE),
    ("GET", "/v1/monitors/{id}", monitors.get, READ),
    ("PUT", "/v1/monitors/{id}", monitors.update, WRITE),
    ("DELETE", "/v1/monitors/{id}", monitors.delete, WRITE),
    ("GET", "/v1/monitors/{id}/results", monitors.results, READ),
    ("POST", "/v1/monitors/{id}/pause", monitors.pause, WRITE),
    ("POST", "/v1/monitors/{id}/resume", monitors.resume, WRITE),
    ("POST", "/v1/monitors/{id}/silence", monitors.silence, WRITE),
    ("DELETE", "/v1/monitors/{id}/silence", monitors.unsilence, WRITE),
    ("GET", "/v1/incidents", incidents.list_, READ),
    ("GET", "/v1/incidents/{id}", incidents.get, READ),
    ("GET", "/v1/incidents/{id}/timeline", incidents.timeline, READ),
    ("GET", "/v1/alert-channels", channels.list_, READ),
    ("POST", "/v1/alert-channels", channels.create, WRITE),
    ("GET", "/v1/alert-channels/{id}", channels.get, READ),
    ("PUT", "/v1/alert-channels/{id}", channels.update, WRITE),
    ("DELETE", "/v1/alert-channels/{id}", channels.delete, WRITE),
    ("POST", "/v1/alert-channels/{id}/test", channels.test, WRITE),
    ("GET", "/v1/alert-channels/{id}/deliveries", channels.deliveries, READ),
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
