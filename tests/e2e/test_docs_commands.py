"""The shell commands of docs/, run word for word but for ports, hosts and folders."""

import asyncio
import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.product import Caller, Product, eventually, running
from tests.probe.targets import target
from tests.probe.web3 import standin
from tests.probe.web3.standin import Facts, node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(360)]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Pages in one piece, which tests/e2e/test_followed_pages.py follows.
FOLLOWED = {DOCS / "getting-started.md", DOCS / "moving-the-database.md", *(DOCS / "tutorials").glob("*.md")}
# What one machine without an image of Tocsin cannot run.
ELSEWHERE = ("docker ",)


class Reader:
    """Who follows the pages beside a running product; each block has a shell of its own."""

    def __init__(self, product: Product, folder: Path, rpc_url: str) -> None:
        self.product = product
        self.folder = folder
        self.here = folder / "here"
        self.unused = {
            "https://example.com/": product.url + "/healthz",
            "127.0.0.1:8080": f"127.0.0.1:{product.http}",
            "https://rpc.example.com/": rpc_url,
            "collector.example.com:7070": f"127.0.0.1:{product.grpc}",
            "/backups/": f"{folder}/backups/",
            "/safe/": f"{product.data_dir}/",
            "/srv/tocsin": f"{folder}/restored",
            "/srv/status": f"{folder}/status",
            # A backup that is read again after midnight.
            "$(date +%F)": "2026-12-06",
        }
        self.places = dict(self.unused)
        self.probe: asyncio.subprocess.Process | None = None
        self.here.mkdir()
        (folder / "backups").mkdir()
        (folder / "bin").mkdir()
        command = folder / "bin" / "tocsin"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m shared.command "$@"\n')
        command.chmod(0o755)

    async def follow(self, page: Path) -> str:
        """Everything that the commands of *page* print."""
        lines = [await self.run(script) for script in BLOCK.findall(page.read_text())]
        return "".join(lines)

    async def run(self, script: str) -> str:
        if script.startswith(ELSEWHERE):
            return ""
        if "frankfurt-1" in script:
            self.places["frankfurt-1"] = await self.probe_of("frankfurt")
        process = await self.start(script)
        if "tocsin probe --collector" in script:
            self.probe = process
            await eventually(lambda: self.probe_of("frankfurt"), timeout_s=60)
            return ""
        data, _ = await process.communicate()
        assert process.returncode == 0, (script, data.decode())
        if "probe-token create" in script:
            self.places["TOCSIN_JOIN_TOKEN=..."] = f"TOCSIN_JOIN_TOKEN={data.decode().split()[-1]}"
        return data.decode()

    async def start(self, script: str) -> asyncio.subprocess.Process:
        for written, real in self.places.items():
            if written in script:
                self.unused.pop(written, None)
            script = script.replace(written, real)
        elsewhere = "tocsin probe --collector" in script
        return await asyncio.create_subprocess_exec(
            "bash", "-e", "-o", "pipefail", "-c", script,
            env=self.environment(self.folder / "frankfurt" if elsewhere else self.product.data_dir),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=self.here,
            start_new_session=True,
        )  # fmt: skip

    def environment(self, data_dir: Path) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        return {
            **kept,
            "PATH": f"{self.folder / 'bin'}:{kept['PATH']}",
            "PYTHONPATH": str(ROOT),
            "TOCSIN_DATA_DIR": str(data_dir),
            "TOCSIN_HTTP_LISTEN": f"127.0.0.1:{self.product.http}",
            "TOCSIN": f"{self.product.url}/v1",
            "AUTH": f"Authorization: Bearer {self.product.token}",
            "SHOP_KEY": "key of the shop",
            "SLACK_URL": "https://hooks.slack.com/services/T0/B0/x",
        }

    async def probe_of(self, location: str) -> str:
        """The id of the online probe there; empty while there is none."""
        process = await self.start("tocsin probes list")
        data, _ = await process.communicate()
        for line in data.decode().splitlines():
            if location in line and "online" in line:
                return line.split()[0]
        return ""

    async def end(self) -> None:
        """Stop the probe that a page has started."""
        if self.probe is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.probe.pid, signal.SIGTERM)
            await self.probe.communicate()


async def test_the_commands_of_the_docs_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standin, "START", int(time.time()))  # a chain whose head is old is stale
    with target(node(Facts())) as rpc:
        async with running(tmp_path, "--demo") as (product, caller):
            reader = Reader(product, tmp_path, rpc.url)
            declared = DOCS / "configuration-as-code.md"
            yaml = declared.read_text().split("```yaml\n")[1].split("```")[0]
            (reader.here / "tocsin.yaml").write_text(yaml)
            said = {}
            try:
                # What files declare comes last: it takes over what other pages make.
                for page in sorted(DOCS.rglob("*.md"), key=lambda page: page == declared):
                    if page not in FOLLOWED:
                        said[page.name] = await reader.follow(page)
            finally:
                await reader.end()
            await _each_did_its_work(said, caller, reader)
    assert not reader.unused


async def _each_did_its_work(said: dict[str, str], caller: Caller, reader: Reader) -> None:
    assert "UP" in said["commands.md"]
    assert "--http-listen" in said["commands.md"]
    assert "UP" in said["web3.md"]
    assert "+ monitor shop" in said["configuration-as-code.md"]
    assert "SHOP_KEY" not in said["configuration-as-code.md"]
    assert '"role":"editor"' in said["access.md"]
    assert '"permission":"read-write"' in said["access.md"]
    assert '"action"' in said["access.md"]
    assert "rows of" in said["operations.md"]
    assert '"interval":120' in said["api.md"]
    assert '"details":' in said["api.md"]
    assert "\n412\n" in said["api.md"]
    assert "openapi" in (reader.here / "openapi.json").read_text()[:100]
    assert '"slug":"example"' in said["status-pages.md"]
    assert '"uptime90d":' in said["status-pages.md"]
    assert re.search(r"X-Key: \$\{\w+\?\}", (reader.here / "exported.yaml").read_text())
    assert (reader.folder / "restored" / "postgres").is_dir()
    assert "Example" in (reader.folder / "status" / "index.html").read_text()
    probes = (await caller.got("/v1/probes"))["data"]
    assert [probe["status"] for probe in probes if probe["id"] == reader.places["frankfurt-1"]] == ["revoked"]
