"""Service level objectives: list, create, read, update, delete."""

from collections.abc import Sequence
from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.slos.answers import BurnRate, ErrorBudget, SloAnswer, SloMonitorState, SloStateAnswer
from collector.slos.core.budget import BudgetUse
from collector.slos.core.period import CALENDAR
from collector.slos.service import slos
from collector.slos.service.slos import SavedSlo
from collector.slos.service.states import KnownSlo, SloState
from collector.slos.storage.slos import SloRow
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    query.done()
    context = context_of(request)
    known, total = await slos.page(context.db, caller(request).team_id, context.now(), at.limit, at.offset)
    return pages.answer(request, at, [shown(each) for each in known], total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await slos.create(context.db, actor(request), await body(request), context.now())
    return _answer(made, 201)


async def get(request: web.Request) -> web.Response:
    known = await _known(request)
    if (same := conditional.unchanged(request, known.row.revision)) is not None:
        return same
    return ok(shown(known), headers=conditional.shown(known.row.revision))


async def update(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _known(request)).row.id
    only, sent = conditional.only(request), await body(request)
    return _answer(await slos.update(context.db, actor(request), id_, sent, context.now(), only=only), 200)


async def delete(request: web.Request) -> web.Response:
    id_ = (await _known(request)).row.id
    only = conditional.only(request)
    await slos.delete(context_of(request).db, actor(request), id_, only=only)
    return no_content()


def shown(known: KnownSlo, warnings: Sequence[str] = ()) -> SloAnswer:
    """Return the SLO as the API shows it."""
    row = known.row
    return SloAnswer(
        id=ids.show("slo", row.id),
        name=row.name,
        description=row.description,
        target=row.target,
        period=row.period,
        timezone=row.timezone,
        indicator=slos.indicator_of(row),
        monitors=[ids.show("mon", id_) for id_ in row.monitors],
        groups=row.groups,
        tags=row.tags,
        combine=row.combine,
        state=_state(known.state, row),
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
        warnings=list(warnings) or None,
    )


def _state(state: SloState, row: SloRow) -> SloStateAnswer:
    sli = state.tally.sli
    return SloStateAnswer(
        from_=state.span.since,
        to=state.span.until if row.period in CALENDAR else None,
        sli=sli,
        met=None if sli is None else sli >= row.target,
        known_seconds=state.tally.known_ms / 1000,
        budget=_budget(state.budget),
        burn_rates=[
            BurnRate(
                hours=burn.hours,
                factor=burn.factor,
                long_window=round(burn.long, 3),
                short_window=round(burn.short, 3),
                exceeded=burn.exceeded,
            )
            for burn in state.burns
        ],
        exhausted_at=state.exhausted_at,
        counted_threshold_ms=state.counted_ms,
        monitors=[
            SloMonitorState(
                monitor_id=ids.show("mon", each.monitor.id),
                monitor_name=each.monitor.name,
                sli=each.tally.sli,
                used_percent=round(each.budget.used_percent, 3),
            )
            for each in state.monitors
        ],
    )


def _budget(budget: BudgetUse) -> ErrorBudget:
    return ErrorBudget(
        total_seconds=round(budget.total_ms / 1000, 3),
        used_seconds=round(budget.used_ms / 1000, 3),
        remaining_seconds=round(budget.remaining_ms / 1000, 3),
        used_percent=round(budget.used_percent, 3),
    )


def _answer(saved: SavedSlo, status: int) -> web.Response:
    headers = conditional.tagged(saved.known.row.revision)
    return ok(shown(saved.known, saved.warnings), status, headers)


def _id(request: web.Request) -> UUID:
    return path_id(request, "slo", slos.WHAT)


async def _known(request: web.Request) -> KnownSlo:
    """Return the SLO in the path, if it exists: 404 takes precedence over other errors."""
    context = context_of(request)
    return await slos.one(context.db, caller(request).team_id, _id(request), context.now())
