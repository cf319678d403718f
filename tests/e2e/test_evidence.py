"""A target that repeats all that it receives leaks no secret anywhere."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, Product, eventually, running
from tests.streams import stream_server

pytestmark = pytest.mark.slow

# Each secret of the configuration holds this, and so does what the target makes up.
MARK = "s3cret"


async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the request, as text or as JSON."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    body = (await reader.readexactly(int(head.lower().partition("content-length:")[2].split()[0]))).decode()
    headers = dict(line.split(": ", 1) for line in head.splitlines()[1:-1])
    text = json.dumps({"headers": headers, "data": body}) if "/json" in head else head + body
    lines = f"X-Echo: {body}\r\nSet-Cookie: sid=made-{MARK}\r\nContent-Length: {len(text)}\r\n\r\n"
    writer.write(f"HTTP/1.1 500 Oops\r\n{lines}{text}".encode())
    await writer.drain()
    writer.close()


def monitor(port: int, path: str) -> dict[str, Any]:
    config = {
        "url": f"http://me:url-{MARK}@127.0.0.1:{port}/{path}?token=query-{MARK}",
        "method": "POST",
        "headers": {"X-Env": f"header-{MARK}", "Cookie": f"a=cookie-{MARK}"},
        "auth": {"type": "bearer", "token": f"bearer-{MARK}"},
        "body": json.dumps({"pin": f"body-{MARK}"}),
    }
    return {"name": path, "type": "http", "interval": 5, "config": config}


async def test_no_secret_is_in_the_evidence_nor_on_the_way_to_it(tmp_path: Path) -> None:
    async with stream_server(repeat) as port, running(tmp_path) as (product, caller):
        for path in ("text", "json"):
            await caller.made("/v1/monitors", monitor(port, path))
        told = await eventually(lambda: _evidence(caller), timeout_s=60)

        for item in told:
            assert len(item["evidence"]) == 3
            assert {seen["address"] for seen in item["evidence"]} == {f"127.0.0.1:{port}"}
            assert "[redacted]" in item["evidence"][0]["body"]
        assert MARK not in json.dumps(told)
        assert MARK not in await _stored(product)
        spooled = b"".join(path.read_bytes() for path in tmp_path.rglob("*.seg"))
        assert spooled
        assert MARK.encode() not in spooled


async def _evidence(caller: Caller) -> list[dict[str, Any]] | None:
    """Of both incidents, once there are two."""
    found = (await caller.got("/v1/incidents"))["data"]
    if len(found) < 2:
        return None
    return [await caller.got(f"/v1/incidents/{item['id']}/evidence") for item in found]


async def _stored(product: Product) -> str:
    connection = await product.connect()
    try:
        rows = await connection.fetch(
            "SELECT f::text AS text FROM failures f UNION ALL SELECT e::text FROM incident_evidence e"
        )
    finally:
        await connection.close()
    assert rows
    return "\n".join(row["text"] for row in rows)
