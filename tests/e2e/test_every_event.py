"""Each kind of event of which this version has the cause reaches a webhook that asks for all of them."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from collector.events.core.kinds import DELIVERED
from shared.clock import iso, utc_now
from tests.e2e.product import Caller, eventually, running
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

# Told elsewhere: after two minutes (`test_table_of_holds`, `test_fleet`), when some locations fail and
# others do not (`tests/evaluation/ingest/test_held.py`), by tests of web3 monitors, certificates and
# status pages.
ELSEWHERE: Final = {
    "probe.offline",
    "probe.online",
    "monitor.degraded",
    "monitor.unmeasured",
    "monitor.measured",
    "web3.gas.alert",
    "web3.alert",
    "web3.event",
    "certificate.expiring",
    "status_page.incident.published",
    "status_page.incident.updated",
}
COMMON: Final = {"event", "id", "sequence", "timestamp", "links"}
# What each has beside those, to the letter.
PARTS: Final = {
    "monitor.down": {"monitor", "incident"},
    "monitor.up": {"monitor", "incident"},
    "monitor.flapping": {"monitor", "flapping", "locationStates"},
    "incident.created": {"monitor", "incident", "actor"},
    "incident.acknowledged": {"monitor", "incident", "actor"},
    "incident.resolved": {"monitor", "incident", "actor"},
    "incident.reopened": {"monitor", "incident", "actor"},
    "incident.note_added": {"monitor", "incident", "actor", "note"},
    "alert.fired": {"monitor", "alert", "incident", "locationStates"},
    "alert.recovered": {"monitor", "alert", "incident", "locationStates"},
    "alert.escalated": {"monitor", "alert", "incident", "locationStates"},
    "maintenance.started": {"maintenanceWindow"},
    "maintenance.ended": {"maintenanceWindow"},
    "test": {"channel", "message"},
}
LOCATION: Final = {
    "location",
    "status",
    "failing",
    "consecutiveFailures",
    "failingSince",
    "lastCheckedAt",
    "error",
}


async def test_each_kind_of_event_is_sent(tmp_path: Path) -> None:
    async with receiving() as target, receiving() as hook, running(tmp_path) as (_, caller):
        config = {"url": hook.url(), "events": ["*"]}
        asked = {"name": "all", "type": "webhook", "config": config}
        channel = (await caller.made("/v1/alert-channels", asked))["id"]
        await caller.made(f"/v1/alert-channels/{channel}/test", {})
        await asyncio.gather(_outage(caller, target, hook, channel), _by_hand(caller), _window(caller))
        await _hears(hook, DELIVERED - ELSEWHERE - {"monitor.flapping"})
        await _flap(caller, target, hook)
        await _hears(hook, DELIVERED - ELSEWHERE)

    told = [received.json for received in hook.received]
    assert set(PARTS) == DELIVERED - ELSEWHERE
    for payload in told:
        kind = payload["event"]
        assert set(payload) == COMMON | PARTS[kind], kind
        for state in payload.get("locationStates", ()):
            assert set(state) == LOCATION, kind
    assert len({payload["id"] for payload in told}) == len(told), "none was told twice"


async def _outage(caller: Caller, target: Receiver, hook: Receiver, channel: str) -> None:
    body = {"name": "shop", "type": "http", "interval": 1, "failureThreshold": 1}
    await caller.made("/v1/monitors", {**body, "config": {"url": target.url("/")}})
    policy = {"delayMinutes": 1, "escalateToChannels": [channel], "maxEscalations": 1}
    slow = {"latencyThresholdMs": 1, "consecutiveFailures": 1, "locations": "any"}
    rule = {"name": "slow", "channels": [channel], "conditions": slow, "escalationPolicy": policy}
    await target.wait_for(1)
    await caller.made("/v1/alert-rules", rule)
    target.always = answer(503)
    await _hears(hook, {"monitor.down", "alert.fired"})
    # A minute is the shortest delay of an escalation.
    await eventually(lambda: _heard(hook, {"alert.escalated"}), timeout_s=90)
    target.always = answer(200)
    await _hears(hook, {"monitor.up", "alert.recovered"})


async def _by_hand(caller: Caller) -> None:
    made = await caller.made("/v1/incidents", {"title": "Slow checkout"})
    path = f"/v1/incidents/{made['id']}"
    for deed in ("acknowledge", "resolve", "reopen"):
        await caller.made(f"{path}/{deed}", {})
    await caller.made(f"{path}/notes", {"text": "Rolled back"})


async def _window(caller: Caller) -> None:
    asked = {
        "name": "upgrade",
        "tags": ["nobody"],
        "start": iso(utc_now() + timedelta(seconds=1)),
        "duration": 3,
    }
    await caller.made("/v1/maintenance-windows", asked)


async def _flap(caller: Caller, target: Receiver, hook: Receiver) -> None:
    for status in (503, 200) * 4:
        target.always = answer(status)
        wanted = "down" if status == 503 else "up"
        await eventually(lambda wanted=wanted: _stands(caller, wanted))
        if await _heard(hook, {"monitor.flapping"}):
            return


async def _stands(caller: Caller, wanted: str) -> bool:
    [monitor] = (await caller.got("/v1/monitors"))["data"]
    status: Any = monitor["status"]
    return bool(status == wanted)


async def _heard(hook: Receiver, kinds: Iterable[str]) -> bool:
    return set(kinds) <= {received.headers["x-service-event"] for received in hook.received}


async def _hears(hook: Receiver, kinds: Iterable[str]) -> None:
    try:
        await eventually(lambda: _heard(hook, kinds))
    except TimeoutError:
        heard = {received.headers["x-service-event"] for received in hook.received}
        raise AssertionError(f"not heard of: {set(kinds) - heard}") from None
