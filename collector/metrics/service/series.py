"""Metrics for callers: where to push them, and the state of each series."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from collector.metrics.storage import series as table
from collector.metrics.storage.series import SeriesValue
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Db
from shared import ids
from shared.errors import Invalid, Limited, Unauthorized, Unavailable

NOT_ADMITTED: Final = "The token is not the one of this monitor, or there is no such monitor"
TYPES: Final = ("prometheus", "opentelemetry")
LARGE: Final = 1 << 20
# A push that takes longer to arrive is let go.
READ_S: Final = 30.0
# And one that has to wait for others is told to come again.
PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PushOutcome:
    """What became of a push: so many samples and histograms were taken; *error*: why others were not."""

    samples: int
    histograms: int
    refused: int
    error: str


class PushAdmission:
    """Where a push is read and taken in; *large*: what it needs a place in to have more than LARGE bytes."""

    def __init__(self, *large: asyncio.Semaphore) -> None:
        self._large = large
        self._held: list[asyncio.Semaphore] = []

    async def widen(self) -> None:
        """Raises Limited when there is no room in good time."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                for one in self._large[len(self._held) :]:
                    await one.acquire()
                    self._held.append(one)
        except TimeoutError:
            raise Limited("Too many large pushes come at once", retry_after=1) from None

    def leave(self) -> None:
        for one in self._held:
            one.release()


class MetricsReceiver(Protocol):
    """What takes metrics in; *book* is what `admit` answered."""

    async def admit(self, id_: UUID | None, token: str, type_: str) -> Any:
        """Raises Unauthorized, Limited."""

    def room(self, book: Any) -> AbstractAsyncContextManager[PushAdmission]:
        """To be entered before anything is read: a monitor's pushes wait for each other. Raises Limited."""

    async def remote_write(self, book: Any, body: bytes, *, second: bool) -> PushOutcome:
        """Raises Invalid, Unavailable; *second*: it is of version 2."""

    async def otlp(self, book: Any, body: bytes, *, json: bool) -> PushOutcome:
        """Raises Invalid, Unavailable."""


class Nobody:
    """For where no metrics are taken."""

    async def admit(self, id_: UUID | None, token: str, type_: str) -> Any:
        del id_, token, type_
        raise Unauthorized(NOT_ADMITTED)

    @asynccontextmanager
    async def room(self, book: Any) -> AsyncIterator[PushAdmission]:
        del book
        yield PushAdmission(asyncio.Semaphore())

    async def remote_write(self, book: Any, body: bytes, *, second: bool) -> PushOutcome:
        del book, body, second
        raise Unavailable("no metrics are taken here")

    async def otlp(self, book: Any, body: bytes, *, json: bool) -> PushOutcome:
        del book, body, json
        raise Unavailable("no metrics are taken here")


def bare(token: str) -> str:
    """A token without the monitor's id, which may stand before it."""
    head, dot, rest = token.partition(".")
    return rest if dot and ids.read("mon", head) else token


def named(token: str) -> UUID | None:
    """The monitor whose id stands before the token."""
    return ids.read("mon", token.partition(".")[0])


def shown(monitor: Monitor, config: Mapping[str, Any], base_url: str, otlp_url: str) -> dict[str, Any]:
    """*config* with where to push to; *base_url* is where the API lies."""
    id_ = ids.show("mon", monitor.id)
    if monitor.type == "prometheus":
        return {**config, "ingestUrl": f"{base_url}/ingest/prometheus/{id_}"}
    if monitor.type == "opentelemetry":
        over_http = f"{base_url}/ingest/otlp/{id_}"
        endpoint = otlp_url if config["otlpProtocol"] == "grpc" else over_http
        token = config["authToken"]
        return {**config, "endpoint": endpoint, "authToken": f"{id_}.{bare(token)}"}
    return dict(config)


async def page(
    db: Db, monitor: Monitor, metric: str | None, limit: int, offset: int
) -> tuple[list[SeriesValue], int]:
    """A page of its series, and how many there are. Raises Invalid."""
    if monitor.type not in TYPES:
        raise Invalid({"type": f"a monitor of type {monitor.type} takes no metrics"})
    async with db.connection() as tx:
        return await table.page(tx, monitor.team_id, monitor.id, metric, limit, offset)


def number(value: float | None) -> float | str | None:
    """As JSON can say it."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
