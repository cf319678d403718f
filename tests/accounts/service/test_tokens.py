"""Tokens are found by their whole value, and nothing that cannot be one is looked for."""

from datetime import timedelta

import asyncpg
import pytest

from collector.accounts.service import tokens
from collector.accounts.service.tokens import StoredTokenFinder
from collector.bootstrap import bootstrap
from collector.platform.access import Permission
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import TocsinError
from shared.tokens import PREFIX, new_token


@pytest.mark.parametrize(
    "value", ["", "short", "x" * 513, PREFIX, new_token()[:-1], new_token()[:-1] + "!", PREFIX + "a" * 40]
)
async def test_what_cannot_be_a_token_is_refused_without_asking_the_database(
    database_url: str, value: str
) -> None:
    away = await Db.open(database_url, size=1, name="test")
    await away.close()
    finder = StoredTokenFinder(away)

    assert await finder.find(value, utc_now()) is None
    with pytest.raises((TocsinError, asyncpg.InterfaceError)):
        await finder.find(new_token(), utc_now())
    await finder.close()


async def test_a_token_whose_beginning_is_right_is_none(db: Db) -> None:
    chosen = "a token that a person chose"
    made = await bootstrap(db, plan="free", admin_email="a@example.com", token=chosen, now=utc_now())
    assert made is not None

    for value in (chosen + "x", chosen[:-1], chosen.upper(), f" {chosen}"):
        assert await tokens.find(db, value, utc_now()) is None
    assert await tokens.find(db, chosen, utc_now()) is not None


async def test_a_token_counts_until_its_end_and_not_at_it(db: Db) -> None:
    made = await bootstrap(db, plan="free", admin_email="a@example.com", token=None, now=utc_now())
    assert made is not None
    end = utc_now() + timedelta(days=30)
    async with db.transaction() as tx:
        value = await tokens.issue(
            tx,
            team_id=made.team_id,
            user_id=made.user_id,
            name="brief",
            permission=Permission.READ_ONLY,
            now=utc_now(),
            expires_at=end,
        )

    assert await tokens.find(db, value, end - timedelta(microseconds=1)) is not None
    assert await tokens.find(db, value, end) is None


async def test_only_a_hash_of_a_token_is_kept_and_its_first_letters(db: Db) -> None:
    made = await bootstrap(db, plan="free", admin_email="a@example.com", token=None, now=utc_now())
    assert made is not None

    async with db.connection() as tx:
        row = await tx.fetchval("SELECT t::text FROM tokens t")
        hint = await tx.fetchval("SELECT hint FROM tokens")
    assert made.token.startswith(hint)
    assert len(hint) == len(PREFIX) + 4
    assert made.token[: len(hint) + 1] not in row
