"""Addresses and secrets of monitors that receive reports, as the request sees them."""

from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from collector.http.auth import caller, service_context
from collector.http.context import context_of
from collector.monitors.answers import ReportTarget
from collector.monitors.service import report_secrets
from collector.monitors.service.columns import whole_config
from collector.monitors.service.followers import MonitorFollowers
from collector.monitors.service.report_secrets import Addresses
from collector.monitors.storage.monitors import Monitor
from collector.platform.context import ServiceContext
from shared.kinds import RECEIVING

MONITOR_FOLLOWERS: web.AppKey[MonitorFollowers] = web.AppKey("monitor_followers")


@dataclass(frozen=True, slots=True)
class RequestScope:
    """The parts of one request: the services' *context*, the caller's team, its time and our *addresses*."""

    context: ServiceContext
    team_id: int
    now: datetime
    addresses: Addresses


def scope_of(request: web.Request) -> RequestScope:
    """Return what a handler of monitors needs of *request* besides its body."""
    return RequestScope(
        service_context(request), caller(request).team_id, context_of(request).now(), addresses(request)
    )


def made_for(scope: RequestScope, monitor: Monitor) -> ReportTarget | None:
    """Return the address and secret of a monitor that receives reports, for callers who may change it."""
    if monitor.type not in RECEIVING:
        return None
    config = whole_config(scope.context.keyring, monitor)
    return report_secrets.made(monitor, config, scope.addresses)


def addresses(request: web.Request) -> Addresses:
    context = context_of(request)
    return Addresses(f"{context.public_url}/v1", context.otlp_url)
