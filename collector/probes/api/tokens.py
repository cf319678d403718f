"""Join tokens of the team's own probes: list, create, delete. The token is shown once."""

from dataclasses import fields

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, no_content, ok, path_id
from collector.platform.validation.validation import ignored
from collector.probes.answers import CreatedJoinToken, JoinTokenAnswer
from collector.probes.service import join_tokens
from collector.probes.service.join_tokens import NewJoinToken
from collector.probes.storage.join_tokens import JoinTokenRow
from shared import ids


async def list_(request: web.Request) -> web.Response:
    tokens = await join_tokens.list_(context_of(request).db, caller(request).team_id)
    return pages.of_all(request, [_shown(token) for token in tokens])


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await join_tokens.create(
        context.db, context.keyring, actor(request), await body(request), context.now()
    )
    return ok(_created(made), status=201)


async def delete(request: web.Request) -> web.Response:
    id_ = path_id(request, "tok", join_tokens.WHAT)
    await join_tokens.delete(context_of(request).db, actor(request), id_)
    return no_content()


def _shown(token: JoinTokenRow) -> JoinTokenAnswer:
    return JoinTokenAnswer(
        id=ids.show("tok", token.id),
        locations=list(token.locations),
        uses=token.uses,
        used=token.used,
        created_at=token.created_at,
        expires_at=token.expires_at,
    )


def _created(made: NewJoinToken) -> CreatedJoinToken:
    shown = _shown(made.token)
    return CreatedJoinToken(
        **{field.name: getattr(shown, field.name) for field in fields(shown)},
        token=made.text,
        warnings=ignored(made.unknown) or None,
    )
