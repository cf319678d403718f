"""Explains a monitor: how it stands, by whose votes, what is held back, and who was told."""

from datetime import datetime
from itertools import groupby
from typing import Any

from aiohttp import web

from collector.api import monitor_views as views
from collector.api.auth import caller
from collector.api.deps import deps
from collector.api.reading import ok, path_id
from collector.core import explain as core
from collector.core.assignment import LIVE
from collector.core.explain_holds import Hold, holds, not_told
from collector.core.monitor import status
from collector.services import explain, monitor_reads
from collector.services.explain import Explanation
from collector.storage.deliveries import Status as Delivered
from collector.storage.explain_reads import At, Explained, Parent, Told
from collector.storage.result_reads import Result
from shared import ids
from shared.results import Run, Status

_VERDICTS = {True: "down", False: "up", None: None}


async def get(request: web.Request) -> web.Response:
    at_hand = deps(request)
    id_ = path_id(request, "mon", monitor_reads.WHAT)
    now = at_hand.now()
    found = await explain.explain(at_hand.db, caller(request).team_id, id_, now)
    return ok(shown(found, now))


def shown(found: Explanation, now: datetime) -> dict[str, Any]:
    monitor, facts, places = found.monitor, found.monitor.facts, found.places
    votes = core.tally(facts, places, now)
    return {
        "status": core.status(facts, places),
        "since": core.since(facts, places),
        "sentence": core.sentence(facts, places, now),
        "locations": [_location(at, monitor, now) for at in found.locations],
        "quorum": {
            "setting": _quorum(facts.monitor.quorum),
            "voters": votes.voters,
            "needed": votes.needed,
            "failing": votes.failing,
        },
        "verdict": _VERDICTS[votes.down],
        "holds": [_hold(hold) for hold in holds(facts, places, now)],
        "dependencies": [_parent(parent) for parent in found.parents],
        "incident": _incident(monitor),
        "lastResults": [_result(result, found) for result in found.results],
        "told": [_told(list(same)) for _, same in groupby(found.told, key=lambda one: one.event_id)],
        "notTold": not_told(facts, now, heard=found.heard, routed=monitor.routed),
    }


def _location(at: At, monitor: Explained, now: datetime) -> dict[str, Any]:
    """*probe* is null where none checks it; *failingSince* unless it is failing."""
    place, state = at.place, at.place.state
    seen = views.certificate(at.checkpoint, now)
    return {
        "location": place.vote.location,
        "probe": _probe(at, now),
        "vote": core.standing(place.vote, now),
        "counts": monitor.facts.paused_at is None and place.vote.counts(now),
        "consecutiveFailures": state.fails,
        "failureThreshold": monitor.failure_threshold,
        "consecutiveGood": state.goods,
        "recoveryThreshold": monitor.recovery_threshold,
        "failingSince": state.failed_since if state.failing else None,
        "lastCheckedAt": place.last_at,
        "lastError": place.last_error or None,
        **({} if seen is None else {"certificate": seen}),
    }


def _probe(at: At, now: datetime) -> dict[str, Any] | None:
    if at.probe is None:
        return None
    heard = at.seen_at is not None and abs(now - at.seen_at) < LIVE
    return {
        "name": at.probe,
        "connected": at.session and heard,
        "lastSeenAt": at.seen_at,
        "blindSince": at.blind_since,
    }


def _quorum(setting: str) -> str | int:
    return int(setting) if setting.isdecimal() else setting


def _hold(hold: Hold) -> dict[str, Any]:
    return {
        "hold": hold.name,
        "since": hold.since,
        "until": hold.until,
        "reason": hold.reason,
        "holds": hold.what,
    }


def _parent(parent: Parent) -> dict[str, Any]:
    shown = status(paused_at=parent.paused_at, down=parent.down, last_at=parent.last_at)
    return {"id": ids.show("mon", parent.id), "name": parent.name, "status": shown}


def _incident(monitor: Explained) -> dict[str, Any] | None:
    """The newest that was raised by itself."""
    if monitor.incident_id is None:
        return None
    parent = monitor.parent_incident_id
    return {
        "id": ids.show("inc", monitor.incident_id),
        "status": monitor.incident_status,
        "parentIncidentId": None if parent is None else ids.show("inc", parent),
    }


def _result(result: Result, found: Explanation) -> dict[str, Any]:
    """As in the list of results, and what it did; null where that cannot be known."""
    did, failures = core.did(Status(result.status), result.ts, found.trace(result.name))
    shown = views.result(result)
    del shown["phases"]
    shown["run"] = Run(result.run).name.lower()
    return {**shown, "did": did, "consecutiveFailures": failures}


def _told(same: list[Told]) -> dict[str, Any]:
    """One event, with its deliveries."""
    first = same[0]
    return {
        "event": first.kind,
        "eventId": ids.show("evt", first.event_id),
        "at": first.at,
        "deliveries": [
            {
                "channelId": ids.show("chan", one.channel_id),
                "name": one.channel,
                "status": Delivered(one.status).name.lower(),
                "attempts": one.attempts,
                "lastError": one.error,
                "nextAttemptAt": one.due_at,
            }
            for one in same
            if one.channel_id is not None and one.status is not None
        ],
    }
