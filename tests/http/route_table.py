"""The route table for tests that walk it: one thing of each resource, and a body that each change accepts."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from collector.platform.access import Permission
from collector.probes.service import authority, enrolment, join_tokens
from collector.routes import ROUTES
from shared import ids, pki
from shared import join_tokens as shared_tokens
from shared.ids import uuid7
from tests.http.client import Api
from tests.http.rows import insert
from tests.reports.history import work

Route = tuple[str, str]

# There what names a thing is what permits it, too.
_BY_KEY = ("/v1/ping/", "/v1/ingest/")
UNDER_V1 = [
    (method, path, needs)
    for method, path, _, needs in ROUTES
    if path.startswith("/v1/") and not path.startswith(_BY_KEY)
]
CHANGES: list[Route] = [(method, path) for method, path, _ in UNDER_V1 if method != "GET"]
READS: list[Route] = [(method, path) for method, path, _ in UNDER_V1 if method == "GET"]
WITH_ID: list[Route] = [(method, path) for method, path, _ in UNDER_V1 if "{" in path]
FOR_ADMINS: list[Route] = [(method, path) for method, path, needs in UNDER_V1 if needs is Permission.ADMIN]

# Nothing listens there; a URL of a channel is never reached in these tests.
_NOWHERE = "http://127.0.0.1:9/"


async def joined(api: Api) -> UUID:
    """A probe of the team's own."""
    async with api.context.db.transaction() as tx:
        trust = await authority.trust(api.context.db, api.context.keyring, api.clock())
        _, text = await join_tokens.issue(tx, trust, team_id=api.team_id, locations=["eu"], now=api.clock())
    issued = await enrolment.enrol(
        api.context.db,
        trust,
        secret=shared_tokens.read(text).secret,
        csr=pki.request(pki.new_key()),
        name="probe-1",
        locations=[],
        now=api.clock(),
    )
    return issued.probe_id


async def posted(api: Api, path: str, body: dict[str, Any]) -> str:
    """The id of what was made."""
    answer = await api.post(path, body)
    assert answer.status == 201, (path, answer.body)
    return str(answer.json["id"])


async def _monitor(api: Api) -> str:
    return await posted(api, "/v1/monitors", BODIES["POST", "/v1/monitors"])


async def _heartbeat(api: Api) -> str:
    body = {"name": "backup", "type": "heartbeat", "config": {"expectedInterval": 3600}}
    return await posted(api, "/v1/monitors", body)


async def _metrics(api: Api) -> str:
    return await posted(api, "/v1/monitors", {"name": "node", "type": "prometheus"})


async def _incident(api: Api) -> str:
    return await posted(api, "/v1/incidents", {"title": "It smells of smoke"})


async def _channel(api: Api) -> str:
    return await posted(api, "/v1/alert-channels", BODIES["POST", "/v1/alert-channels"])


async def _probe(api: Api) -> str:
    return ids.show("prb", await joined(api))


async def _probe_token(api: Api) -> str:
    return await posted(api, "/v1/probe-tokens", {"location": "eu"})


async def _user(api: Api) -> str:
    email = f"{uuid7().hex}@example.com"
    return await posted(api, "/v1/users", {"email": email, "name": "Somebody", "role": "editor"})


async def _token(api: Api) -> str:
    return await posted(api, "/v1/tokens", {"name": "robot", "permission": "read-only"})


async def _rule(api: Api) -> str:
    return await posted(api, "/v1/alert-rules", BODIES["POST", "/v1/alert-rules"])


async def _window(api: Api) -> str:
    return await posted(api, "/v1/maintenance-windows", BODIES["POST", "/v1/maintenance-windows"])


async def _slo(api: Api) -> str:
    return await posted(api, "/v1/slos", BODIES["POST", "/v1/slos"])


async def _page(api: Api) -> str:
    return await posted(api, "/v1/status-pages", BODIES["POST", "/v1/status-pages"])


async def _template(api: Api) -> str:
    named = {"name": f"Slow {uuid7().hex[-8:]}"}
    return await posted(api, "/v1/incident-templates", {**BODIES["POST", "/v1/incident-templates"], **named})


async def _report(api: Api) -> str:
    return await posted(api, "/v1/reports", BODIES["POST", "/v1/reports"])


async def _delivery(api: Api) -> str:
    """One that failed for good."""
    channel, id_ = await _channel(api), uuid7()
    row = {
        "team_id": api.team_id,
        "id": id_,
        "channel_id": ids.read("chan", channel),
        "stream_id": uuid7(),
        "sequence": 1,
        "event_id": uuid7(),
        "event_kind": "monitor.down",
        "status": 2,
        "due_at": api.clock(),
        "created_at": api.clock(),
        "finished_at": api.clock(),
    }
    await insert(api.context.db, "deliveries", row)
    return ids.show("dlv", id_)


