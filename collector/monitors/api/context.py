"""Addresses and secrets of monitors that receive reports, as the request sees them."""

from aiohttp import web

from collector.http.context import context_of
from collector.monitors.answers import ReportTarget
from collector.monitors.service import report_secrets
from collector.monitors.service.columns import whole_config
from collector.monitors.storage.monitors import Monitor
from shared.kinds import RECEIVING


def made_for(request: web.Request, monitor: Monitor) -> ReportTarget | None:
    """Return the address and secret of a monitor that receives reports, for callers who may change it."""
    if monitor.type not in RECEIVING:
        return None
    config = whole_config(context_of(request).keyring, monitor)
    return report_secrets.made(monitor, config, addresses(request))


def addresses(request: web.Request) -> report_secrets.Addresses:
    context = context_of(request)
    return report_secrets.Addresses(f"{context.public_url}/v1", context.otlp_url)
