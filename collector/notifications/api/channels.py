"""Alert channels: list, create, read, update, delete, test, and their deliveries."""

from collections.abc import Sequence
from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.notifications.answers import ChannelAnswer, CreatedChannel, TestedChannel
from collector.notifications.api.deliveries import shown as delivery_shown
from collector.notifications.channels import CHANNELS
from collector.notifications.service import channels
from collector.notifications.service.channels import ChannelWithConfig
from collector.platform.access import Permission
from collector.platform.masks import masked
from collector.platform.validation.validation import ignored
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    type_ = query.one_of("type", tuple(CHANNELS))
    query.done()
    context = context_of(request)
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await channels.page(
        context.db, context.keyring, caller(request).team_id, type_, limit, offset
    )
    shown = [_shown(request, known) for known in found]
    return pages.listed(request, at, shown, total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await channels.create(
        context.db,
        context.keyring,
        actor(request),
        await body(request),
        context.now(),
        most=context.plans[caller(request).plan].channels,
    )
    whole = await _one(request, made)
    answer = CreatedChannel(
        id=whole.id, name=whole.name, type=whole.type, enabled=whole.enabled, warnings=whole.warnings
    )
    return ok(answer, 201, conditional.tagged(made.row.revision))


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    known = await channels.one(context.db, context.keyring, caller(request).team_id, _id(request))
    if (same := conditional.unchanged(request, known.row.revision)) is not None:
        return same
    return ok(await _one(request, known), headers=conditional.shown(known.row.revision))


async def update(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = await _found(request)
    only, sent = conditional.only(request), await body(request)
    known = await channels.update(
        context.db, context.keyring, actor(request), id_, sent, context.now(), only=only
    )
    return ok(await _one(request, known), headers=conditional.tagged(known.row.revision))


async def delete(request: web.Request) -> web.Response:
    id_ = await _found(request)
    await channels.delete(context_of(request).db, actor(request), id_, only=conditional.only(request))
    return no_content()


async def test(request: web.Request) -> web.Response:
    context = context_of(request)
    tested = await channels.test(
        context.db, context.keyring, context.transport, caller(request).team_id, _id(request), context.now
    )
    return ok(
        TestedChannel(
            success=tested.delivered_at is not None,
            message=tested.message,
            delivered_at=tested.delivered_at,
        )
    )


async def deliveries(request: web.Request) -> web.Response:
    id_ = await _found(request)
    query = Query(request)
    at = pages.page(query)
    query.done()
    found, total = await channels.deliveries(
        context_of(request).db, caller(request).team_id, id_, at.limit, at.offset
    )
    return pages.answer(request, at, [delivery_shown(delivery) for delivery in found], total)


def _id(request: web.Request) -> UUID:
    return path_id(request, "chan", channels.WHAT)


async def _found(request: web.Request) -> UUID:
    """The channel id from the path, if the channel exists: 404 takes precedence over all other errors."""
    return (await channels.found(context_of(request).db, caller(request).team_id, _id(request))).id


async def _one(request: web.Request, known: ChannelWithConfig) -> ChannelAnswer:
    """As `_shown`, plus the addresses that still have to confirm, if addresses have to."""
    context = context_of(request)
    waiting = await channels.unconfirmed(context.db, context.transport, known)
    return _shown(request, known, waiting)


def _shown(request: web.Request, known: ChannelWithConfig, unconfirmed: Sequence[str] = ()) -> ChannelAnswer:
    """A channel as lists and reads show it; secrets are masked for read-only callers."""
    row = known.row
    reader = caller(request).permission is Permission.READ_ONLY
    waiting = [f"{each} is asked by mail to confirm, and gets nothing before that" for each in unconfirmed]
    return ChannelAnswer(
        id=ids.show("chan", row.id),
        name=row.name,
        type=row.type,
        enabled=row.enabled,
        for_new_monitors=row.for_new_monitors,
        config=masked(CHANNELS[row.type], known.config) if reader else known.config,
        flagged=known.fault is not None and known.fault.flagged,
        failing_since=known.fault.failing_since if known.fault else None,
        last_error=known.fault.last_error if known.fault else None,
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
        unconfirmed=list(unconfirmed) or None,
        warnings=[*ignored(known.unknown), *channels.silence(known), *waiting] or None,
    )
