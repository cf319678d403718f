"""Addresses and secrets of monitors that receive reports, as the request sees them."""

from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from collector.http.auth import caller, service_context
from collector.http.context import context_of
from collector.monitors.service.followers import MonitorFollowers
from collector.monitors.service.report_secrets import Addresses
from collector.platform.context import ServiceContext

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
    team_id, context = caller(request).team_id, service_context(request)
    return RequestScope(context, team_id, context.now(), Addresses(context.api_url, context.otlp_url))


def addresses(request: web.Request) -> Addresses:
    context = context_of(request)
    return Addresses(context.api_url, context.otlp_url)
