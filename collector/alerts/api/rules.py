"""Alert rules: list, create, read, update, delete, preview."""

from typing import Any
from uuid import UUID

from aiohttp import web

from collector.alerts.answers import CreatedRule, PreviewedAlert, RulePreview
from collector.alerts.service import preview as rule_preview
from collector.alerts.service import rules
from collector.alerts.service.preview import ReplayedAlert
from collector.alerts.service.rules import RuleDetails
from collector.alerts.storage.rules import RuleFilter
from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id, warned
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    wanted = RuleFilter(enabled=query.boolean("enabled"), monitor_id=query.id("monitor_id", "mon"))
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await rules.page(context_of(request).db, caller(request).team_id, wanted, limit, offset)
    shown = [_shown(known) for known in found]
    return pages.listed(request, at, shown, total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await rules.create(context.db, actor(request), await body(request), context.now())
    answer = CreatedRule(
        id=ids.show("rule", made.row.id),
        name=made.row.name,
        enabled=made.row.enabled,
        created_at=made.row.created_at,
        warnings=list(made.warnings) or None,
    )
    return ok(answer, 201, conditional.tagged(made.row.revision))


async def preview(request: web.Request) -> web.Response:
    context = context_of(request)
    found = await rule_preview.preview(
        context.db, caller(request).team_id, await body(request), context.now()
    )
    answer = RulePreview(
        from_=found.since,
        to=found.until,
        monitors=found.monitors,
        alerts=[_previewed(alert) for alert in found.alerts],
        notifications=sum(alert.notices for alert in found.alerts),
        escalations=sum(alert.escalations for alert in found.alerts),
        warnings=list(found.warnings) or None,
    )
    return ok(answer)


async def get(request: web.Request) -> web.Response:
    known = await _found(request)
    if (same := conditional.unchanged(request, known.row.revision)) is not None:
        return same
    return ok(_shown(known), headers=conditional.shown(known.row.revision))


async def update(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _found(request)).row.id
    only, sent = conditional.only(request), await body(request)
    known = await rules.update(context.db, actor(request), id_, sent, context.now(), only=only)
    return ok(_shown(known), headers=conditional.tagged(known.row.revision))


async def delete(request: web.Request) -> web.Response:
    id_ = (await _found(request)).row.id
    await rules.delete(context_of(request).db, actor(request), id_, only=conditional.only(request))
    return no_content()


async def _found(request: web.Request) -> RuleDetails:
    """Return the rule of the path, if it exists: 404 comes before any other fault."""
    id_: UUID = path_id(request, "rule", rules.WHAT)
    return await rules.one(context_of(request).db, caller(request).team_id, id_)


def _shown(known: RuleDetails) -> dict[str, Any]:
    row = known.row
    answer = {
        "id": ids.show("rule", row.id),
        **rules.settable(row),
        "revision": row.revision,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
    return warned(answer, list(known.warnings))


def _previewed(one: ReplayedAlert) -> PreviewedAlert:
    spell = one.spell
    return PreviewedAlert(
        monitor_id=ids.show("mon", one.monitor.id),
        monitor_name=one.monitor.name,
        reason=spell.reason.key,
        value=spell.reason.value,
        threshold=spell.reason.threshold,
        fired_at=spell.since,
        recovered_at=spell.until,
        notifications=one.notices,
        escalations=one.escalations,
    )
