"""A certificate that expires soon, through the whole product: notified once, and over with its renewal."""

import asyncio
import os
import signal
import socket
import ssl
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.product import Caller, Product, eventually, running
from tests.probe.net.zoo import DAY, ROOT, Issued, issue, serving
from tests.probe.targets import over_tls, says, target
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HEARD = ["certificate.expiring", "monitor.down", "monitor.up"]


def renew(context: ssl.SSLContext, leaf: Issued) -> None:
    """What shakes hands from now on sees *leaf*."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(leaf.key_pem + leaf.pem)
        file.flush()
        context.load_cert_chain(file.name)


def lasting(days: int) -> Issued:
    return issue("", ROOT, ends=days * DAY + timedelta(hours=12))


def _shake(sock: socket.socket) -> None:
    sock.recv(1)


def heard(hook: Receiver, kind: str) -> list[Any]:
    return [received.json for received in hook.received if received.headers["x-service-event"] == kind]


async def test_it_is_told_once_and_ends_with_the_renewal(tmp_path: Path) -> None:
    context = serving(lasting(9))
    with target(over_tls(context, _shake)) as server:
        async with (
            receiving(always=answer(200)) as hook,
            running(tmp_path, LOCATIONS="eu,us") as (product, caller),
        ):
            channel = {"url": hook.url(), "events": HEARD}
            await caller.made("/v1/alert-channels", {"name": "hook", "type": "webhook", "config": channel})
            config = {"domain": server.peer, "trustedCa": ROOT.pem.decode()}
            monitor = await caller.made(
                "/v1/monitors",
                {"name": "shop", "type": "tls", "interval": 1, "locations": ["eu", "us"], "config": config},
            )
            await eventually(lambda: _heard(hook, "monitor.down"))
            [down] = heard(hook, "monitor.down")
            assert down["incident"]["severity"] == "medium"
            [told] = await eventually(lambda: _heard(hook, "certificate.expiring"))
            assert (told["certificate"]["daysLeft"], told["certificate"]["expiryDays"]) == (9, 14)
            results = (await caller.got(f"/v1/monitors/{monitor['id']}/results"))["data"]
            assert {result["daysLeft"] for result in results} == {9}

            await _struck(product)
            checks = await _checks(caller, monitor["id"])
            await eventually(lambda: _more(caller, monitor["id"], checks + 6))
            assert len(heard(hook, "certificate.expiring")) == 1

            renew(context, lasting(60))
            await eventually(lambda: _heard(hook, "monitor.up"))
            [incident] = (await caller.got("/v1/incidents"))["data"]
            assert (incident["status"], incident["severity"]) == ("resolved", "medium")

            status, _ = await caller.call(
                "PUT", f"/v1/monitors/{monitor['id']}", {"config": {"expiryDays": 90}}
            )
            assert status == 200
            await eventually(lambda: _two(hook))
            assert heard(hook, "certificate.expiring")[1]["certificate"]["expiryDays"] == 90


async def test_prometheus_reads_the_end_of_each_that_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    leaf = lasting(40)
    with target(over_tls(serving(leaf), says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))) as server:
        async with running(tmp_path) as (_, caller):
            for type_, config in (
                ("http", {"url": f"https://{server.peer}/"}),
                ("tls", {"domain": server.peer}),
            ):
                await caller.made(
                    "/v1/monitors", {"name": type_, "type": type_, "interval": 1, "config": config}
                )
            found = await eventually(lambda: _ends(caller))
    ends = leaf.certificate.not_valid_after_utc.timestamp()
    assert found == {"http": ends, "tls": ends}


async def _ends(caller: Caller) -> dict[str, float] | None:
    """By the names of the monitors, once there are two."""
    headers = {"Authorization": f"Bearer {caller.token}"}
    async with caller.session.get(caller.product.url + "/metrics", headers=headers) as response:
        text = await response.text()
    found = {
        sample.labels["name"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "probe_ssl_earliest_cert_expiry"
    }
    return found if len(found) == 2 else None


async def _struck(product: Product) -> None:
    """The collector is killed, and is back."""
    for pid in product.pids("collector"):
        os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.2)
    await product.ready()


async def _heard(hook: Receiver, kind: str) -> list[Any]:
    return heard(hook, kind)


async def _two(hook: Receiver) -> bool:
    return len(heard(hook, "certificate.expiring")) == 2


async def _checks(caller: Caller, monitor: str) -> int:
    return int((await caller.got(f"/v1/monitors/{monitor}/results"))["meta"]["total"])


async def _more(caller: Caller, monitor: str, than: int) -> bool:
    return await _checks(caller, monitor) > than
