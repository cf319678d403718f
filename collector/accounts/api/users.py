"""Users of the team: list, read, invite, update, remove."""

from typing import Any
from uuid import UUID

from aiohttp import web

from collector.accounts.service import users
from collector.accounts.service.users import UserDetails
from collector.accounts.storage.users import User
from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id, warned
from collector.platform.validation.validation import ignored
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await users.page(context_of(request).db, caller(request).team_id, limit, offset)
    shown = [_shown(one) for one in found]
    return pages.answer(request, at, shown, total) if at else ok({"data": shown})


async def get(request: web.Request) -> web.Response:
    return ok(_shown(await _found(request)))


async def create(request: web.Request) -> web.Response:
    """Invite a user. No other answer contains the link, which lets its bearer set the password."""
    context = context_of(request)
    told = await users.invite(context.db, actor(request), await body(request), context.now())
    place = f"{context.public_url}/v1/users/{ids.show('usr', told.user.id)}"
    return ok(_told(request, told), 201, {"Location": place})


async def invite(request: web.Request) -> web.Response:
    context = context_of(request)
    told = await users.invite_again(context.db, actor(request), _id(request), context.now())
    return ok(_told(request, told))


async def update(request: web.Request) -> web.Response:
    id_ = (await _found(request)).id
    return ok(
        _told(request, await users.update(context_of(request).db, actor(request), id_, await body(request)))
    )


async def delete(request: web.Request) -> web.Response:
    await users.delete(context_of(request).db, actor(request), _id(request))
    return no_content()


def _id(request: web.Request) -> UUID:
    return path_id(request, "usr", users.WHAT)


async def _found(request: web.Request) -> User:
    """Return the user of the path before the body is read: 404 comes before 400."""
    return await users.one(context_of(request).db, caller(request).team_id, _id(request))


def _shown(one: User) -> dict[str, Any]:
    return {
        "id": ids.show("usr", one.id),
        "email": one.email,
        "name": one.name,
        "role": one.role,
        "status": "invited" if one.invited_until else "active",
        "invitedUntil": one.invited_until,
        "createdAt": one.created_at,
    }


def _told(request: web.Request, told: UserDetails) -> dict[str, Any]:
    link = {}
    if told.secret is not None:
        link["invitationUrl"] = f"{context_of(request).public_url}/invitations/{told.secret}"
    return warned({**_shown(told.user), **link}, [*ignored(told.unknown), *told.warnings])
