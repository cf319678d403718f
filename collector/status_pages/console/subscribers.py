"""The subscribers of a status page: list, add, remove."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import edits, forms, read
from collector.console.language import gettext
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.status_pages.answers import SubscriberAnswer
from collector.status_pages.api.parts import part_id, subscriber
from collector.status_pages.console.status_pages import page_id, path
from collector.status_pages.core.fields import SubscriberSettings
from collector.status_pages.service import components, status_pages, subscribers
from collector.status_pages.service.subscribers import WHAT
from shared import ids
from shared.errors import Conflict, Invalid


@dataclass(frozen=True, slots=True)
class SubscriberLine:
    """A line of the list: a subscriber and the names of its components."""

    subscriber: SubscriberAnswer
    component_names: Sequence[str]


async def list_(request: web.Request) -> web.StreamResponse:
    return await _drawn(request, {}, {})


async def add(request: web.Request) -> web.StreamResponse:
    """Add a subscriber; an email address receives a confirmation mail first."""
    context, id_ = context_of(request), page_id(request)
    sent = read.body(SubscriberSettings, await posted(request))
    mails = context.transport.mailer is not None
    try:
        known = await subscribers.add(
            context.db,
            context.keyring,
            who(request),
            id_,
            edits.said(sent),
            context.now(),
            mails=mails,
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, code=400)
    except Conflict as fault:
        return await _drawn(request, sent, {"subscriber": str(fault)}, code=409)
    flash = " ".join([gettext("Added."), *(f"Mind: {warning}." for warning in known.warnings)])
    return back(request, f"{path(id_)}/subscribers", flash, tone="warn" if known.warnings else "good")


async def delete(request: web.Request) -> web.StreamResponse:
    id_, one = part_id(request, "sub", "subscriberId", WHAT)
    await subscribers.delete(context_of(request).db, who(request), id_, one)
    return back(request, f"{path(id_)}/subscribers", "Subscriber removed.")


async def _drawn(
    request: web.Request, shown: Mapping[str, Any], faults: Mapping[str, str], *, code: int = 200
) -> web.Response:
    """Render the list, newest first, without webhook secrets: those cannot be read again."""
    context, team_id, number = context_of(request), visitor(request).team_id, common.asked(request)
    row = await status_pages.existing(context.db, team_id, page_id(request))
    offset = (number - 1) * common.PER_PAGE
    rows, total = await subscribers.page(
        context.db, context.keyring, team_id, row.id, common.PER_PAGE, offset
    )
    seen = await components.all_(context.db, team_id, row.id, context.now())
    options = [(ids.show("comp", details.row.id), details.row.name) for details in seen]
    names = dict(options)
    lines = [subscriber(known, whole=False) for known in rows]
    return page(
        request,
        "status_page_subscribers.html.j2",
        status=code,
        row=row,
        here=path(row.id),
        rows=[SubscriberLine(answer, [names.get(id_, id_) for id_ in answer.components]) for answer in lines],
        at=common.at(request, number, total),
        form=forms.build(
            SubscriberSettings, {**shown, "signingSecret": None}, faults, options={"components": options}
        ),
    )
