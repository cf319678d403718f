"""API tokens: list, create, revoke. The value is shown once."""

from aiohttp import web

from collector.accounts.answers import CreatedToken, TokenAnswer
from collector.accounts.service import tokens
from collector.accounts.storage.tokens import ListedToken
from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.platform.answers import Person, extended
from collector.platform.validation.validation import ignored
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    listed_tokens, total = await tokens.page(context_of(request).db, caller(request).team_id, limit, offset)
    shown = [_shown(token) for token in listed_tokens]
    return pages.listed(request, at, shown, total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await tokens.create(
        context.db, actor(request), caller(request).user_id, await body(request), context.now()
    )
    answer = extended(
        CreatedToken, _shown(made.token), token=made.value, warnings=ignored(made.unknown) or None
    )
    return ok(answer, 201)


async def delete(request: web.Request) -> web.Response:
    id_ = path_id(request, "tok", tokens.WHAT)
    await tokens.revoke(context_of(request).db, actor(request), id_, context_of(request).now())
    return no_content()


def _shown(token: ListedToken) -> TokenAnswer:
    return TokenAnswer(
        id=ids.show("tok", token.id),
        name=token.name,
        permission=token.permission,
        hint=token.hint or None,
        user=Person(id=ids.show("usr", token.user_id), name=token.user_name),
        created_at=token.created_at,
        expires_at=token.expires_at,
    )