async def _alert(api: Api) -> str:
    """One that fires, and has no incident."""
    id_ = uuid7()
    row = {
        "team_id": api.team_id,
        "id": id_,
        "rule_id": uuid7(),
        "rule_name": "Slow",
        "monitor_id": uuid7(),
        "monitor_name": "shop",
        "status": "firing",
        "reason": "latencyThresholdMs",
        "value": 900.0,
        "threshold": 800.0,
        "fired_at": api.clock(),
    }
    await insert(api.context.db, "alerts", row)
    return ids.show("alert", id_)


# How to make one of each resource, by the path of its collection; and the prefix of its id.
MAKERS: dict[str, tuple[str, Callable[[Api], Awaitable[str]]]] = {
    "/v1/monitors": ("mon", _monitor),
    "/v1/incidents": ("inc", _incident),
    "/v1/alert-channels": ("chan", _channel),
    "/v1/alert-rules": ("rule", _rule),
    "/v1/alerts": ("alert", _alert),
    "/v1/deliveries": ("dlv", _delivery),
    "/v1/maintenance-windows": ("mw", _window),
    "/v1/slos": ("slo", _slo),
    "/v1/status-pages": ("sp", _page),
    "/v1/incident-templates": ("tpl", _template),
    "/v1/reports": ("rep", _report),
    "/v1/probes": ("prb", _probe),
    "/v1/probe-tokens": ("tok", _probe_token),
    "/v1/users": ("usr", _user),
    "/v1/tokens": ("tok", _token),
}

# Deeds that only one kind of such a thing is capable of.
OWN_MAKERS: dict[str, Callable[[Api], Awaitable[str]]] = {
    "/v1/monitors/{id}/ping": _heartbeat,
    "/v1/monitors/{id}/rotate-key": _heartbeat,
    "/v1/monitors/{id}/series": _metrics,
}

# What stands on another thing: its collection there, and the prefix of its id, by its name in paths.
PARTS: dict[str, tuple[str, str]] = {
    "{componentId}": ("components", "comp"),
    "{incidentId}": ("incidents", "spi"),
    "{subscriberId}": ("subscribers", "sub"),
    "{editionId}": ("editions", "edn"),
}

BODIES: dict[Route, dict[str, Any]] = {
    ("POST", "/v1/monitors"): {
        "name": "shop",
        "type": "tcp",
        "config": {"host": "db.example.com", "port": 1},
    },
    ("POST", "/v1/monitors/test"): {"type": "tcp", "config": {"host": "db.example.com", "port": 1}},
    ("POST", "/v1/monitors/bulk"): {"action": "pause", "filter": {"all": True}},
    ("PUT", "/v1/monitors/{id}"): {"name": "other", "config": {"port": 2}},
    ("POST", "/v1/monitors/{id}/silence"): {"duration": 60},
    ("POST", "/v1/incidents"): {"title": "It smells of smoke"},
    ("PUT", "/v1/incidents/{id}"): {"severity": "low"},
    ("POST", "/v1/incidents/{id}/snooze"): {"duration": 3600},
    ("POST", "/v1/incidents/{id}/notes"): {"text": "Looked, saw none"},
    ("POST", "/v1/alert-channels"): {"name": "Ops", "type": "webhook", "config": {"url": _NOWHERE}},
    ("PUT", "/v1/alert-channels/{id}"): {"name": "other", "config": {"timeout": 7}},
    ("POST", "/v1/alert-rules"): {"name": "Shop", "conditions": {"consecutiveFailures": 3}},
    ("POST", "/v1/alert-rules/preview"): {"conditions": {"consecutiveFailures": 3}},
    ("PUT", "/v1/alert-rules/{id}"): {"name": "other", "repeatMinutes": 5},
    ("POST", "/v1/maintenance-windows"): {
        "name": "Every night",
        "all": True,
        "start": "2026-01-01T00:00:00Z",
        "duration": 86_400,
        "rrule": "FREQ=DAILY",
    },
    ("PUT", "/v1/maintenance-windows/{id}"): {"name": "other"},
    ("POST", "/v1/slos"): {"name": "Checkout", "target": 99.9, "tags": {"service": "checkout"}},
    ("PUT", "/v1/slos/{id}"): {"target": 99.5},
    ("POST", "/v1/incident-templates"): {
        "name": "Slow",
        "title": "{component} is slow",
        "status": "investigating",
        "message": "Sorry.",
    },
    ("PUT", "/v1/incident-templates/{id}"): {"status": "identified"},
    ("POST", "/v1/status-pages"): {"name": "Example"},
    ("PUT", "/v1/status-pages/{id}"): {"branding": {"primaryColor": "#1a7f5a"}},
    ("PUT", "/v1/status-pages/{id}/access"): {"networks": ["192.0.2.0/24"]},
    ("POST", "/v1/status-pages/{id}/components"): {"name": "API", "status": "operational"},
    ("PUT", "/v1/status-pages/{id}/components"): {"components": []},
    ("PUT", "/v1/status-pages/{pageId}/components/{componentId}"): {"status": "major_outage"},
    ("POST", "/v1/status-pages/{id}/incidents"): {
        "title": "Checkout is slow",
        "status": "investigating",
        "message": "We look into it",
    },
    ("PUT", "/v1/status-pages/{pageId}/incidents/{incidentId}"): {
        "status": "resolved",
        "message": "All is well again",
    },
    ("POST", "/v1/status-pages/{id}/subscribers"): {"email": "name@example.com"},
    ("PUT", "/v1/status-pages/{pageId}/subscribers/{subscriberId}"): {"preferences": {"incidents": False}},
    ("POST", "/v1/reports"): {"name": "Monthly", "target": 99.9},
    ("PUT", "/v1/reports/{id}"): {"name": "other"},
    ("POST", "/v1/reports/{id}/editions"): {"day": "2026-01-01"},
    ("POST", "/v1/apply"): {
        "monitors": [{"name": "shop", "type": "tcp", "config": {"host": "db.example.com", "port": 1}}]
    },
    ("PUT", "/v1/probes/{id}"): {"name": "Frankfurt"},
    ("POST", "/v1/probe-tokens"): {"location": "eu"},
    ("PUT", "/v1/team"): {"name": "Another name"},
    ("POST", "/v1/users"): {"email": "new@example.com", "name": "New", "role": "viewer"},
    ("PUT", "/v1/users/{id}"): {"role": "viewer"},
    ("POST", "/v1/tokens"): {"name": "robot", "permission": "read-write", "expiresIn": "30d"},
}

