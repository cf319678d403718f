"""GET of the explanation of a monitor's state."""

from dataclasses import fields

from aiohttp import web

from collector.history.storage.result_reads import Result
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import ok, path_id
from collector.monitors.answers import BareResult, ExplainedResult
from collector.monitors.api import explain_views, views
from collector.monitors.api.explain_views import Explanation
from collector.monitors.core import explain as core
from collector.monitors.service import explain, reads
from collector.monitors.service.explain import ExplanationInputs
from shared.results import Run, Status


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = path_id(request, "mon", reads.WHAT)
    now = context.now()
    inputs = await explain.explain(context.db, caller(request).team_id, id_, now)
    shown = explain_views.explained(inputs, now)
    results = [_result(result, inputs) for result in inputs.results]
    said = {each.name: getattr(shown, each.name) for each in fields(shown)}
    return ok(Explanation(**said, last_results=results))


def _result(result: Result, inputs: ExplanationInputs) -> ExplainedResult:
    """Return a result as in lists, with its effect; None if unknown."""
    did, failures = core.did(Status(result.status), result.ts, inputs.trace(result.name))
    shown = views.result(result)
    return ExplainedResult(
        **{each.name: getattr(shown, each.name) for each in fields(BareResult)},
        run=Run(result.run).name.lower(),
        did=did,
        consecutive_failures=failures,
    )
