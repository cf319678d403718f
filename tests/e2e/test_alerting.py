"""Rules from outside: a target breaks, the chat hears of it, somebody takes it on, all hear of its end."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, eventually, running
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_a_rule_tells_a_chat_of_trouble_and_of_its_end(tmp_path: Path) -> None:
    async with (
        receiving(always=answer(200)) as target,
        receiving(always=answer(200)) as chat,
        receiving(always=answer(200)) as hook,
        running(tmp_path) as (_, caller),
    ):
        slack = await caller.made("/v1/alert-channels", _channel("slack", webhookUrl=chat.url()))
        webhook = await caller.made("/v1/alert-channels", _channel("webhook", url=hook.url()))
        both = [slack["id"], webhook["id"]]
        rule = await caller.made("/v1/alert-rules", {"name": "Down", "channels": both})
        slow = {"latencyThresholdMs": 1, "consecutiveFailures": 2, "locations": "any"}
        await caller.made("/v1/alert-rules", {"name": "Slow", "channels": both, "conditions": slow})
        monitor = await caller.made("/v1/monitors", _monitor(target))

        target.always = answer(503)
        alert = await eventually(lambda: _alert(caller, rule["id"], "firing"))
        assert (alert["reason"], alert["monitorId"]) == ("down", monitor["id"])
        assert await eventually(lambda: _said(chat, "Down: shop"))

        status, refused = await caller.call("POST", f"/v1/alerts/{alert['id']}/acknowledge")
        assert (status, alert["incidentId"] in refused["message"]) == (409, True)
        await caller.made(f"/v1/incidents/{alert['incidentId']}/acknowledge", {})
        await eventually(lambda: _alert(caller, rule["id"], "acknowledged"))

        target.always = answer(200)
        await eventually(lambda: _alert(caller, rule["id"], "recovered"))
        assert await eventually(lambda: _said(chat, "Recovered: shop"))
        assert await eventually(lambda: _said(hook, "monitor.up"))
        kinds = [received.headers["x-service-event"] for received in hook.received]
        assert (kinds.count("monitor.down"), kinds.count("monitor.up")) == (1, 1)
        assert kinds.count("alert.fired") == 1  # by the rule that has another reason
        log = (await caller.got(f"/v1/incidents/{alert['incidentId']}/timeline"))["events"]
        assert "Down: slack" in [item["details"] for item in log if item["type"] == "notified"]
        preview = await caller.made("/v1/alert-rules/preview", {})
        assert [one["monitorId"] for one in preview["alerts"]] == [monitor["id"]]


def _channel(type_: str, **config: Any) -> dict[str, Any]:
    return {"name": type_, "type": type_, "config": config}


def _monitor(target: Receiver) -> dict[str, Any]:
    return {"name": "shop", "type": "http", "interval": 1, "config": {"url": target.url("/")}}


async def _alert(caller: Caller, rule: str, status: str) -> dict[str, Any] | None:
    found = (await caller.got(f"/v1/alerts?rule_id={rule}&status={status}"))["data"]
    return found[0] if found else None


async def _said(chat: Receiver, text: str) -> bool:
    return any(text in received.body.decode() for received in chat.received)
