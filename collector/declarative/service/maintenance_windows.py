"""Maintenance windows in files."""

from collections.abc import Sequence
from datetime import timedelta
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
    different,
    faults_of,
    spare,
)
from collector.maintenance.answers import WindowAnswer
from collector.maintenance.core.windows import Schedule, moment
from collector.maintenance.service import windows
from collector.maintenance.service.fields import Fields, ParsedWindow, for_create
from collector.maintenance.storage import windows as table
from collector.maintenance.storage.windows import WindowRow
from collector.platform.answer_json import read_only
from collector.platform.storage.db import Tx
from shared import ids
from shared.clock import iso

_READ_ONLY: Final = read_only(WindowAnswer, Fields)
_SECOND = timedelta(seconds=1)


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    """Return all windows, past ones too: a file may still declare them."""
    rows = await table.newest(tx, context.team_id, None, context.now, windows.MOST, 0)
    return [ExistingResource(row.id, row.name, partial(_whole, row)) for row in reversed(rows)]


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    del context, before
    request = for_create(item)
    faults = faults_of(item, _READ_ONLY, request)
    return ParsedItem(None, faults) if faults or request.asked is None else ParsedItem(_whole(request.asked))


async def create(context: ApplyContext, item: Body) -> CreatedItem:
    known = await windows.create(context.means.db, context.who, item, context.now)
    return CreatedItem(known.row.id, known.warnings)


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    body = different(before.body, whole)
    return (await windows.update(context.means.db, context.who, before.id, body, context.now)).warnings


async def delete(context: ApplyContext, id_: UUID) -> None:
    await windows.delete(context.means.db, context.who, id_, context.now)


def spared(whole: Body) -> dict[str, Any]:
    return spare(Fields, whole)


def _whole(one: WindowRow | ParsedWindow) -> dict[str, Any]:
    schedule, selection = one.schedule, one.selection
    return {
        "name": one.name,
        "description": one.description,
        "monitors": [ids.show("mon", id_) for id_ in selection.monitors],
        "tags": selection.tags,
        "all": selection.every,
        "start": _start(schedule),
        "duration": schedule.duration // _SECOND,
        "timezone": schedule.timezone,
        "rrule": schedule.rrule,
        "exdates": [day.isoformat() for day in schedule.exdates],
        "enabled": one.enabled,
    }


def _start(schedule: Schedule) -> str:
    """Return the start by the zone's clock, or in UTC if it is the second of two equal times."""
    local = schedule.starts_local
    same = moment(local, schedule.zone) == schedule.starts_at
    return local.isoformat(timespec="seconds") if same else iso(schedule.starts_at)


SORT = Sort(
    noun="maintenance window",
    prefix="mw",
    refers={("monitors", "[]"): "monitors"},
    present=present,
    read=read,
    create=create,
    update=update,
    delete=delete,
    hidden=dict,
    spare=spared,
)
