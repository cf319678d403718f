"""Passwords are hashed few at a time, in turn between those who ask, and never beside an open transaction."""

import asyncio

import pytest

from collector.accounts.core import passwords
from collector.accounts.service import password_hashes
from collector.platform.prepared import begun_again
from collector.platform.storage.db import Db
from shared.errors import Limited
from shared.held import STRICTNESS, WhileHeld

pytestmark = pytest.mark.races


@pytest.fixture
def _holds_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connections of these tests stand for the product's."""
    monkeypatch.setattr(STRICTNESS, "counts", lambda: True)


async def test_a_stored_password_is_matched_by_itself_alone() -> None:
    kept = await password_hashes.stored("a long password", "one")

    assert await password_hashes.matches("a long password", kept, "one")
    assert not await password_hashes.matches("another password", kept, "one")


async def test_who_asks_for_very_many_is_refused_and_holds_up_nobody_else() -> None:
    flood = [asyncio.create_task(password_hashes.stored(f"password {n}", "flood")) for n in range(60)]
    await asyncio.sleep(0)

    await password_hashes.stored("another's password", "another")

    waiting = [task for task in flood if not task.done()]
    assert len(waiting) > 15
    refused = [task for task in flood if task.done() and isinstance(task.exception(), Limited)]
    assert len(refused) > 30
    for task in waiting:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


@pytest.mark.usefixtures("_holds_count")
async def test_hashing_while_a_connection_is_held_is_a_fault(db: Db) -> None:
    async with db.transaction():
        with pytest.raises(WhileHeld):
            await password_hashes.stored("a long password", "one")


@pytest.mark.usefixtures("_holds_count")
async def test_a_transaction_that_needs_a_hash_is_begun_again_with_it(db: Db) -> None:
    begun: list[str] = []

    async def attempt() -> str:
        async with db.transaction() as tx:
            begun.append(await tx.fetchval("SELECT pg_current_xact_id()::text"))
            return await password_hashes.stored("a long password", "one")

    kept = await begun_again(attempt)

    assert passwords.matches("a long password", kept)
    assert len(set(begun)) == 2
