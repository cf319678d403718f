"""Templates of incidents on status pages in files."""

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
    different,
    faults_of,
    spare,
)
from collector.platform.answer_json import read_only
from collector.platform.storage.db import Tx
from collector.platform.validation.validation import read as validated
from collector.platform.validation.validation import to_json
from collector.status_pages.answers import IncidentTemplateAnswer
from collector.status_pages.core.incident_templates import IncidentTemplateSettings
from collector.status_pages.service import incident_templates
from collector.status_pages.storage import incident_templates as table

_READ_ONLY: Final = read_only(IncidentTemplateAnswer, IncidentTemplateSettings)


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    rows = await table.of_team(tx, context.team_id, None, 0)
    return [
        ExistingResource(row.id, row.name, partial(incident_templates.settable, row))
        for row in sorted(rows, key=lambda row: (row.created_at, row.id))
    ]


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    del context, before
    request = validated(IncidentTemplateSettings, item)
    faults = faults_of(item, _READ_ONLY, request)
    return ParsedItem(None, faults) if faults or request.value is None else ParsedItem(to_json(request.value))


async def create(context: ApplyContext, item: Body) -> CreatedItem:
    made = await incident_templates.create(context.means.db, context.who, item, context.now)
    return CreatedItem(made.row.id, made.warnings)


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    body = different(before.body, whole)
    changed = await incident_templates.update(context.means.db, context.who, before.id, body, context.now)
    return changed.warnings


async def delete(context: ApplyContext, id_: UUID) -> None:
    await incident_templates.delete(context.means.db, context.who, id_)


def spared(whole: Body) -> dict[str, Any]:
    return spare(IncidentTemplateSettings, whole)


SORT = Sort(
    noun="incident template",
    prefix=incident_templates.PREFIX,
    refers={},
    present=present,
    read=read,
    create=create,
    update=update,
    delete=delete,
    hidden=dict,
    spare=spared,
)
