"""Rate limits: buckets shared by all collectors, of which each holds a share to save queries."""

import asyncio
import math
import time
from collections.abc import Mapping
from contextvars import Context
from itertools import islice
from typing import Final
from uuid import UUID

import structlog

from collector.platform.bucket import BucketRequest, BucketState, Share, TeamPlan
from collector.platform.storage import limits as table
from collector.platform.storage.db import Db
from collector.platform.storage.limits import Key
from shared.clock import SecondClock

log = structlog.get_logger()

_MOST_SHARES: Final = 20_000
_AT_ONCE: Final = 500
# Longer than a healthy database ever takes; afterwards each collector counts alone for a while.
_PATIENCE_S: Final = 1.0
_SWEEP_EVERY_S: Final = 60.0


class Limits:
    """One collector's shares of recently used buckets; the oldest are evicted.

    A token's bucket is asked before its first request; an address's bucket is assumed full. While the
    database is unavailable, each collector uses what it knows, and updates the buckets later.
    """

    def __init__(self, db: Db, plans: Mapping[str, TeamPlan], clock: SecondClock = time.monotonic) -> None:
        self._db = db
        self._plans = plans
        self._clock = clock
        self._tokens: dict[Key, Share] = {}
        self._addresses: dict[Key, Share] = {}
        self._touched: dict[Key, Share] = {}
        self._wanting: dict[Key, Share] = {}
        self._batch: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._swept_at = clock()

    async def token(self, team_id: int, token_id: UUID, plan: str) -> BucketState:
        """Take a token from the bucket of an API token; *plan* is its team's."""
        key = (team_id, token_id.bytes)
        share = self._tokens.get(key)
        if share is None or share.plan is not self._plans[plan]:
            share = self._add(self._tokens, key, self._plans[plan], known=False)
        return await self._take(key, share)

    async def address(self, address: bytes) -> BucketState:
        """Take a token from the bucket of an address."""
        key = (0, address)
        share = self._addresses.get(key) or self._add(self._addresses, key, self._plans["free"], known=True)
        return await self._take(key, share)

    def look(self, address: bytes) -> BucketState:
        """The state of an address's bucket; takes nothing."""
        now = self._clock()
        share = self._addresses.get((0, address)) or Share(self._plans["free"], now, known=True)
        return share.standing(now, admitted=True)

    async def turn(self) -> bool:
        """Report spending on credit and return idle tokens to the buckets."""
        now = self._clock()
        for key, share in list(self._touched.items()):
            if share.forgettable(now):
                self._forget(key)
        more = await self._settle(now)
        if now - self._swept_at >= _SWEEP_EVERY_S:
            self._swept_at = now
            async with self._db.connection() as tx:
                await table.sweep(tx, _AT_ONCE)
        return more

    async def close(self) -> None:
        """Return all tokens."""
        await self._settle(math.inf)

    async def _take(self, key: Key, share: Share) -> BucketState:
        now = self._clock()
        admitted = share.take(now)
        while admitted is None:
            await self._more(key, share)
            now = self._clock()
            admitted = share.take(now)
        self._touched[key] = share
        return share.standing(now, admitted=admitted)

    async def _more(self, key: Key, share: Share) -> None:
        """Ask the bucket for more, batched with all concurrent requests."""
        share.waiting += 1
        self._wanting[key] = share
        if self._batch is None:
            self._batch = asyncio.create_task(self._lease(), name="limits", context=Context())
        try:
            await asyncio.shield(self._batch)
        finally:
            share.waiting -= 1

    async def _lease(self) -> None:
        async with self._one_at_a_time:
            wanting, self._wanting, self._batch = self._wanting, {}, None
            now = self._clock()
            await self._exchange({key: (share, share.ask(now)) for key, share in wanting.items()})

    async def _settle(self, now: float) -> bool:
        async with self._one_at_a_time:
            settled = ((key, share, share.settle(now)) for key, share in list(self._touched.items()))
            asks = dict(islice(((key, (share, ask)) for key, share, ask in settled if ask), _AT_ONCE))
            if asks:
                await self._exchange(asks)
        return len(asks) == _AT_ONCE

    async def _exchange(self, asks: dict[Key, tuple[Share, BucketRequest]]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S), self._db.quick.connection() as tx:
                drawn = await table.draw(tx, {key: (ask, share.plan) for key, (share, ask) in asks.items()})
        except Exception as error:  # noqa: BLE001 - limits must never fail a request
            log.warning("rate limits are counted locally", error=type(error).__name__)
            drawn = {}
        for key, (share, _) in asks.items():
            if (answer := drawn.get(key)) is not None:
                share.granted(answer.level, answer.granted, self._clock())
            else:
                share.alone(self._clock())

    def _add(self, shares: dict[Key, Share], key: Key, plan: TeamPlan, *, known: bool) -> Share:
        if len(shares) >= _MOST_SHARES:
            self._forget(next(iter(shares)))
        share = shares[key] = Share(plan, self._clock(), known=known)
        return share

    def _forget(self, key: Key) -> None:
        for shares in (self._tokens, self._addresses, self._touched):
            shares.pop(key, None)
