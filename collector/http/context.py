"""The context of request handlers, passed in by app.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aiohttp import hdrs, web

from collector.http.client_address import Network
from collector.platform.access import Actor
from collector.platform.bucket import PLANS, TeamPlan
from collector.platform.context import ServiceContext
from collector.platform.transport import Transport
from shared.clock import UtcClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(ServiceContext):
    """The context of services, and what requests need besides; *public_url* has no final slash.

    *hosts*: names of the service besides that of *public_url*. *trusted_proxies*: whose X-Forwarded-For and
    -Proto are trusted. *cors_origins*: whose scripts may call. *otlp_url* and *probes_at*: the addresses that
    agents and probes connect to.
    """

    transport: Transport
    public_url: str
    now: UtcClock
    hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[Network, ...] = ()
    cors_origins: frozenset[str] = frozenset()
    plans: Mapping[str, TeamPlan] = field(default_factory=lambda: PLANS)
    otlp_url: str = "http://localhost:4317"
    probes_at: str = "localhost:7070"

    @property
    def api_url(self) -> str:
        """The address of the API, with its version."""
        return f"{self.public_url}/v1"


CONTEXT: web.AppKey[Context] = web.AppKey("context", Context)
# The same for a POST whose transactions all run inside of one: see idempotency.py.
WITHIN: web.RequestKey[Context] = web.RequestKey("within", Context)


def context_of(request: web.Request) -> Context:
    """Return the application's context, or that of the request's own transaction."""
    if request.method == hdrs.METH_POST and WITHIN in request:
        return request[WITHIN]
    return request.app[CONTEXT]


def acting(request: web.Request, who: Actor, plan: str) -> Context:
    """Return the context of an action of *who*, in a team with this *plan*."""
    context = context_of(request)
    return replace(context, who=who, plan=context.plans[plan])