# They wait for a probe, and say so if there is none.
NEED_A_PROBE = frozenset({"/v1/monitors/test", "/v1/monitors/{id}/check"})

# What must have happened before the change can do anything.
FIRST: dict[Route, list[Route]] = {
    ("POST", "/v1/monitors/bulk"): [("POST", "/v1/monitors")],
    ("POST", "/v1/monitors/{id}/resume"): [("POST", "/v1/monitors/{id}/pause")],
    ("DELETE", "/v1/monitors/{id}/silence"): [("POST", "/v1/monitors/{id}/silence")],
    ("POST", "/v1/incidents/{id}/reopen"): [("POST", "/v1/incidents/{id}/resolve")],
    ("DELETE", "/v1/incidents/{id}/acknowledge"): [("POST", "/v1/incidents/{id}/acknowledge")],
    ("DELETE", "/v1/incidents/{id}/snooze"): [("POST", "/v1/incidents/{id}/snooze")],
    ("DELETE", "/v1/probes/{id}/drain"): [("POST", "/v1/probes/{id}/drain")],
}


def collection(path: str) -> str:
    """``/v1/monitors/{id}/pause`` -> ``/v1/monitors``."""
    return path.partition("/{")[0]


async def made(api: Api, path: str) -> str:
    """*path* with the id of a new thing of the team in it."""
    if "{" not in path:
        return path
    _, make = MAKERS[collection(path)]
    id_ = await OWN_MAKERS.get(path, make)(api)
    for name, (part, _) in PARTS.items():
        if name in path:
            where = f"{collection(path)}/{{id}}/{part}"
            body = BODIES["POST", where]
            path = path.replace(name, await posted(api, where.replace("{id}", id_), body))
    if "/editions/" in path:
        await work(api)
    return path.replace("{id}", id_).replace("{pageId}", id_).replace("{reportId}", id_)


def unknown(path: str) -> str:
    """*path* with the id of nothing in it."""
    if "{" not in path:
        return path
    prefix, _ = MAKERS[collection(path)]
    for name, (_, of_part) in PARTS.items():
        path = path.replace(name, ids.show(of_part, uuid7()))
    id_ = ids.show(prefix, uuid7())
    return path.replace("{id}", id_).replace("{pageId}", id_).replace("{reportId}", id_)


async def prepared(api: Api, method: str, path: str) -> str:
    """*path* of a thing on which *method* will do something."""
    whole = await made(api, path)
    id_ = whole.split("/")[3] if "{" in path else ""
    for before, where in FIRST.get((method, path), []):
        answer = await api.call(before, where.replace("{id}", id_), BODIES.get((before, where)))
        assert answer.status < 300, (before, where, answer.body)
    return whole
