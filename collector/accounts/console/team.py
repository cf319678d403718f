"""Settings: the team's name, plan and second factor, its audit log, facts about the deployment."""

import platform
from typing import Final

from aiohttp import web

from collector.accounts.service import team
from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import forms, read
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import Query
from collector.ops.service import about
from collector.platform import audit
from collector.platform.storage.audit import AuditFilter
from shared.errors import Invalid

_TEAM: Final = "/settings/team"


async def show(request: web.Request) -> web.StreamResponse:
    return await _form(request, {}, {})


async def save(request: web.Request) -> web.StreamResponse:
    body = read.body(team.TeamFields, await posted(request))
    try:
        await team.update(context_of(request).db, who(request), body)
    except Invalid as fault:
        return await _form(request, body, fault.details)
    return back(request, _TEAM, "Saved.")


async def log(request: web.Request) -> web.StreamResponse:
    """Show the audit log; filters are those of GET /v1/audit-log. Raises Invalid."""
    query, number = Query(request), common.asked(request)
    since, until = query.span()
    wanted = AuditFilter(
        actor=query.text("actor"),
        resource=query.text("resource"),
        action=query.text("action"),
        since=since,
        until=until,
    )
    query.done()
    entries, total = await audit.page(
        context_of(request).db,
        visitor(request).team_id,
        wanted,
        common.PER_PAGE,
        (number - 1) * common.PER_PAGE,
    )
    asked = {name: request.query.get(name, "") for name in ("actor", "resource", "action", "from", "to")}
    return page(
        request,
        "audit_log.html.j2",
        entries=entries,
        at=common.at(request, number, total),
        asked=asked,
        total=total,
    )


async def show_about(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    seen = await about.read(context.db, visitor(request).team_id, context.now())
    return page(
        request,
        "about.html.j2",
        seen=seen,
        python=platform.python_version(),
        public_url=context.public_url,
        mail=context.transport.mailer is not None,
        probes_at=context.probes_at,
        otlp_url=context.otlp_url,
    )


async def _form(
    request: web.Request, values: dict[str, object], faults: dict[str, str]
) -> web.StreamResponse:
    found = await team.get(context_of(request).db, visitor(request).team_id)
    form = forms.build(team.TeamFields, {**team.settings_of(found), **values}, faults)
    plan = context_of(request).plans[found.plan]
    return page(request, "team.html.j2", status=400 if faults else 200, form=form, team=found, plan=plan)
