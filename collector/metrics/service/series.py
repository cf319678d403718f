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
from shared.kinds import ReceiverType

NOT_ADMITTED: Final = "The token is not the one of this monitor, or there is no such monitor"
TYPES: Final = (ReceiverType.PROMETHEUS, ReceiverType.OPENTELEMETRY)
LARGE: Final = 1 << 20
# Timeout for receiving a push.
READ_S: Final = 30.0
# Timeout for waiting behind other pushes; afterwards the sender must retry.
PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PushOutcome:
    """The result of a push: numbers of stored samples and histograms; *error*: why others were rejected."""

    samples: int
    histograms: int
    refused: int
    error: str


class PushAdmission:
    """A slot for one push; *large*: semaphores required for a body of more than LARGE bytes."""

    def __init__(self, *large: asyncio.Semaphore) -> None:
        self._large = large
        self._held: list[asyncio.Semaphore] = []

    async def widen(self) -> None:
        """Acquire the slots for a large push. Raises Limited if that takes too long."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                for semaphore in self._large[len(self._held) :]:
                    await semaphore.acquire()
                    self._held.append(semaphore)
        except TimeoutError:
            raise Limited("Too many large pushes come at once", retry_after=1) from None

    def leave(self) -> None:
        for semaphore in self._held:
            semaphore.release()


class MetricsReceiver(Protocol):
    """Receives metrics; *state* is the return value of `admit`."""

    async def admit(self, id_: UUID | None, token: str, type_: str) -> Any:
        """Authorize a push. Raises Unauthorized, Limited."""

    def room(self, state: Any) -> AbstractAsyncContextManager[PushAdmission]:
        """Enter it before reading the body: a monitor's pushes wait for each other. Raises Limited."""

    async def remote_write(self, state: Any, body: bytes, *, second: bool) -> PushOutcome:
        """Store a remote-write body, of version 2 if *second*. Raises Invalid, Unavailable."""

    async def otlp(self, state: Any, body: bytes, *, json: bool) -> PushOutcome:
        """Store an OTLP request. Raises Invalid, Unavailable."""


class NoMetricsReceiver:
    """Rejects everything, where no metrics are received."""

    async def admit(self, id_: UUID | None, token: str, type_: str) -> Any:
        del id_, token, type_
        raise Unauthorized(NOT_ADMITTED)

    @asynccontextmanager
    async def room(self, state: Any) -> AsyncIterator[PushAdmission]:
        del state
        yield PushAdmission(asyncio.Semaphore())

    async def remote_write(self, state: Any, body: bytes, *, second: bool) -> PushOutcome:
        del state, body, second
        raise Unavailable("no metrics are taken here")

    async def otlp(self, state: Any, body: bytes, *, json: bool) -> PushOutcome:
        del state, body, json
        raise Unavailable("no metrics are taken here")


def bare(token: str) -> str:
    """The token without the monitor id that may precede it."""
    head, dot, rest = token.partition(".")
    return rest if dot and ids.read("mon", head) else token


def named(token: str) -> UUID | None:
    """The monitor id that precedes the token."""
    return ids.read("mon", token.partition(".")[0])


def shown(monitor: Monitor, config: Mapping[str, Any], base_url: str, otlp_url: str) -> dict[str, Any]:
    """*config* with the URLs to push to; *base_url* is that of the API."""
    id_ = ids.show("mon", monitor.id)
    if monitor.type == ReceiverType.PROMETHEUS:
        return {**config, "ingestUrl": f"{base_url}/ingest/prometheus/{id_}"}
    if monitor.type == ReceiverType.OPENTELEMETRY:
        over_http = f"{base_url}/ingest/otlp/{id_}"
        endpoint = otlp_url if config["otlpProtocol"] == "grpc" else over_http
        token = config["authToken"]
        return {**config, "endpoint": endpoint, "authToken": f"{id_}.{bare(token)}"}
    return dict(config)


async def page(
    db: Db, monitor: Monitor, metric: str | None, limit: int, offset: int
) -> tuple[list[SeriesValue], int]:
    """A page of its series and their total number. Raises Invalid."""
    if monitor.type not in TYPES:
        raise Invalid({"type": f"a monitor of type {monitor.type} takes no metrics"})
    async with db.connection() as tx:
        return await table.page(tx, monitor.team_id, monitor.id, metric, limit, offset)


def number(value: float | None) -> float | str | None:
    """The value as JSON can represent it."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
