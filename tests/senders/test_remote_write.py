"""Real senders of remote write, each as its users run it, against the product as its users run it."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.product import Caller, Product, eventually
from tests.ports import free_port
from tests.senders.conftest import fetched, heard, made, needed, sending, status

pytestmark = [needed, pytest.mark.slow, pytest.mark.timeout(300)]

_SCRAPE = """\
global: {{scrape_interval: 1s, external_labels: {{cluster: lab}}}}
scrape_configs: [{{job_name: self, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]
"""
_REMOTE = """\
remote_write:
- url: {url}
  authorization: {{type: Bearer, credentials: {token}}}
  metadata_config: {{send_interval: 3s}}
  queue_config: {{batch_send_deadline: 1s, min_backoff: 200ms, max_backoff: 2s, retry_on_http_429: true}}
"""
_SECOND = "  protobuf_message: io.prometheus.write.v2.Request\n"
_STALE_AFTER_S = 8


@dataclass(frozen=True, slots=True)
class Sender:
    """*program* below what was fetched; *refused*: its own counter of what it gave up."""

    program: str
    second: bool = False

    @property
    def is_prometheus(self) -> bool:
        return self.program.endswith("prometheus")

    def command(self, directory: Path, port: int, url: str, token: str) -> list[str]:
        """Its configuration is written to *directory*; it scrapes itself at *port*."""
        scrape = _SCRAPE.format(port=port)
        config = directory / "sender.yml"
        program = str(fetched(self.program))
        if self.is_prometheus:
            config.write_text(scrape + _REMOTE.format(url=url, token=token) + _SECOND * self.second)
            agent = ["--agent"] if "newest" in self.program else ["--enable-feature=agent"]
            listen = f"--web.listen-address=127.0.0.1:{port}"
            return [
                program,
                f"--config.file={config}",
                f"--storage.agent.path={directory}/agent",
                *agent,
                listen,
            ]
        config.write_text(scrape)
        return [
            program,
            f"-promscrape.config={config}",
            f"-remoteWrite.url={url}",
            f"-remoteWrite.bearerToken={token}",
            f"-remoteWrite.tmpDataPath={directory}/queue",
            f"-httpListenAddr=127.0.0.1:{port}",
            "-remoteWrite.flushInterval=1s",
        ]


SENDERS = [
    pytest.param(Sender("stable/usr/bin/prometheus"), id="prometheus"),
    pytest.param(Sender("newest/usr/bin/prometheus"), id="newest prometheus, 1.0"),
    pytest.param(Sender("newest/usr/bin/prometheus", second=True), id="newest prometheus, 2.0"),
    pytest.param(Sender("stable/usr/bin/vmagent"), id="vmagent"),
    pytest.param(Sender("newest/usr/bin/vmagent"), id="newest vmagent"),
]


@pytest.mark.parametrize("sender", SENDERS)
async def test_a_sender_is_heard_and_its_silence_too_and_it_outlasts_us(
    product: tuple[Product, Caller], tmp_path: Path, sender: Sender
) -> None:
    tocsin, caller = product
    filters = {"job": "self", "__name__": "=~up|process_.*"}
    id_, config = await made(caller, "prometheus", labelFilters=filters, staleAfter=_STALE_AFTER_S)
    port = free_port()
    command = sender.command(tmp_path, port, config["ingestUrl"], config["authToken"])

    async with sending(command, tmp_path / "sender.log"):
        values = await eventually(lambda: _values(caller, id_), timeout_s=60)
        assert values["up"] == 1
        assert not [name for name in values if name != "up" and not name.startswith("process_")]
        assert await status(caller, id_) == "up"

        tocsin.kill("collector")
        await asyncio.sleep(3)
        await tocsin.ready()
        seen = (await caller.got(f"/v1/monitors/{id_}"))["lastCheckedAt"]
        await eventually(lambda: _checked_after(caller, id_, seen), timeout_s=60)
        counters = await _counters(port)
        assert _lost(counters) == 0, counters

    await eventually(lambda: _is(caller, id_, "down"), timeout_s=60)
    [incident] = (await caller.got("/v1/incidents?status=open"))["data"]
    assert incident["lastError"] == f"no matching sample came within {_STALE_AFTER_S} s"

    async with sending(command, tmp_path / "sender.log"):
        await eventually(lambda: _is(caller, id_, "up"), timeout_s=60)
    results = (await caller.got(f"/v1/monitors/{id_}/results"))["data"]
    assert max(result["samples"] for result in results) > 1


@pytest.mark.parametrize("sender", SENDERS)
async def test_a_sender_with_a_wrong_token_is_told_and_reaches_nobody(
    product: tuple[Product, Caller], tmp_path: Path, sender: Sender
) -> None:
    _, caller = product
    id_, config = await made(caller, "prometheus")
    port = free_port()

    async with sending(sender.command(tmp_path, port, config["ingestUrl"], "wrong"), tmp_path / "log"):
        await eventually(lambda: _complains(tmp_path / "log"), timeout_s=60)

    assert (await caller.got(f"/v1/monitors/{id_}"))["lastCheckedAt"] is None
    assert await heard(caller, id_) == {}


async def _values(caller: Caller, id_: str) -> dict[str, Any] | None:
    values = await heard(caller, id_)
    return values if "up" in values and len(values) > 2 else None


async def _is(caller: Caller, id_: str, wanted: str) -> bool:
    return await status(caller, id_) == wanted


async def _checked_after(caller: Caller, id_: str, seen: str) -> bool:
    return str((await caller.got(f"/v1/monitors/{id_}"))["lastCheckedAt"]) > seen


async def _complains(log: Path) -> bool:
    return "401" in log.read_text()


async def _counters(port: int) -> dict[str, float]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
        text = await answer.text()
    found: dict[str, float] = {}
    for name, value in re.findall(r"^(\w+)(?:{.*})? ([0-9.e+]+)$", text, re.MULTILINE):
        found[name] = found.get(name, 0.0) + float(value)
    return {name: value for name, value in found.items() if "remote" in name}


def _lost(counters: dict[str, float]) -> float:
    """What the sender counts as given up."""
    names = (
        "prometheus_remote_storage_samples_failed_total",
        "prometheus_remote_storage_samples_dropped_total",
        "vmagent_remotewrite_packets_dropped_total",
        "vmagent_remotewrite_samples_dropped_total",
    )
    return sum(counters.get(name, 0.0) for name in names)
