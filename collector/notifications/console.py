"""Alert channels: the list with their health, forms, and the deliveries of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.alerts.console import sections
from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form, FormField
from collector.console.forms.read import Posted
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.monitors.console import pickers
from collector.notifications.channels import CHANNELS
from collector.notifications.service import channels, redelivery
from collector.notifications.service.channels import ChannelWithConfig
from collector.notifications.service.fields import ChannelSettings
from collector.notifications.storage.reads import Delivery, DeliveryAttempt
from collector.platform.delivery import DeliveryStatus
from collector.platform.masks import masked
from collector.platform.validation.model_fields import members
from collector.platform.validation.validation import to_json
from shared import ids
from shared.errors import Conflict, Invalid, PreconditionFailed

HERE: Final = "/alerting/channels"
TYPES: Final[Mapping[str, str]] = {
    "email": "An email to one or more addresses",
    "slack": "A message to Slack, Mattermost or Rocket.Chat",
    "discord": "A message to a channel of Discord",
    "telegram": "A message from a bot of Telegram",
    "pagerduty": "An alert in PagerDuty",
    "opsgenie": "An alert in Opsgenie",
    "webhook": "A signed HTTP request to your service",
    "apprise": "Any service that Apprise supports",
}
# What a new channel is called unless somebody names it.
_NAMES: Final[Mapping[str, str]] = {
    "email": "Email",
    "slack": "Slack",
    "discord": "Discord",
    "telegram": "Telegram",
    "pagerduty": "PagerDuty",
    "opsgenie": "Opsgenie",
    "webhook": "Webhook",
    "apprise": "Apprise",
}


@dataclass(frozen=True, slots=True)
class LogLine:
    """A delivery in the log; *again*: it may be redelivered."""

    id: str
    event: str
    event_id: str
    status: str
    created_at: datetime
    next_attempt_at: datetime | None
    attempts: Sequence[DeliveryAttempt]
    again: bool


async def list_(request: web.Request) -> web.StreamResponse:
    """List the channels; failing ones come first."""
    every = await sections.every_channel(request)
    rows = sorted(every, key=lambda channel: channel.fault is None or not channel.fault.flagged)
    return page(
        request, "channels.html.j2", rows=rows, silence=sections.silence(every), warnings=channels.silence
    )


async def show(request: web.Request) -> web.StreamResponse:
    """Show a channel with its delivery log, newest first."""
    known, number = await _known(request), common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    id_ = known.row.id
    sent, total = await channels.deliveries(
        context_of(request).db, visitor(request).team_id, id_, common.PER_PAGE, offset
    )
    return page(
        request,
        "channel.html.j2",
        known=known,
        here=path(id_),
        warnings=channels.silence(known),
        unconfirmed=await channels.unconfirmed(context_of(request).db, context_of(request).transport, known),
        log=[_line(delivery) for delivery in sent],
        at=common.at(request, number, total),
    )


async def new(request: web.Request) -> web.StreamResponse:
    """Choose a type first, then fill in its fields."""
    type_ = request.query.get("type", "")
    if type_ not in CHANNELS:
        return page(request, "channel_types.html.j2", types=TYPES)
    return await _drawn(request, type_, {}, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    context, form = context_of(request), await posted(request)
    type_ = value(form, "type")
    if type_ not in CHANNELS:
        raise Invalid({"type": f"must be one of {', '.join(CHANNELS)}"})
    settings, config = _sent(type_, form)
    if pickers.asked(form):
        return await _drawn(request, type_, settings, config, {})
    name = await _free_name(request, type_)
    body = {"name": name, **edits.said(settings), "type": type_, "config": edits.said(config)}
    try:
        most = context.plans[visitor(request).plan].channels
        made = await channels.create(
            context.db, context.keyring, who(request), body, context.now(), most=most
        )
    except Invalid as fault:
        return await _drawn(request, type_, settings, config, fault.details, status=400)
    return back(request, path(made.row.id), "Channel created. Send a test notification.")


async def edit(request: web.Request) -> web.StreamResponse:
    known = await _known(request)
    row = known.row
    return await _drawn(request, row.type, to_json(channels.settings_of(row)), _masked(known), {}, known)


async def update(request: web.Request) -> web.StreamResponse:
    """Save the form; secrets that were left masked stay unchanged."""
    context, known, form = context_of(request), await _known(request), await posted(request)
    type_ = known.row.type
    settings, config = _sent(type_, form)
    if pickers.asked(form):
        return await _drawn(request, type_, settings, config, {}, known)
    # Fields that the form does not contain stay unchanged.
    old = {name: one for name, one in known.config.items() if name in config}
    body = {**settings, "config": edits.patch(old, config)}
    try:
        await channels.update(
            context.db,
            context.keyring,
            who(request),
            known.row.id,
            body,
            context.now(),
            only=edits.only(form),
        )
    except Invalid as fault:
        return await _drawn(request, type_, settings, config, fault.details, known, status=400)
    except PreconditionFailed:
        return await _drawn(request, type_, settings, config, edits.CHANGED, known, status=412)
    return back(request, path(known.row.id), "Saved.")


async def delete(request: web.Request) -> web.StreamResponse:
    await channels.delete(context_of(request).db, who(request), _id(request))
    return back(request, HERE, "Channel deleted and removed from all rules.")


async def test(request: web.Request) -> web.StreamResponse:
    """Send one real message; the page shows the result at the top."""
    context, id_ = context_of(request), _id(request)
    tested = await channels.test(
        context.db, context.keyring, context.transport, visitor(request).team_id, id_, context.now
    )
    return back(request, path(id_), tested.message, tone="good" if tested.delivered_at else "bad")


async def again(request: web.Request) -> web.StreamResponse:
    """Redeliver a delivery that was sent or has failed."""
    channel = path_id(request, "chan", channels.WHAT, "channel")
    id_ = path_id(request, "dlv", redelivery.WHAT)
    try:
        await redelivery.redeliver(context_of(request).db, who(request), id_)
    except Conflict as fault:
        return back(request, path(channel), str(fault), tone="bad")
    return back(request, path(channel), "Queued for delivery again.")


async def _drawn(
    request: web.Request,
    type_: str,
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    faults: Mapping[str, str],
    known: ChannelWithConfig | None = None,
    *,
    status: int = 200,
) -> web.Response:
    cls = CHANNELS[type_]
    choice = await pickers.monitors(request, config.get("monitors") or ())
    options = {"monitors": choice.options} if "monitors" in members(cls) else {}
    own = {name: text for name, text in faults.items() if name in members(ChannelSettings)}
    others = {name: text for name, text in faults.items() if name not in own}
    of_all = forms.build(ChannelSettings, settings, own)
    of_type = forms.build(cls, config, others, prefix="config.", options=options)
    of_type = choice.put(of_type, "config.monitors")
    required = tuple(field for field in of_type.fields if field.required)
    return page(
        request,
        "channel_form.html.j2",
        status=status,
        known=known,
        revision=await edits.revision(request, known.row.revision) if known else "",
        here=path(known.row.id) if known else HERE,
        type_=type_,
        types=TYPES,
        first=[*(_name(of_all) if known is None else of_all.named("name")), *required],
        rest=[*(field for field in of_type.fields if not field.required), *of_all.but("name")],
        summary=Form((*of_all.fields, *of_type.fields), {**of_all.faults, **of_type.faults}),
    )


def _name(of_all: Form) -> list[FormField]:
    return [
        replace(field, required=False, help="Left empty, the channel is named after its type.")
        for field in of_all.named("name")
    ]


async def _free_name(request: web.Request, type_: str) -> str:
    """Return the type's name, with a number if another channel has it."""
    taken = {channel.row.name for channel in await sections.every_channel(request)}
    names = chain([_NAMES[type_]], (f"{_NAMES[type_]} {number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def _line(delivery: Delivery) -> LogLine:
    status = DeliveryStatus(delivery.status)
    return LogLine(
        id=ids.show("dlv", delivery.id),
        event=delivery.event_kind,
        event_id=ids.show("evt", delivery.event_id),
        status=status.name.lower(),
        created_at=delivery.created_at,
        next_attempt_at=delivery.next_attempt_at,
        attempts=delivery.attempts,
        again=status is not DeliveryStatus.PENDING,
    )


def _sent(type_: str, form: Posted) -> tuple[dict[str, Any], dict[str, Any]]:
    return read.body(ChannelSettings, form), read.body(CHANNELS[type_], form, prefix="config.")


def _masked(known: ChannelWithConfig) -> dict[str, Any]:
    """The channel with its secrets masked for everybody: the console never shows a secret again."""
    return masked(CHANNELS[known.row.type], known.config)


def _id(request: web.Request) -> UUID:
    return path_id(request, "chan", channels.WHAT)


async def _known(request: web.Request) -> ChannelWithConfig:
    """The channel with the id from the path. Raises NotFound."""
    context = context_of(request)
    return await channels.one(context.db, context.keyring, visitor(request).team_id, _id(request))


def path(id_: UUID) -> str:
    """The path of a channel's page."""
    return f"{HERE}/{ids.show('chan', id_)}"
