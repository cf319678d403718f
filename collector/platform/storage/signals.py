"""Signals between collectors: rows, and the NOTIFY that saves waiting for them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from collector.platform.storage.db import Tx

_CHANNEL = "tocsin_signals"
_PROOF_OF_LIFE_S = 30


@dataclass(frozen=True, slots=True)
class Signal:
    """*left_s*: remaining validity by the database's clock."""

    signal: int
    kind: str
    payload: dict[str, Any]
    left_s: float


async def add(tx: Tx, kind: str, payload: dict[str, Any], lasts: timedelta) -> None:
    """Insert a signal that is valid for *lasts*."""
    await tx.execute(
        "INSERT INTO signals (kind, payload, until) VALUES ($1, $2, now() + $3::interval)",
        kind,
        payload,
        lasts,
    )


async def add_all(tx: Tx, kind: str, payloads: Sequence[dict[str, Any]], lasts: timedelta) -> None:
    """Insert many signals of one kind; see `add`."""
    await tx.execute(
        "INSERT INTO signals (kind, payload, until) SELECT $1, unnest($2::jsonb[]), now() + $3::interval",
        kind,
        list(payloads),
        lasts,
    )


async def unread(tx: Tx, floor: int, seen: Sequence[int], limit: int) -> list[Signal]:
    """The oldest valid signals above *floor* and not in *seen*; numbers may commit in any order."""
    rows = await tx.fetch(
        """
        SELECT signal, kind, payload, extract(epoch FROM until - now())::float8 AS left_s FROM signals
        WHERE signal > $1 AND signal <> ALL($2::bigint[]) AND until > now()
        ORDER BY signal LIMIT $3
        """,
        floor, seen, limit,
    )  # fmt: skip
    return [Signal(**row) for row in rows]


async def expire(tx: Tx) -> None:
    await tx.execute("DELETE FROM signals WHERE until < now()")


async def notify(tx: Tx) -> None:
    """Wake the readers of other collectors."""
    await tx.execute("SELECT pg_notify($1, '')", _CHANNEL)


async def listen(tx: Tx, hear: Callable[[], None]) -> None:
    """Call *hear* now and at each NOTIFY; return when the connection is lost."""
    gone = asyncio.Event()

    def heard(*_: object) -> None:
        hear()

    def ended(_: object) -> None:
        gone.set()

    tx.add_termination_listener(ended)
    await tx.add_listener(_CHANNEL, heard)
    hear()  # notifications from before this point
    try:
        while not gone.is_set():
            await _prove(tx, gone)
    finally:
        if not gone.is_set():
            tx.remove_termination_listener(ended)
            await tx.remove_listener(_CHANNEL, heard)


async def _prove(tx: Tx, gone: asyncio.Event) -> None:
    """Ping the server now and then: a connection whose peer vanished does not report it."""
    try:
        async with asyncio.timeout(_PROOF_OF_LIFE_S):
            await gone.wait()
    except TimeoutError:
        await tx.execute("SELECT 1")
