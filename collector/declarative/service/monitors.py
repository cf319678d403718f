"""Monitors in files."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from collector.alerts.service.followers import FOLLOWERS
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
    not_loaded,
    patch,
    spare,
)
from collector.monitors.answers import MonitorDetails
from collector.monitors.service import creation, ends, fields, monitors, updates
from collector.monitors.service.columns import settings_of, whole_config
from collector.monitors.service.creation import Requests
from collector.monitors.service.receivers import SETTLED
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform.answer_json import read_only
from collector.platform.masks import masked
from collector.platform.monitor import MonitorSettings
from collector.platform.storage.db import Tx
from collector.platform.validation.validation import to_json
from shared.kinds import KINDS, RECEIVING, UMBRELLA, effective, load
from shared.kinds.fields import camel

# Fields that a GET shows and no file can set.
_READ_ONLY: Final = read_only(MonitorDetails, MonitorSettings)
_MADE = ("pingKey",)
# Push monitors have fixed values of these.
_SETTLED = frozenset(map(camel, SETTLED))


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    """Return every monitor without its body: a batch must not pay for all of a team's configurations."""
    return [
        ExistingResource(id_, name, not_loaded) for id_, name in await table.all_names(tx, context.team_id)
    ]


async def load_bodies(
    context: ApplyContext, tx: Tx, wanted: Sequence[ExistingResource]
) -> list[ExistingResource]:
    rows = {
        row.id: row for row in await table.some(tx, context.team_id, [resource.id for resource in wanted])
    }
    loaded = [resource for resource in wanted if resource.id in rows]
    for resource in loaded:
        resource.make_body = partial(_body, context, rows[resource.id])
    return loaded


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    """Validate an item; locations and a token that it leaves out keep their values."""
    body = dict(item)
    if before and body.get("locations") is None and "locations" in before.body:
        body["locations"] = before.body["locations"]
    request = fields.for_create(body, context.means.min_interval, context.means.nodes)
    faults = {**another_type(before, request.type, "monitor"), **faults_of(item, _READ_ONLY, request)}
    if faults or request.settings is None or request.kind is None:
        return ParsedItem(None, faults)
    whole = _whole(request.type, request.settings, fields.stored(request.kind))
    config = whole["config"]
    if before and "authToken" in config and not _says(item, "authToken"):
        config["authToken"] = before.body["config"]["authToken"]
    if before and config.get("subType") != before.body["config"].get("subType"):
        return ParsedItem(None, {"subType": f"cannot be changed; it is {before.body['config']['subType']}"})
    return ParsedItem(whole, monitor=request)


async def create_all(context: ApplyContext, tx: Tx, requests: Requests) -> list[CreatedItem]:
    """Create these monitors, in this order."""
    saved = await creation.create_all(tx, context.means, context.team_id, requests, context.now)
    return [CreatedItem(each.monitor.id, each.warnings) for each in saved]


async def update_all(
    context: ApplyContext, wanted: Sequence[tuple[ExistingResource, Body]]
) -> dict[UUID, list[str]]:
    """Change monitors together, as far as possible; return the warnings about each that was changed."""
    bodies = {before.id: _difference(before, whole) for before, whole in wanted}
    return await updates.update_all(context.means, context.team_id, bodies, context.now)


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    body = _difference(before, whole)
    return (await monitors.update(context.means, context.team_id, before.id, body, context.now)).warnings


def _difference(before: ExistingResource, whole: Body) -> dict[str, Any]:
    body = different(before.body, whole)
    if "config" in body:
        body["config"] = patch(before.body["config"], whole["config"])
    return body


async def delete_all(context: ApplyContext, named: Sequence[UUID]) -> Collection[UUID]:
    """Delete monitors together, as far as possible; return which. Their results go after the commit."""
    gone = await ends.delete_all(context.means.db, FOLLOWERS, context.who, named, context.now)
    context.forgotten.extend(gone.values())
    return gone.keys()


async def delete(context: ApplyContext, id_: UUID) -> None:
    """Delete the monitor; its results are deleted after the commit."""
    means, later = context.means, context.forgotten
    await ends.delete(
        means.db, means.signals, FOLLOWERS, context.team_id, id_, context.now, who=means.who, later=later
    )


def hidden(whole: Body) -> dict[str, Any]:
    return {**whole, "config": masked(_kind(whole), whole["config"])}


def spared(whole: Body) -> dict[str, Any]:
    """Return the body for an export; a receiver's token is left out: each service makes its own."""
    config = spare(_kind(whole), whole["config"])
    config = {name: value for name, value in config.items() if name != "authToken"}
    if whole["type"] == UMBRELLA:
        config = {"subType": whole["config"]["subType"], **config}
    rest = {name: value for name, value in whole.items() if name not in {"type", "config"}}
    rest = spare(MonitorSettings, rest)
    return {"name": rest.pop("name"), "type": whole["type"], **rest, **({"config": config} if config else {})}


def _body(context: ApplyContext, row: Monitor) -> dict[str, Any]:
    kind = load(row.type, whole_config(context.means.keyring, row))
    return _whole(row.type, settings_of(row), fields.stored(kind))


def _whole(type_: str, settings: MonitorSettings, config: dict[str, Any]) -> dict[str, Any]:
    own = to_json(settings)
    for name in ("locations", "dependsOn"):
        own[name] = own[name] and list(dict.fromkeys(own[name]))
    dropped = _SETTLED if type_ in RECEIVING else frozenset[str]()
    kept = {name: value for name, value in own.items() if name not in dropped}
    return {
        **kept,
        "type": type_,
        "config": {name: value for name, value in config.items() if name not in _MADE},
    }


def _says(item: Body, name: str) -> bool:
    config = item.get("config")
    return bool(item.get(name) or (isinstance(config, dict) and config.get(name)))


def _kind(whole: Body) -> Any:
    return KINDS[effective(whole["type"], whole["config"])]


SORT = Sort(
    noun="monitor",
    prefix="mon",
    refers={("dependsOn", "[]"): "monitors"},
    present=present,
    read=read,
    create=None,
    update=update,
    delete=delete,
    hidden=hidden,
    spare=spared,
    load=load_bodies,
)
