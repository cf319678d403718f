"""The API beside all that takes metrics and misses them; its clock is the API's."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import aiohttp

from collector.evaluation.ingest.pushes import Pushes
from collector.evaluation.storage import collector_presence
from collector.history.storage import partitions
from collector.metrics.ingest.intake import Receiving
from collector.metrics.jobs.series import SeriesSweeper
from collector.server import make, serve
from shared.clock import EPOCH
from shared.ids import uuid7
from shared.loop import forever
from tests.clocks import GivenClock
from tests.http.client import Answer, Api
from tests.remote_write import FIRST


@dataclass(slots=True)
class Metrics:
    """*tokens* of the monitors that it made."""

    api: Api
    receiving: Receiving
    silent: SeriesSweeper
    started: datetime
    tokens: dict[str, str]

    async def make(self, type_: str = "prometheus", **config: Any) -> str:
        """The id of a new monitor."""
        answer = await self.api.post("/v1/monitors", {"type": type_, "name": "metrics", "config": config})
        assert answer.status == 201, answer.body
        id_ = str(answer.json["id"])
        self.tokens[id_] = (await self.get(id_))["config"]["authToken"]
        return id_

    async def get(self, id_: str) -> Any:
        return (await self.api.get(f"/v1/monitors/{id_}")).json

    async def push(self, id_: str, body: bytes | io.BytesIO, headers: dict[str, str] = FIRST) -> Answer:
        sender = self.api.with_token(self.tokens[id_])
        return await sender.post(f"/v1/ingest/prometheus/{id_}", body, headers=headers)

    async def series(self, id_: str) -> list[Any]:
        """As they are once they were written."""
        await self.receiving.keeping()
        return list((await self.api.get(f"/v1/monitors/{id_}/series?limit=100")).json["data"])

    async def results(self, id_: str) -> list[Any]:
        to = (self.api.clock() + timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
        answer = await self.api.get(f"/v1/monitors/{id_}/results?from=2020-01-01&to={to}")
        return list(answer.json["data"])

    def ms(self, ahead: timedelta = timedelta()) -> int:
        """The time, as a sender writes it."""
        return (self.api.clock() + ahead - EPOCH) // timedelta(milliseconds=1)

    async def heard(self, since: datetime | None = None) -> None:
        """Some collector ran all the time, or from then on."""
        async with self.api.context.db.transaction() as tx:
            await collector_presence.keep(tx, uuid7(), since or self.started, self.api.clock())
            await partitions.make(tx, self.api.clock().date())

    async def go(self, ahead: timedelta) -> None:
        """Time passes while somebody listens, and whoever is silent is found."""
        self.api.clock.ahead += ahead
        await self.heard()
        await self.silent.turn()


@asynccontextmanager
async def running(api: Api) -> AsyncIterator[Metrics]:
    clock, db = api.clock, api.context.db
    started = clock() - timedelta(minutes=1)
    pushes = Pushes(db, clock=GivenClock(clock, lambda: started))
    receiving = Receiving(db, api.context.keyring, pushes, clock=GivenClock(clock))
    silent = SeriesSweeper(db, receiving, clock=GivenClock(clock, lambda: started))
    task = asyncio.create_task(forever("test", receiving.counting, timedelta(milliseconds=5)))
    runner = await serve(make(api.context, replace(api.features, metrics=receiving)), "127.0.0.1:0")
    try:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            metrics = Metrics(replace(api, url=url, session=session), receiving, silent, started, {})
            await metrics.heard()
            yield metrics
    finally:
        await runner.cleanup()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
