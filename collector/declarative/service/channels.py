"""Alert channels in files."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from collector.declarative.service.shape import (
    ApplyContext,
    Body,
    CreatedItem,
    ExistingResource,
    ParsedItem,
    Sort,
    another_type,
    different,
    faults_of,
    patch,
    spare,
)
from collector.notifications.answers import ChannelDetails
from collector.notifications.channels import CHANNELS, load
from collector.notifications.service import channels
from collector.notifications.service.fields import ChannelSettings, for_create
from collector.notifications.storage import channels as table
from collector.notifications.storage.channels import ChannelRow
from collector.platform.answer_json import read_only
from collector.platform.masks import masked
from collector.platform.seal import SealScope
from collector.platform.seal import whole as opened
from collector.platform.storage.db import Tx
from collector.platform.validation.validation import ignored, to_json

_READ_ONLY: Final = read_only(ChannelDetails, ChannelSettings)


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    rows = await table.newest(tx, context.team_id, None)
    return [ExistingResource(row.id, row.name, partial(_body, context, row)) for row in reversed(rows)]


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    del context
    request = for_create(item)
    faults = {**another_type(before, item.get("type"), "channel"), **faults_of(item, _READ_ONLY, request)}
    if faults or request.settings is None or request.config is None:
        return ParsedItem(None, faults)
    return ParsedItem({"type": item["type"], **to_json(request.settings), "config": to_json(request.config)})


async def create(context: ApplyContext, item: Body) -> CreatedItem:
    means = context.means
    most = means.plan.channels if means.plan else channels.MOST
    known = await channels.create(means.db, means.keyring, context.who, item, context.now, most=most)
    return CreatedItem(known.row.id, ignored(known.unknown))


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    body = different(before.body, whole)
    if "config" in body:
        body["config"] = patch(before.body["config"], whole["config"])
    await channels.update(context.means.db, context.means.keyring, context.who, before.id, body, context.now)
    return ()


async def delete(context: ApplyContext, id_: UUID) -> None:
    await channels.delete(context.means.db, context.who, id_)


def hidden(whole: Body) -> dict[str, Any]:
    return {**whole, "config": masked(CHANNELS[whole["type"]], whole["config"])}


def spared(whole: Body) -> dict[str, Any]:
    own = spare(ChannelSettings, {name: whole[name] for name in ("name", "enabled")})
    config = spare(CHANNELS[whole["type"]], whole["config"])
    return {"name": own.pop("name"), "type": whole["type"], **own, **({"config": config} if config else {})}


def _body(context: ApplyContext, row: ChannelRow) -> dict[str, Any]:
    place = SealScope(row.team_id, "channels", row.id, "secrets")
    config = opened(context.means.keyring, row.config, row.secrets, place)
    return {
        "type": row.type,
        "name": row.name,
        "enabled": row.enabled,
        "config": to_json(load(row.type, config)),
    }


SORT = Sort(
    noun="alert channel",
    prefix="chan",
    refers={("config", "monitors", "[]"): "monitors", ("monitors", "[]"): "monitors"},
    present=present,
    read=read,
    create=create,
    update=update,
    delete=delete,
    hidden=hidden,
    spare=spared,
)
