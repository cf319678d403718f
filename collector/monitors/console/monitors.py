"""The list of monitors: search, filter, sorting, bulk actions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web
from yarl import URL

from collector.console import common
from collector.console.answers import PART, back, came_from, page, posted, value
from collector.console.language import gettext
from collector.console.state import visitor, who
from collector.history.service import statistics
from collector.http.auth import REQUEST_ID
from collector.http.context import context_of
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.console import rows
from collector.monitors.console.saved_filters import normal
from collector.monitors.service import board, bulk, saved_filters
from collector.monitors.service.bulk import BulkCaller, BulkOutcome, BulkRun
from collector.monitors.service.bulk_fields import BulkRequest, parse
from collector.monitors.storage.board import SORTS, STATES, Sorting
from collector.monitors.storage.lists import MonitorFilter
from shared import ids
from shared.errors import Invalid
from shared.kinds import TYPES

HERE: Final = "/monitors"
_SILENCED: Final = "silenced"
_STATUSES: Final = (*STATES, _SILENCED)
_DAYS: Final = 30
_LONGEST: Final = 200
# The duration of the list's silence action.
_HOUR_S: Final = 3_600
_COLUMNS: Final = {
    "state": "State",
    "name": "Name",
    "type": "Type",
    "group": "Group",
    "response": "Response",
    "checked": "Checked",
}


@dataclass(frozen=True, slots=True)
class SortLink:
    """The heading of a column; *aria*: as `aria-sort` says it."""

    label: str
    path: str
    aria: str


@dataclass(frozen=True, slots=True)
class StateCounter:
    """How many monitors are in a state, with a link to these; *status* is empty for all."""

    status: str
    count: int
    path: str
    current: bool


async def list_(request: web.Request) -> web.StreamResponse:
    context, team_id = context_of(request), visitor(request).team_id
    number, wanted, sorting = common.asked(request), _wanted(request, request.query), _sorting(request)
    offset, now = (number - 1) * common.PER_PAGE, context.now()
    seen = await board.read(context.db, team_id, wanted, sorting, common.PER_PAGE, offset, now)
    shown = [row.id for row in seen.rows]
    days = await statistics.daily_of(context.db, team_id, shown, _DAYS, now) if shown else {}
    lines = [rows.line(row, seen.checks[row.monitor], days.get(row.id), now) for row in seen.rows]
    chosen = _SILENCED if wanted.silenced_at else wanted.status
    total = seen.states.get(chosen, 0) if chosen else seen.total
    return page(
        request,
        "monitors.html.j2",
        sections=rows.sections(seen, lines) if sorting.by == "group" else [],
        rows=lines,
        width=rows.WIDTH,
        total=total,
        at=common.at(request, number, total),
        wanted=wanted,
        chosen=chosen,
        query=_query(request),
        narrowed=wanted != MonitorFilter(),
        types=list(TYPES),
        # A part that is loaded anew leaves the search and its suggestions alone.
        tags=[] if PART in request.headers else await board.tags(context.db, team_id),
        counters=_counters(request, seen, chosen),
        columns={name: _link(request, sorting, name) for name in SORTS},
        sorting=sorting,
        saved=[]
        if PART in request.headers
        else await saved_filters.of_user(context.db, team_id, visitor(request).user_id),
        present=normal(_query(request)),
    )


async def carry_out(request: web.Request) -> web.StreamResponse:
    """Run one action on the ticked monitors, or on all that match."""
    form = await posted(request)
    action: dict[str, Any] = {"action": value(form, "action")}
    if action["action"] == "silence":
        action["duration"] = _HOUR_S
    if action["action"] == "tag":
        name, _, text = value(form, "tag").partition(":")
        action["tags"] = {name.strip(): text.strip()}
    context, mine = context_of(request), visitor(request)
    chosen = form.get("id", [])
    if value(form, "all"):
        wanted = _wanted(request, URL(_here(form)).query)
        chosen = [ids.show("mon", id_) for id_ in await board.matching(context.db, mine.team_id, wanted)]
    if not chosen:
        return back(request, _here(form), "Select monitors first.", tone="warn")
    try:
        asked = parse({**action, "filter": {"ids": chosen}})
    except Invalid as fault:
        return back(
            request, _here(form), "; ".join(f"{k}: {v}" for k, v in fault.details.items()), tone="bad"
        )
    done = await _run(request, asked)
    reversible = done.changed and asked.action in bulk.REVERSED
    return back(
        request,
        _here(form),
        _said(done),
        tone="bad" if done.failed else "good",
        undo=f"{HERE}/bulk/undo?request={request[REQUEST_ID]}" if reversible else "",
    )


async def undo(request: web.Request) -> web.StreamResponse:
    """Take back a bulk action of this user, of the last minutes."""
    context, here = context_of(request), came_from(request, HERE)
    asked = await bulk.reversal(context.db, who(request), request.query.get("request", ""), context.now())
    if asked is None:
        return back(request, here, "That cannot be undone any more.", tone="warn")
    done = await _run(request, asked)
    return back(
        request,
        here,
        gettext("Undone: %(outcome)s", outcome=_said(done)),
        tone="bad" if done.failed else "good",
    )


async def _run(request: web.Request, asked: BulkRequest) -> BulkOutcome:
    mine = visitor(request)
    by = BulkCaller(mine.team_id, mine.name)
    run = BulkRun(common.service_context(request), request.app[MONITOR_FOLLOWERS], by, asked)
    return await bulk.carry_out(run, context_of(request).now)


def _said(done: BulkOutcome) -> str:
    text = gettext("%(some)s of %(all)s changed.", some=len(done.changed), all=done.matched)
    if done.failed:
        failed = gettext("%(count)s failed: %(error)s", count=len(done.failed), error=done.failed[0][1])
        text = f"{text} {failed}"
    return text


def _here(form: Any) -> str:
    """Return the list's address with its filter, and no other address."""
    query = value(form, "query")
    return f"{HERE}?{query}" if query and not query.startswith("/") else HERE


