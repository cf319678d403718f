"""Users of the team: list, read, invite, update, remove."""

from uuid import UUID

from aiohttp import web

from collector.accounts.answers import InvitedUser, UserAnswer
from collector.accounts.service import users
from collector.accounts.service.users import UserDetails
from collector.accounts.storage.users import User
from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.platform.answers import extended
from collector.platform.validation.validation import ignored
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await users.page(context_of(request).db, caller(request).team_id, limit, offset)
    shown = [_shown(user) for user in found]
    return pages.listed(request, at, shown, total)


async def get(request: web.Request) -> web.Response:
    return ok(_shown(await _found(request)))


async def create(request: web.Request) -> web.Response:
    """Invite a user. No other answer contains the link, which lets its bearer set the password."""
    context = context_of(request)
    known = await users.invite(context.db, actor(request), await body(request), context.now())
    place = f"{context.public_url}/v1/users/{ids.show('usr', known.user.id)}"
    return ok(_with_link(request, known), 201, {"Location": place})


async def invite(request: web.Request) -> web.Response:
    context = context_of(request)
    known = await users.invite_again(context.db, actor(request), _id(request), context.now())
    return ok(_with_link(request, known))


async def update(request: web.Request) -> web.Response:
    id_ = (await _found(request)).id
    known = await users.update(context_of(request).db, actor(request), id_, await body(request))
    return ok(_with_link(request, known))


async def delete(request: web.Request) -> web.Response:
    await users.delete(context_of(request).db, actor(request), _id(request))
    return no_content()


def _id(request: web.Request) -> UUID:
    return path_id(request, "usr", users.WHAT)


async def _found(request: web.Request) -> User:
    """Return the user of the path before the body is read: 404 comes before 400."""
    return await users.one(context_of(request).db, caller(request).team_id, _id(request))


def _shown(user: User) -> UserAnswer:
    return UserAnswer(
        id=ids.show("usr", user.id),
        email=user.email,
        name=user.name,
        role=user.role,
        status="invited" if user.invited_until else "active",
        invited_until=user.invited_until,
        created_at=user.created_at,
    )


def _with_link(request: web.Request, known: UserDetails) -> InvitedUser:
    url = None if known.secret is None else f"{context_of(request).public_url}/invitations/{known.secret}"
    warnings = [*ignored(known.unknown), *known.warnings]
    return extended(InvitedUser, _shown(known.user), invitation_url=url, warnings=warnings or None)
