"""GET of the explanation of a monitor's state."""

from typing import Any

from aiohttp import web

from collector.history.storage.result_reads import Result
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import ok, path_id
from collector.monitors.api import explain_views, views
from collector.monitors.core import explain as core
from collector.monitors.service import explain, reads
from collector.monitors.service.explain import ExplanationInputs
from collector.platform.validation.validation import to_json
from shared.results import Run, Status


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = path_id(request, "mon", reads.WHAT)
    now = context.now()
    found = await explain.explain(context.db, caller(request).team_id, id_, now)
    said = to_json(explain_views.explained(found, now))
    return ok(
        {
            **said,
            "locations": [_location(one) for one in said["locations"]],
            "lastResults": [_result(result, found) for result in found.results],
        }
    )


def _location(said: dict[str, Any]) -> dict[str, Any]:
    """Return the location, without *certificate* if none was seen."""
    return {name: one for name, one in said.items() if name != "certificate" or one is not None}


def _result(result: Result, found: ExplanationInputs) -> dict[str, Any]:
    """Return a result as in lists, with its effect; null if unknown."""
    did, failures = core.did(Status(result.status), result.ts, found.trace(result.name))
    shown = views.result(result)
    del shown["phases"]
    shown["run"] = Run(result.run).name.lower()
    return {**shown, "did": did, "consecutiveFailures": failures}
