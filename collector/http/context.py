"""The dependencies of request handlers, passed in by app.py."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import hdrs, web

from collector.accounts.service.openid import Provider
from collector.events.stream import Following
from collector.heartbeats.service import Arrived, nobodys
from collector.http.client_address import Network
from collector.metrics.service.series import MetricsReceiver, Nobody
from collector.platform.bucket import PLANS, TeamPlan
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from collector.status_pages.service.domains import Own
from collector.web3.service.nodes import Nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """*public_url* has no final slash; *min_interval* is in seconds.

    *hosts*: names of the service besides that of *public_url*. *trusted_proxies*: whose X-Forwarded-For and
    -Proto are trusted. *cors_origins*: whose scripts may call. *take*: takes a ping, None for
    an unknown key. *series*: receives metrics; *otlp_url*: their gRPC address.
    *probes_at*: the address that probes connect to. *openid*: the sign-in provider, if any.
    *nodes*: Web3 nodes of the deployment.
    """

    db: Db
    keyring: Keyring
    signals: Signals
    following: Following
    transport: Transport
    public_url: str
    min_interval: int
    now: Callable[[], datetime]
    hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[Network, ...] = ()
    cors_origins: frozenset[str] = frozenset()
    plans: Mapping[str, TeamPlan] = field(default_factory=lambda: PLANS)
    take: Callable[[Arrived], Awaitable[float | None]] = nobodys
    series: MetricsReceiver = field(default_factory=Nobody)
    otlp_url: str = "http://localhost:4317"
    probes_at: str = "localhost:7070"
    openid: Provider | None = None
    nodes: Nodes = field(default_factory=dict)


CONTEXT: web.AppKey[Context] = web.AppKey("context", Context)
# The same for a POST whose transactions all run inside of one: see idempotency.py.
WITHIN: web.RequestKey[Context] = web.RequestKey("within", Context)


def own(request: web.Request) -> Own:
    """Return the names of the service itself."""
    context = context_of(request)
    return Own(context.public_url, context.hosts)


def context_of(request: web.Request) -> Context:
    """Return the application's dependencies, or those of the request's own transaction."""
    if request.method == hdrs.METH_POST and WITHIN in request:
        return request[WITHIN]
    return request.app[CONTEXT]
