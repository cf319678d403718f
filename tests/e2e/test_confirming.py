"""Confirming an outage in the running product: at several locations, over a restart, and with a parent."""

from datetime import datetime
from pathlib import Path
from typing import Any

from tests.e2e.product import Caller, eventually, running
from tests.receiver import Receiver, answer, receiving

PLACES = ["eu", "us", "asia"]


async def make(caller: Caller, target: Receiver, name: str, **fields: Any) -> str:
    """A monitor that was found well everywhere."""
    body = {"name": name, "type": "http", "timeout": 5, "config": {"url": target.url("/")}, **fields}
    id_ = (await caller.made("/v1/monitors", body))["id"]

    async def well() -> bool:
        states = (await caller.got(f"/v1/monitors/{id_}"))["locationStates"]
        return bool(states) and all(state["lastCheckedAt"] for state in states)

    await eventually(well)
    return str(id_)


async def listen(caller: Caller, hook: Receiver) -> None:
    config = {"url": hook.url(), "events": ["monitor.*", "incident.*"]}
    await caller.made("/v1/alert-channels", {"name": "all", "type": "webhook", "config": config})


def told(hook: Receiver, monitor: str) -> list[str]:
    return [received.json["event"] for received in hook.received if received.json["monitor"]["id"] == monitor]


async def incident(caller: Caller, monitor: str) -> Any:
    found = (await caller.got(f"/v1/incidents?monitor_id={monitor}"))["data"]
    assert len(found) <= 1
    return found[0] if found else None


def seconds(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


async def test_a_refusal_seen_at_one_location_is_confirmed_by_the_others_at_once(tmp_path: Path) -> None:
    async with receiving() as target, receiving() as hook, running(tmp_path) as (_, caller):
        target.always = hook.always = answer(200)
        await listen(caller, hook)
        monitor = await make(caller, target, "shop", interval=15, locations=PLACES)
        target.always = answer(503)
        await eventually(lambda: incident(caller, monitor), timeout_s=40)
        await hook.wait_for(2)
        [down] = [received.json for received in hook.received if received.json["event"] == "monitor.down"]
        found = await incident(caller, monitor)
        # Each is checked once in 15 s: without being asked, two of three would need 5 s more at the least.
        assert seconds(found["startedAt"], down["timestamp"]) < 8
        results = (await caller.got(f"/v1/monitors/{monitor}/results?status=down"))["data"]
        assert found["startedAt"] == results[-1]["timestamp"]
        runs = {
            result["run"] for result in (await caller.got(f"/v1/monitors/{monitor}/explain"))["lastResults"]
        }
        assert "second_opinion" in runs


async def test_a_collector_killed_within_a_confirmation_opens_one_incident_and_tells_it_once(
    tmp_path: Path,
) -> None:
    async with receiving() as target, receiving() as hook, running(tmp_path) as (product, caller):
        target.always = hook.always = answer(200)
        await listen(caller, hook)
        monitor = await make(caller, target, "shop", interval=4, locations=PLACES)

        async def doubted() -> bool:
            states = (await caller.got(f"/v1/monitors/{monitor}"))["locationStates"]
            return any(state["consecutiveFailures"] for state in states)

        target.always = answer(503)
        await eventually(doubted)
        product.kill("collector")
        await product.ready()
        found = await eventually(lambda: incident(caller, monitor), timeout_s=60)
        await hook.wait_for(2)
        first = (await caller.got(f"/v1/monitors/{monitor}/results?status=down"))["data"][-1]
        assert found["startedAt"] == first["timestamp"]
        target.always = answer(200)
        await hook.wait_for(4, timeout_s=30)
        kinds = ["monitor.down", "incident.created", "monitor.up", "incident.resolved"]
        assert told(hook, monitor) == kinds


async def test_what_falls_with_its_parent_is_linked_and_told_to_nobody(tmp_path: Path) -> None:
    async with receiving() as target, receiving() as hook, running(tmp_path) as (_, caller):
        target.always = hook.always = answer(200)
        await listen(caller, hook)
        parent = await make(caller, target, "gateway", interval=60)
        child = await make(caller, target, "shop", interval=2, dependsOn=[parent])
        target.always = answer(503)

        async def linked() -> Any:
            found = await incident(caller, child)
            return found and found["parentIncidentId"]

        above = await eventually(linked, timeout_s=40)
        assert (await incident(caller, parent) or {})["id"] == above
        target.always = answer(200)

        async def over() -> bool:
            return "incident.resolved" in told(hook, parent) and "incident.resolved" in told(hook, child)

        # The parent is checked once a minute: it is the child's recovery that nobody waits for.
        await eventually(over, timeout_s=90)
        assert told(hook, child) == ["incident.created", "incident.resolved"]
