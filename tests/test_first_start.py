"""A new deployment: one team, one admin, one token in its file, however many collectors start."""

import asyncio
from pathlib import Path

import pytest

from collector import first_start
from collector.services import tokens
from collector.services.bootstrap import Made
from collector.storage.db import Db
from shared.clock import utc_now
from shared.settings import CollectorSettings, load
from shared.tokens import new_token
from tests.services.ground import fetch


async def start(db: Db, directory: Path, token: str = "") -> Made | None:
    variables = {"TOCSIN_DATA_DIR": str(directory)} | ({"TOCSIN_BOOTSTRAP_TOKEN": token} if token else {})
    settings, _ = load(CollectorSettings, [], variables)
    return await first_start.prepare(db, settings)


def file(directory: Path) -> Path:
    return directory / first_start.TOKEN_FILE


async def counts(db: Db) -> tuple[int, int, int]:
    [row] = await fetch(
        db,
        """
        SELECT (SELECT count(*) FROM teams) AS teams, (SELECT count(*) FROM users) AS users,
            (SELECT count(*) FROM tokens) AS tokens
        """,
    )
    return row["teams"], row["users"], row["tokens"]


async def test_of_collectors_on_several_machines_only_the_one_that_made_the_token_has_a_file(
    db: Db, tmp_path: Path
) -> None:
    directories = [tmp_path / str(number) for number in range(6)]
    made = await asyncio.gather(*[start(db, directory) for directory in directories])
    assert await counts(db) == (1, 1, 1)
    for directory, one in zip(directories, made, strict=True):
        assert file(directory).exists() == (one is not None)
    [there] = [one for one in made if one]
    [directory] = [each for each in directories if file(each).exists()]
    assert file(directory).read_text().strip() == there.token
    assert file(directory).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("attempt", range(5))
async def test_collectors_that_share_a_directory_share_the_token(
    db: Db, tmp_path: Path, attempt: int
) -> None:
    made = await asyncio.gather(*[start(db, tmp_path / str(attempt)) for _ in range(6)])
    assert await counts(db) == (1, 1, 1)
    assert len([one for one in made if one]) == 1
    assert await tokens.find(db, file(tmp_path / str(attempt)).read_text().strip(), utc_now())
    assert [path.name for path in (tmp_path / str(attempt)).iterdir()] == [first_start.TOKEN_FILE]


async def test_a_token_that_was_given_to_all_is_in_the_file_of_each(db: Db, tmp_path: Path) -> None:
    token = new_token()
    directories = [tmp_path / str(number) for number in range(4)]
    await asyncio.gather(*[start(db, directory, token) for directory in directories])
    assert await counts(db) == (1, 1, 1)
    found = {file(directory).read_text().strip() for directory in directories if file(directory).exists()}
    assert found == {token}


async def test_a_start_that_was_cut_off_goes_on_with_the_same_token(db: Db, tmp_path: Path) -> None:
    value = new_token()
    file(tmp_path).write_text(value + "\n")
    made = await start(db, tmp_path)
    assert made is not None
    assert made.token == value


async def test_a_second_start_makes_nothing_and_leaves_the_file(db: Db, tmp_path: Path) -> None:
    made = await start(db, tmp_path)
    assert await start(db, tmp_path) is None
    assert made is not None
    assert file(tmp_path).read_text().strip() == made.token
    assert await counts(db) == (1, 1, 1)
