"""GET of why a monitor stands as it does, as JSON."""

from typing import Any

from aiohttp import web

from collector.api import explain_views, monitor_views
from collector.api.auth import caller
from collector.api.deps import deps
from collector.api.reading import ok, path_id
from collector.core import explain as core
from collector.services import explain, monitor_reads
from collector.services.explain import Explanation
from collector.services.validation import to_json
from collector.storage.result_reads import Result
from shared.results import Run, Status


async def get(request: web.Request) -> web.Response:
    at_hand = deps(request)
    id_ = path_id(request, "mon", monitor_reads.WHAT)
    now = at_hand.now()
    found = await explain.explain(at_hand.db, caller(request).team_id, id_, now)
    said = to_json(explain_views.explained(found, now))
    return ok(
        {
            **said,
            "locations": [_location(one) for one in said["locations"]],
            "lastResults": [_result(result, found) for result in found.results],
        }
    )


def _location(said: dict[str, Any]) -> dict[str, Any]:
    """*certificate* is there where one was seen."""
    return {name: one for name, one in said.items() if name != "certificate" or one is not None}


def _result(result: Result, found: Explanation) -> dict[str, Any]:
    """As in the list of results, and what it did; null where that cannot be known."""
    did, failures = core.did(Status(result.status), result.ts, found.trace(result.name))
    shown = monitor_views.result(result)
    del shown["phases"]
    shown["run"] = Run(result.run).name.lower()
    return {**shown, "did": did, "consecutiveFailures": failures}
