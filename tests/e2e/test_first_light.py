"""The main job from outside: a target breaks, an incident opens, a signed webhook arrives, it recovers."""

import base64
import hashlib
import hmac
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Received, Receiver, answer, raw, receiving, reset, stall

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes exactly").decode()


async def test_a_target_breaks_and_recovers(tmp_path: Path) -> None:
    async with (
        receiving() as target,
        receiving(reset, answer(500), answer(200)) as hook,
        running(tmp_path, planted=False) as (_, caller),
    ):
        channel = await caller.made("/v1/alert-channels", _channel(hook))
        monitor = await caller.made("/v1/monitors", _monitor(target))
        assert monitor["status"] == "up"
        await eventually(lambda: _results(caller, monitor["id"], "up"))

        target.always = answer(503)
        incident = await eventually(lambda: _incident(caller, status="open"))
        failed = (await caller.got(f"/v1/monitors/{monitor['id']}/results?status=down"))["data"]
        assert incident["startedAt"] == failed[-1]["timestamp"]
        assert incident["title"] == "shop is down"
        assert incident["lastError"] == "status 503, expected 200-299"
        assert (await caller.got(f"/v1/monitors/{monitor['id']}"))["status"] == "down"

        tries = await hook.wait_for(3, timeout_s=20)
        assert len({(received.body, received.headers["webhook-id"]) for received in tries}) == 1
        _check(tries[-1], "monitor.down", monitor, incident)

        target.always = answer(200)
        resolved = await eventually(lambda: _incident(caller, status="resolved"))
        assert resolved["id"] == incident["id"]
        assert resolved["resolvedBy"] == {"id": None, "name": "System"}
        up = (await hook.wait_for(4))[-1]
        _check(up, "monitor.up", monitor, incident)
        timeline = (await caller.got(f"/v1/incidents/{incident['id']}/timeline"))["events"]
        assert [event["type"] for event in timeline] == [
            "created",
            "location_failing",
            "location_recovered",
            "resolved",
        ]
        # An outcome is recorded after its answer came.
        await eventually(lambda: _delivered(caller, channel["id"], 2))


@pytest.mark.parametrize(
    ("breaks", "error"),
    [
        (reset, "reset"),
        (stall, "first byte: no answer within 1"),
        (answer(500), "status 500, expected 200-299"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), "5 of 100"),
        (raw(b"\x00\x01\x02 garbage\r\n\r\n"), "not an HTTP response"),
    ],
)
async def test_every_way_to_break_is_an_incident_with_its_reason(
    tmp_path: Path, breaks: Any, error: str
) -> None:
    async with receiving(always=breaks) as target, running(tmp_path, planted=False) as (_, caller):
        await caller.made("/v1/monitors", _monitor(target))
        incident = await eventually(lambda: _incident(caller, status="open"))
        assert error in incident["lastError"]


async def test_pause_holds_the_checks_and_resume_goes_on_at_once(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path, planted=False) as (_, caller):
        monitor = await caller.made("/v1/monitors", _monitor(target) | {"interval": 3600})
        await target.wait_for(1)
        paused = await caller.made(f"/v1/monitors/{monitor['id']}/pause", None)
        assert paused["status"] == "paused"
        resumed = await caller.made(f"/v1/monitors/{monitor['id']}/resume", None)
        assert resumed["status"] == "up"
        await target.wait_for(2)


async def test_a_test_run_is_answered_by_the_probe(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path, planted=False) as (_, caller):
        body = {"type": "http", "config": {"url": target.url("/")}}
        good = await eventually(lambda: _tested(caller, body))
        assert (good["success"], good["statusCode"]) == (True, 200)
        target.always = answer(404)
        bad = await caller.made("/v1/monitors/test", body)
        assert (bad["success"], bad["statusCode"]) == (False, 404)


async def test_the_first_start_tells_how_to_go_on(tmp_path: Path) -> None:
    async with running(tmp_path, "--demo", planted=False) as (product, caller):
        said = await eventually(lambda: _said(product, "Try:"))
        assert stat.S_IMODE((product.data_dir / "admin-token").stat().st_mode) == 0o600
        assert product.token not in said
        lines = [line.strip() for line in said.splitlines() if line.strip().startswith("curl ")]
        assert len(lines) == 3
        for line in lines:
            done = subprocess.run(["bash", "-c", line], capture_output=True, check=True, timeout=20)
            assert b'"id"' in done.stdout, done
        monitors = (await caller.got("/v1/monitors"))["data"]
        assert len(monitors) >= 4

        second = subprocess.run(
            [sys.executable, "-m", "shared.command", "up", "--data-dir", str(product.data_dir)],
            capture_output=True,
            timeout=30,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        assert second.returncode == 2
        assert str(product.pids("up")[0]) in second.stderr.decode()
        assert product.stop() == 0


def _channel(hook: Receiver) -> dict[str, Any]:
    return {"name": "hook", "type": "webhook", "config": {"url": hook.url(), "signingSecret": SECRET}}


def _monitor(target: Receiver) -> dict[str, Any]:
    return {"name": "shop", "type": "http", "interval": 1, "timeout": 1, "config": {"url": target.url("/")}}


def _check(got: Received, kind: str, monitor: dict[str, Any], incident: dict[str, Any]) -> None:
    """The payload, and both signatures recomputed from the bytes that came."""
    payload = got.json
    assert payload["event"] == got.headers["x-service-event"] == kind
    assert payload["monitor"]["id"] == monitor["id"]
    assert payload["incident"]["id"] == incident["id"]
    assert payload["id"] == got.headers["webhook-id"]
    assert payload["links"]["monitor"].endswith(f"/monitors/{monitor['id']}")
    plain = hmac.new(SECRET.encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-service-signature"] == plain
    Webhook(SECRET).verify(got.body.decode(), dict(got.headers))


async def _results(caller: Caller, monitor: str, status: str) -> Any:
    return (await caller.got(f"/v1/monitors/{monitor}/results?status={status}"))["data"]


async def _incident(caller: Caller, status: str) -> Any:
    found = (await caller.got(f"/v1/incidents?status={status}"))["data"]
    return found[0] if found else None


async def _delivered(caller: Caller, channel: str, count: int) -> bool:
    deliveries = (await caller.got(f"/v1/alert-channels/{channel}/deliveries"))["data"]
    return [delivery["status"] for delivery in deliveries] == ["delivered"] * count


async def _tested(caller: Caller, body: dict[str, Any]) -> Any:
    status, said = await caller.call("POST", "/v1/monitors/test", body)
    assert status in {200, 503}, said
    return said if status == 200 else None


async def _said(product: Product, word: str) -> str:
    text = product.log.read_text()
    return text if word in text else ""
