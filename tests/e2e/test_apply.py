"""Configuration as code beside a running service: from its own machine, and from elsewhere with a token."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Product, connected, eventually, running

FILE = """\
monitors:
  - name: Takes probes
    key: probes
    type: tcp
    interval: 1
    timeout: 1
    config: {{host: 127.0.0.1, port: {port}}}
"""


async def tocsin(product: Product, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Exit status, output, and what it said; by the data directory unless *variables* say otherwise."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", *arguments,
        env={**kept, "TOCSIN_DATA_DIR": str(product.data_dir), **variables},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    out, data = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), data.decode()


@pytest.mark.timeout(300)
async def test_what_is_applied_is_checked_and_a_pipeline_elsewhere_goes_on_with_it(tmp_path: Path) -> None:
    file = tmp_path / "monitors.yaml"
    async with running(tmp_path) as (product, caller):
        await eventually(lambda: connected(caller))
        file.write_text(FILE.format(port=product.grpc))
        made = await tocsin(product, "apply", "-f", str(file))
        assert made == (0, "+ monitor probes\n1 created, 0 unchanged\n", ""), made

        async def checked() -> Any:
            [one] = (await caller.got("/v1/monitors"))["data"]
            return one["lastCheckedAt"] and one

        one = await eventually(checked, timeout_s=60)
        assert one["status"] == "up"

        made = await caller.made("/v1/tokens", {"name": "pipeline", "permission": "read-write"})
        elsewhere = {
            "TOCSIN_DATA_DIR": str(tmp_path / "elsewhere"),
            "TOCSIN_URL": f"{product.url}/v1",
            "TOCSIN_TOKEN": made["token"],
        }
        file.write_text(FILE.format(port=product.http))
        code, out, text = await tocsin(product, "apply", "-f", str(file), **elsewhere)
        assert (code, text) == (0, "")
        assert out == (
            f"~ monitor probes\n    config.port: {product.grpc} -> {product.http}\n1 changed, 0 unchanged\n"
        )
        code, out, _ = await tocsin(product, "export", **elsewhere)
        assert (code, f"port: {product.http}" in out) == (0, True)
        assert not (tmp_path / "elsewhere").exists()

        file.write_text("monitors: [{name: x, type: tcp}]")
        code, _, text = await tocsin(product, "apply", "-f", str(file), **elsewhere)
        assert (code, "monitors.yaml:1: monitor x: host: Host is required" in text) == (2, True)
        wrong = {**elsewhere, "TOCSIN_TOKEN": "not-a-token-of-anybody"}
        assert (await tocsin(product, "export", **wrong))[::2] == (
            1,
            "tocsin: The token is invalid, expired or revoked\n",
        )
        nobody = {**elsewhere, "TOCSIN_URL": "http://127.0.0.1:1"}
        code, _, text = await tocsin(product, "apply", "-f", str(file), **nobody)
        assert (code, "cannot be reached" in text) == (1, True)
