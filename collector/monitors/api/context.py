"""The parts of a request that the services of monitors need."""

from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.monitors.answers import ReportTarget
from collector.monitors.service import report_secrets
from collector.monitors.service.columns import whole_config
from collector.monitors.service.monitors import ServiceContext
from collector.monitors.service.report_secrets import Addresses
from collector.monitors.storage.monitors import Monitor
from shared.kinds import RECEIVING


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


def service_context(request: web.Request) -> ServiceContext:
    """Return the context of the services of monitors."""
    context = context_of(request)
    return ServiceContext(
        context.db,
        context.keyring,
        context.signals,
        context.min_interval,
        actor(request),
        context.nodes,
        context.plans[caller(request).plan],
    )
