"""Every bad field at once: what is malformed, what is missing, and ids of things that are not there."""

from collections.abc import Mapping
from typing import Any

import pytest
import pytest_asyncio

from shared import ids
from shared.ids import uuid7
from tests.http.client import Api
from tests.monitors.monitors import make

pytestmark = pytest.mark.shares_server

MONITOR, CHANNEL, COMPONENT, USER = (ids.show(kind, uuid7()) for kind in ("mon", "chan", "comp", "usr"))
WEBHOOK = {"url": "http://127.0.0.1:9/", "monitors": [MONITOR]}
GAS = {"name": "", "type": "gas_price", "config": {"chain": "ethereum", "thresholds": {"high": 1, "low": 2}}}
SIDE = {"chain": "ethereum", "contract": "nothing"}
POLICY = {"delayMinutes": 0, "escalateToChannels": [CHANNEL]}

# What is sent to make something, and the keys of all that is wrong with it.
CREATED: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "/v1/monitors",
        {"type": "tcp", "config": {"host": "a"}, "dependsOn": [MONITOR]},
        {"name", "port", "dependsOn[0]"},
    ),
    ("/v1/monitors", GAS, {"name", "thresholds"}),
    ("/v1/monitors", {"type": "gas_price", "config": {}}, {"name", "chain", "thresholds"}),
    (
        "/v1/monitors",
        {
            "type": "bridge",
            "name": "b",
            "config": {"source": SIDE, "destination": SIDE, "maxImbalancePercent": -1},
        },
        {
            "source.contract",
            "source.token",
            "source.rpcUrl",
            "destination.contract",
            "destination.token",
            "destination.rpcUrl",
            "maxImbalancePercent",
        },
    ),
    (
        "/v1/monitors",
        {"type": "heartbeat", "config": {"cron": "never", "gracePeriod": -1}},
        {"name", "cron", "gracePeriod"},
    ),
    (
        "/v1/alert-rules",
        {"channels": [CHANNEL, "x"], "monitors": [MONITOR], "escalationPolicy": POLICY},
        {
            "name",
            "channels[0]",
            "channels[1]",
            "monitors[0]",
            "escalationPolicy.delayMinutes",
            "escalationPolicy.escalateToChannels[0]",
        },
    ),
    ("/v1/alert-channels", {"type": "webhook", "config": WEBHOOK}, {"name", "monitors[0]"}),
    (
        "/v1/maintenance-windows",
        {
            "monitors": [MONITOR],
            "start": "2026-12-01T02:00:00",
            "end": "2026-12-01T01:00:00",
            "exdates": ["x"],
        },
        {"name", "monitors[0]", "end", "exdates[0]"},
    ),
    ("/v1/incidents", {"severity": "loud", "monitorId": MONITOR}, {"title", "severity", "monitorId"}),
    (
        "/v1/status-pages",
        {
            "name": "",
            "domain": "no domain",
            "components": [{"name": "a", "monitorId": MONITOR}, {"monitorId": MONITOR}, 3],
        },
        {
            "name",
            "domain",
            "components[0].monitorId",
            "components[1].monitorId",
            "components[1].name",
            "components[2]",
        },
    ),
    (
        "/v1/status-pages/{page}/components",
        {"monitorId": MONITOR, "order": -1},
        {"name", "order", "monitorId"},
    ),
    (
        "/v1/status-pages/{page}/incidents",
        {
            "affectedComponents": [COMPONENT, "x"],
            "severity": "maintenance",
            "scheduledStart": "2026-12-01T02:00:00Z",
            "scheduledEnd": "2026-12-01T02:00:00Z",
        },
        {"title", "message", "affectedComponents[0]", "affectedComponents[1]", "scheduledEnd"},
    ),
    (
        "/v1/status-pages/{page}/subscribers",
        {"email": "x", "components": [COMPONENT]},
        {"email", "components[0]"},
    ),
    ("/v1/tokens", {"permission": "admin", "userId": USER}, {"name", "userId"}),
    ("/v1/tokens", {"permission": "admin", "userId": "{viewer}"}, {"name", "permission"}),
]
# The same of what is there.
CHANGED: list[tuple[str, dict[str, Any], set[str]]] = [
    ("/v1/monitors/{monitor}", {"name": "", "dependsOn": [MONITOR]}, {"name", "dependsOn[0]"}),
    ("/v1/alert-rules/{rule}", {"name": "", "channels": [CHANNEL]}, {"name", "channels[0]"}),
    ("/v1/alert-channels/{channel}", {"name": "", "config": WEBHOOK}, {"name", "monitors[0]"}),
    ("/v1/maintenance-windows/{window}", {"name": "", "monitors": [MONITOR]}, {"name", "monitors[0]"}),
    ("/v1/status-pages/{page}", {"name": "", "domain": "no domain"}, {"name", "domain"}),
    (
        "/v1/status-pages/{page}/components/{component}",
        {"name": "", "monitorId": MONITOR},
        {"name", "monitorId"},
    ),
    (
        "/v1/status-pages/{page}/components",
        {"components": ["x", COMPONENT]},
        {"components[0]", "components[1]"},
    ),
]


@pytest_asyncio.fixture(loop_scope="module")
async def there(api: Api) -> Mapping[str, str]:
    """What is there already, by the names that the tables have for it."""
    window = {"name": "w", "all": True, "start": "2026-12-01T02:00:00", "duration": 60}
    page = await made(api, "/v1/status-pages", {"name": "p"})
    return {
        "monitor": await make(api),
        "rule": await made(api, "/v1/alert-rules", {"name": "r"}),
        "channel": await made(
            api, "/v1/alert-channels", {"name": "c", "type": "webhook", "config": {"url": "http://a/"}}
        ),
        "window": await made(api, "/v1/maintenance-windows", window),
        "page": page,
        "component": await made(api, f"/v1/status-pages/{page}/components", {"name": "c"}),
        "viewer": await made(api, "/v1/users", {"email": "v@example.com", "role": "viewer"}),
    }


async def made(api: Api, path: str, body: Mapping[str, Any]) -> str:
    answer = await api.post(path, body)
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


@pytest.mark.parametrize(
    ("method", "path", "body", "keys"),
    [("POST", *row) for row in CREATED] + [("PUT", *row) for row in CHANGED],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_strangers_are_told_beside_all_that_is_malformed(
    api: Api, there: Mapping[str, str], method: str, path: str, body: dict[str, Any], keys: set[str]
) -> None:
    sent = {name: value.format(**there) if isinstance(value, str) else value for name, value in body.items()}

    answer = await api.call(method, path.format(**there), sent)

    assert answer.status == 400, answer.body
    assert set(answer.json["details"]) == keys
