"""The access to a private status page: read, update."""

from aiohttp import web

from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, ok
from collector.status_pages.answers import AccessAnswer
from collector.status_pages.api.parts import page_id
from collector.status_pages.service import access
from collector.status_pages.service.access import AccessDetails


async def get(request: web.Request) -> web.Response:
    known = await access.read(context_of(request).db, caller(request).team_id, page_id(request))
    return ok(_shown(request, known))


async def update(request: web.Request) -> web.Response:
    context, id_ = context_of(request), page_id(request)
    await access.read(context.db, caller(request).team_id, id_)  # 404 takes precedence over other errors
    known = await access.update(
        context.db, context.keyring, actor(request), id_, await body(request), context.now()
    )
    return ok(_shown(request, known))


def redirect_uris(public_url: str, known: AccessDetails) -> list[str]:
    """Return where a provider sends people back to: under the deployment, and at the page's own domain."""
    uris = [f"{public_url}/status/{known.page.slug}/sign-in/back"]
    if known.page.domain:
        uris.append(f"https://{known.page.domain}/sign-in/back")
    return uris


def _shown(request: web.Request, known: AccessDetails) -> AccessAnswer:
    return AccessAnswer(
        networks=list(known.access.networks),
        issuer=known.access.issuer,
        client_id=known.access.client_id,
        client_secret_set=known.access.sealed_secret is not None,
        email_domains=list(known.access.email_domains),
        redirect_uris=redirect_uris(context_of(request).public_url, known),
        warnings=list(known.warnings) or None,
    )
