"""OpenTelemetry's SDK for Node against the product as its users run it; that for Python is in every run."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.product import Caller, Product
from tests.senders.conftest import fetched, heard, made, needed, status

pytestmark = [needed, pytest.mark.slow, pytest.mark.timeout(120)]

_EXPORTER = Path(__file__).with_name("exporter.mjs")


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf", "http/json"])
async def test_node_exports_to_where_it_is_told(product: tuple[Product, Caller], protocol: str) -> None:
    _, caller = product
    id_, config = await made(caller, "opentelemetry", otlpProtocol=protocol)

    text = await _export(protocol, config["endpoint"], config["authToken"])

    assert text == ""
    async with asyncio.timeout(20):
        while not (values := await heard(caller, id_)):
            await asyncio.sleep(0.1)
    assert values == {"orders": 3, "latency_count": 1, "latency_sum": 7}
    assert await status(caller, id_) == "up"


async def test_node_is_told_that_its_token_is_wrong(product: tuple[Product, Caller]) -> None:
    _, caller = product
    id_, config = await made(caller, "opentelemetry", otlpProtocol="http/protobuf")

    text = await _export("http/protobuf", config["endpoint"], "wrong")

    assert "Unauthorized" in text or "401" in text
    assert await heard(caller, id_) == {}


async def _export(protocol: str, endpoint: str, token: str) -> str:
    """What it complained of."""
    modules = fetched("node/node_modules")
    process = await asyncio.create_subprocess_exec(
        "node",
        str(_EXPORTER),
        str(modules),
        protocol,
        endpoint,
        token,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return out.decode()
