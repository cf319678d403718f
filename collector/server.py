"""The HTTP server: the application with its routes and middlewares."""

import logging
from dataclasses import dataclass, field
from functools import partial

import structlog
from aiohttp import web

from collector import docs, routes
from collector import pages as console
from collector.accounts.console import sign_in_state
from collector.accounts.service.console_sessions import SessionFinder
from collector.accounts.service.openid import Provider
from collector.accounts.service.tokens import StoredTokenFinder
from collector.alerts.service.followers import FOLLOWERS
from collector.console import api_session
from collector.console.state import VISITORS
from collector.events.api import FOLLOWING
from collector.events.stream import EventStreamHub
from collector.heartbeats.api import PINGS
from collector.heartbeats.service import PingTaker, nobodys
from collector.http import (
    admission,
    auth,
    bodies,
    changes,
    cors,
    idempotency,
    malformed,
    problems,
    ratelimit,
    response_headers,
)
from collector.http.context import CONTEXT, Context
from collector.http.request_data import MAX_BODY
from collector.http.request_log import watch
from collector.incidents.api import INCIDENT_FOLLOWERS
from collector.metrics.api import RECEIVER
from collector.metrics.service.series import MetricsReceiver, NoMetricsReceiver
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.console import live
from collector.monitors.service.pulse import CheckFeed
from collector.status_pages.api import (
    domains,
    password,
    public,
    public_subscribers,
    single_sign_on,
    status_pages,
)
from collector.status_pages.service.domains import Prover
from shared.errors import CannotStart

log = structlog.get_logger()

_KEEPALIVE_S = 75.0
_SHUTDOWN_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What handlers of single features work with besides the context.

    *pings*: takes pings. *metrics*: receives metrics. *openid*: the sign-in provider, if any.
    """

    following: EventStreamHub
    pings: PingTaker = nobodys
    metrics: MetricsReceiver = field(default_factory=NoMetricsReceiver)
    openid: Provider | None = None


def make(context: Context, features: Features) -> web.Application:
    """Create the application; `serve` runs it."""
    around = [
        watch,
        cors.preflight,
        problems.explain,
        auth.guard,
        domains.by_domain,
        idempotency.repeat,
    ]
    app = web.Application(middlewares=around, client_max_size=MAX_BODY)
    app[CONTEXT] = context
    app[FOLLOWING] = features.following
    app[PINGS] = features.pings
    app[RECEIVER] = features.metrics
    app[MONITOR_FOLLOWERS] = app[INCIDENT_FOLLOWERS] = FOLLOWERS
    app[auth.FINDER] = StoredTokenFinder(context.db)
    app[VISITORS] = SessionFinder(context.db)
    app[auth.SESSION] = api_session.authenticate
    app[idempotency.AT_ONCE] = idempotency.gate()
    app[docs.SHELF] = docs.DocumentationCache()
    app[public.PUBLIC] = shown = public.Public()
    app[changes.ON_CHANGE] = (shown.sites.outdate,)
    app[status_pages.PROVER] = Prover(context.transport)
    app[public_subscribers.ASKERS] = public_subscribers.askers()
    app[live.PULSE] = CheckFeed(context.db, live.draw)
    app.on_shutdown.append(live.close)
    app.cleanup_ctx.append(ratelimit.running)
    app.cleanup_ctx.append(partial(sign_in_state.running, features.openid))
    app.cleanup_ctx.append(password.counting)
    app.cleanup_ctx.append(single_sign_on.running)
    app.on_cleanup.append(_let_go)
    app.on_response_prepare.append(response_headers.mark)
    routes.register(app)
    console.register(app)
    routes.refuse_other_methods(app)
    return app


async def serve(app: web.Application, listen: str, *, shared_port: bool = False) -> web.AppRunner:
    """Serve *app* on ``host:port`` until the runner's cleanup. Raises CannotStart if it cannot listen."""
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    host, _, port = listen.rpartition(":")
    runner = web.AppRunner(
        app,
        access_log=None,
        handler_cancellation=False,
        keepalive_timeout=_KEEPALIVE_S,
        shutdown_timeout=_SHUTDOWN_S,
        auto_decompress=False,
        lingering_time=bodies.LINGER_S,
    )
    await runner.setup()
    _with_door(app, runner)
    try:
        site = web.TCPSite(
            runner, host.strip("[]") or None, int(port), backlog=1024, reuse_port=shared_port or None
        )
        await site.start()
    except OSError as error:
        await runner.cleanup()
        raise CannotStart(
            f"cannot listen on {listen}: {error.strerror or error}; set TOCSIN_HTTP_LISTEN"
        ) from error
    return runner


def _with_door(app: web.Application, runner: web.AppRunner) -> None:
    """Wrap the application: inside it, routes are resolved first."""
    server = runner.server
    assert server is not None  # noqa: S101 - it is there once the runner is set up
    server.request_handler = admission.before(app, server.request_handler)  # type: ignore[assignment]
    malformed.answer_for(server, app)
    assert server.request_factory is not None  # noqa: S101 - as above
    server.request_factory = admission.without_slash(server.request_factory)


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether to log the error; a badly packed body is the client's fault and was answered."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, web.RequestPayloadError)


async def _let_go(app: web.Application) -> None:
    await app[auth.FINDER].close()
    await app[VISITORS].close()
    await app[CONTEXT].db.let_go()
