"""The product, and real senders of metrics beside it: what ``make senders`` fetched."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, Product, running
from tests.senders.fetch import PLACE

_WHY = "real senders of metrics: `make senders` fetches them"
needed = pytest.mark.skipif(not PLACE.exists(), reason=_WHY)


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[tuple[Product, Caller]]:
    async with running(tmp_path) as both:
        yield both


def fetched(name: str) -> Path:
    """A program, or the directory of Node's modules."""
    place = PLACE / name
    if not place.exists():
        pytest.skip(_WHY)
    return place


@asynccontextmanager
async def sending(command: Sequence[str], log: Path) -> AsyncIterator["subprocess.Popen[bytes]"]:
    """A sender at work; stopped at the end of the block, and its log shown when that fails."""
    with log.open("ab") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        yield process
    except BaseException as error:
        error.add_note(log.read_text()[-4_000:])
        raise
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 15)


async def made(caller: Caller, type_: str, **config: Any) -> tuple[str, dict[str, Any]]:
    """The id of a new monitor, and its configuration as it is shown."""
    body = {"name": "metrics", "type": type_, "interval": 1, "config": config}
    id_ = str((await caller.made("/v1/monitors", body))["id"])
    return id_, (await caller.got(f"/v1/monitors/{id_}"))["config"]


async def status(caller: Caller, id_: str) -> str:
    return str((await caller.got(f"/v1/monitors/{id_}"))["status"])


async def heard(caller: Caller, id_: str) -> dict[str, Any]:
    """The newest value of each metric."""
    listed = (await caller.got(f"/v1/monitors/{id_}/series?limit=100"))["data"]
    return {item["metric"]: item["value"] for item in listed}
