"""The built-in probe of ``tocsin up`` checks from a location without a probe, unless a setting forbids it."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, eventually, running
from tests.receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def _monitor(url: str, *locations: str) -> dict[str, Any]:
    body = {"name": "far", "type": "http", "interval": 1, "timeout": 1, "config": {"url": url}}
    return {**body, "locations": list(locations)}


async def _located(caller: Caller, monitor: str) -> set[str]:
    results = (await caller.got(f"/v1/monitors/{monitor}/results"))["data"]
    return {result["location"] for result in results}


async def test_the_built_in_probe_stands_in_and_the_answer_says_so(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path) as (_, caller):
        await eventually(lambda: _probes(caller))
        made = await caller.made("/v1/monitors", _monitor(target.url("/"), "local", "eu-west"))
        assert made["warnings"] == ["location eu-west has no probe: the built-in probe stands in"]

        async def from_both() -> bool:
            return await _located(caller, made["id"]) == {"local", "eu-west"}

        await eventually(from_both)


async def test_turned_off_it_leaves_such_a_location_alone_and_the_answer_says_that(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path, STAND_IN="false") as (_, caller):
        await eventually(lambda: _probes(caller))
        made = await caller.made("/v1/monitors", _monitor(target.url("/"), "local", "eu-west"))
        assert made["warnings"] == ["location eu-west has no probe: nothing checks from there yet"]

        async def thrice() -> bool:
            return len(target.received) >= 3

        await eventually(thrice)
        assert await _located(caller, made["id"]) == {"local"}


async def _probes(caller: Caller) -> bool:
    found = (await caller.got("/v1/probes"))["data"]
    return bool(found) and found[0]["lastSeenAt"] is not None
