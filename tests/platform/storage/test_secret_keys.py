"""A key is made for a new database only: what is encrypted by a key that is not here is left alone."""

from pathlib import Path

import pytest

from collector.platform import secret_key_file
from collector.platform.storage import secret_keys
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import CannotStart


async def test_a_database_without_a_key_is_given_the_same_one_for_ever(
    db: Db, database_url: str, tmp_path: Path
) -> None:
    made = await secret_key_file.kept(database_url, tmp_path)

    assert await secret_key_file.kept(database_url, tmp_path) == made
    assert secret_key_file.path(tmp_path).read_text().strip() == made


async def test_so_is_an_empty_database(empty_database_url: str, tmp_path: Path) -> None:
    assert await secret_key_file.kept(empty_database_url, tmp_path)


async def test_a_database_with_a_key_that_is_elsewhere_is_refused_and_names_it(
    db: Db, database_url: str, tmp_path: Path
) -> None:
    async with db.transaction() as tx:
        await secret_keys.take_up(tx, "0a1b2c3d", b"proof", utc_now())

    with pytest.raises(CannotStart, match="encrypted with key 0a1b2c3d"):
        await secret_key_file.kept(database_url, tmp_path)
    assert not secret_key_file.path(tmp_path).exists()
