"""The far end of a session with a probe, which answers what it is asked to run."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from collector.platform import signals
from shared.loop import forever
from shared.phases import pack
from shared.results import Phases
from tests.http.client import Api


@asynccontextmanager
async def answering(api: Api, answer: Mapping[str, Any]) -> AsyncIterator[list[dict[str, Any]]]:
    """What probes are asked to run meanwhile; each is answered with *answer* as it is at that moment."""
    heard: list[dict[str, Any]] = []

    async def run(payload: dict[str, Any]) -> None:
        heard.append(payload)
        said = {"id": payload["id"], "phases": pack(Phases()).hex(), **answer}
        async with api.context.db.transaction() as tx:
            await signals.send(tx, "answer", said, timedelta(seconds=10))
        api.context.signals.ring()

    api.context.signals.subscribe("run", run)
    reading = asyncio.create_task(
        forever("signals", api.context.signals.turn, timedelta(seconds=1), api.context.signals.bell)
    )
    yield heard
    reading.cancel()
    await asyncio.wait([reading])
