"""Signals between processes: each heard once by everyone, whatever happens to the hint and the order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from collector.platform import signals
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from shared.loop import forever
from tests.probes.ground import eventually, fetch

pytestmark = pytest.mark.races

MINUTE = timedelta(minutes=1)


async def send(db: Db, number: int, *, lasts: timedelta = MINUTE, kind: str = "plan") -> None:
    async with db.transaction() as tx:
        await signals.send(tx, kind, {"number": number}, lasts)


class Ear:
    """Remembers what it heard, and can be waited for."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self._came = asyncio.Event()

    async def __call__(self, payload: dict[str, Any]) -> None:
        self.heard.append(payload["number"])
        self._came.set()

    async def hears(self, count: int) -> list[int]:
        async with asyncio.timeout(10):
            while len(self.heard) < count:
                await self._came.wait()
                self._came.clear()
        return self.heard


@asynccontextmanager
async def listening(reader: Signals) -> AsyncIterator[None]:
    """A reader that hears the NOTIFY, and whose own clock would wake it only in an hour."""
    tasks = [
        asyncio.create_task(forever("signals", reader.turn, timedelta(hours=1), reader.bell)),
        asyncio.create_task(forever("ears", reader.listen, timedelta(milliseconds=20))),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_every_process_hears_a_signal_once(db: Db) -> None:
    readers = [Signals(db), Signals(db)]
    ears = [Ear(), Ear()]
    for reader, ear in zip(readers, ears, strict=True):
        reader.subscribe("plan", ear)
    await send(db, 1)
    await send(db, 2)
    for reader in readers * 2:
        await reader.turn()

    assert [ear.heard for ear in ears] == [[1, 2], [1, 2]]


async def test_a_signal_that_commits_late_is_heard_although_later_ones_were(db: Db) -> None:
    reader, ear = Signals(db), Ear()
    reader.subscribe("plan", ear)
    async with db.transaction() as slow:
        await signals.send(slow, "plan", {"number": 1}, MINUTE)
        await send(db, 2)
        await reader.turn()
        assert ear.heard == [2]
    await reader.turn()

    assert ear.heard == [2, 1]


async def test_a_rolled_back_transaction_told_nothing(db: Db) -> None:
    reader, ear = Signals(db), Ear()
    reader.subscribe("plan", ear)
    with pytest.raises(LookupError):
        async with db.transaction() as tx:
            await signals.send(tx, "plan", {"number": 1}, MINUTE)
            raise LookupError
    await reader.turn()

    assert ear.heard == []


async def test_what_is_past_is_not_heard_and_goes_away(db: Db) -> None:
    reader, ear = Signals(db), Ear()
    reader.subscribe("plan", ear)
    await send(db, 1, lasts=-MINUTE)
    await reader.turn()

    assert ear.heard == []
    assert await fetch(db, "SELECT signal FROM signals") == []


async def test_one_that_fails_to_hear_stops_no_other(db: Db) -> None:
    reader, ear = Signals(db), Ear()

    async def deaf(_: dict[str, Any]) -> None:
        raise LookupError

    reader.subscribe("plan", deaf)
    reader.subscribe("plan", ear)
    await send(db, 1)
    await reader.turn()

    assert ear.heard == [1]


async def test_only_the_kind_that_was_asked_for_is_heard_and_only_until_it_is_given_up(db: Db) -> None:
    reader, ear = Signals(db), Ear()
    stop = reader.subscribe("plan", ear)
    await send(db, 1)
    await send(db, 2, kind="run")
    await reader.turn()
    stop()
    await send(db, 3)
    await reader.turn()

    assert ear.heard == [1]


async def test_an_unknown_kind_is_refused(db: Db) -> None:
    with pytest.raises(ValueError, match="no such kind"):
        await send(db, 1, kind="plans")


async def test_ring_wakes_the_reader_here_and_the_readers_elsewhere(db: Db) -> None:
    here, there = Signals(db), Signals(db)
    near, far = Ear(), Ear()
    here.subscribe("plan", near)
    there.subscribe("plan", far)
    async with listening(here), listening(there):
        await until_listening(db, 2)
        await send(db, 1)
        here.ring()

        assert await near.hears(1) == [1]
        assert await far.hears(1) == [1]


async def test_a_lost_listening_connection_is_replaced(db: Db) -> None:
    here, there, far = Signals(db), Signals(db), Ear()
    there.subscribe("plan", far)
    async with listening(there):
        await until_listening(db, 1)
        await fetch(db, f"SELECT pg_terminate_backend(pid) {LISTENERS}")
        await until_listening(db, 1)
        await send(db, 1)
        here.ring()
        await here.turn()

        assert await far.hears(1) == [1]


@pytest.mark.oldest
async def test_a_listening_connection_is_asked_for_a_sign_of_life(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.platform.storage.signals._PROOF_OF_LIFE_S", 0.01)

    async def asked() -> bool:
        # Others on the server ask the same.
        here = "datname = current_database() AND query = 'SELECT 1'"
        return bool(await fetch(db, f"SELECT FROM pg_stat_activity WHERE {here}"))

    async with listening(Signals(db)):
        await eventually(asked)


async def test_a_crowd_of_signals_costs_bounded_memory_and_each_is_heard_once(db: Db) -> None:
    reader, ear = Signals(db), Ear()
    reader.subscribe("plan", ear)
    await fetch(
        db,
        """
        INSERT INTO signals (kind, payload, until)
        SELECT 'plan', jsonb_build_object('number', n), now() + interval '1 hour'
        FROM generate_series(1, 12000) AS n
        """,
    )
    while await reader.turn():
        pass
    await reader.turn()

    assert ear.heard == list(range(1, 12001))
    assert len(reader._seen) <= 10_000


LISTENERS = "FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'"


async def test_what_was_heard_is_remembered_for_as_long_as_it_can_be_found(db: Db) -> None:
    """However our wall clock and the database's stand to each other."""
    elapsed = [0.0]
    reader, ear = Signals(db, clock=lambda: elapsed[0]), Ear()
    reader.subscribe("plan", ear)
    await send(db, 1, lasts=10 * MINUTE)
    for elapsed[0] in (1.0, 60.0, 599.0, 659.0):
        await reader.turn()
        assert ear.heard == [1]
    assert len(reader._seen) == 1
    await fetch(db, "UPDATE signals SET until = now()")
    elapsed[0] = 662.0
    await reader.turn()
    assert ear.heard == [1]
    assert not reader._seen


async def until_listening(db: Db, count: int) -> None:
    async def listening() -> bool:
        return len(await fetch(db, f"SELECT pid {LISTENERS}")) >= count

    await eventually(listening)