def _sorting(request: web.Request) -> Sorting:
    """Return the order of the query; ``-name`` is descending."""
    text = request.query.get("sort", "")
    by = text.removeprefix("-")
    return Sorting(by=by, descending=text.startswith("-")) if by in SORTS else Sorting()


def _link(request: web.Request, sorting: Sorting, name: str) -> SortLink:
    """Link to the order by *name*; by the present one, to its reverse."""
    present = sorting.by == name
    turned = present and not sorting.descending
    url = request.rel_url.without_query_params("page").update_query(sort=f"-{name}" if turned else name)
    aria = ("descending" if sorting.descending else "ascending") if present else "none"
    return SortLink(_COLUMNS[name], str(url), aria)


def _counters(request: web.Request, seen: board.MonitorBoard, chosen: str | None) -> list[StateCounter]:
    here = request.rel_url.without_query_params("page", "status")
    every = StateCounter("", seen.total, str(here), chosen is None)
    states = {**seen.states, **({chosen: seen.states.get(chosen, 0)} if chosen else {})}
    return [
        every,
        *(
            StateCounter(state, states[state], str(here.update_query(status=state)), state == chosen)
            for state in _STATUSES
            if state in states
        ),
    ]


def _wanted(request: web.Request, query: Mapping[str, str]) -> MonitorFilter:
    """Return the filter of the query, without invalid values."""
    asked = {name: text.strip()[:_LONGEST] for name, text in query.items() if text.strip()}
    wanted = MonitorFilter(
        type=asked["type"] if asked.get("type") in TYPES else None,
        group=asked.get("group"),
        tag=asked.get("tag"),
        text=asked.get("q"),
        location=asked.get("location"),
    )
    if asked.get("status") == _SILENCED:
        return replace(wanted, silenced_at=context_of(request).now())
    return replace(wanted, status=asked["status"] if asked.get("status") in STATES else None)


def _query(request: web.Request) -> str:
    """Return the list's query without its page."""
    return request.rel_url.without_query_params("page").query_string


def path(id_: Any) -> str:
    """Return the path of a monitor's page."""
    return f"{HERE}/{ids.show('mon', id_)}"
