"""A new deployment: one team, one admin, one token in its file, however many collectors start."""

import asyncio
import socket
from io import StringIO
from pathlib import Path

import pytest

from collector import first_start, ports
from collector.accounts.service import password_links, tokens, users
from collector.accounts.storage.password_links import LinkKind
from collector.bootstrap import FirstStart
from collector.first_start import SetupLink
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import CannotStart
from shared.settings import CollectorSettings, load
from shared.tokens import new_token
from tests.ports import free_port
from tests.probes.ground import fetch


def settings_of(directory: Path, **variables: str) -> CollectorSettings:
    named = {f"TOCSIN_{name}": value for name, value in variables.items()}
    return load(CollectorSettings, [], {"TOCSIN_DATA_DIR": str(directory), **named})[0]


async def start(db: Db, directory: Path, token: str = "") -> FirstStart | None:
    settings = settings_of(directory, **({"BOOTSTRAP_TOKEN": token} if token else {}))
    return await first_start.prepare(db, settings)


class Terminal(StringIO):
    """Shown to somebody, not kept."""

    def isatty(self) -> bool:
        return True


def greeted(directory: Path, way: SetupLink | None, out: StringIO, *, first: bool = False) -> str:
    first_start.greet(settings_of(directory), way, out, first=first)
    return out.getvalue()


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
    for directory, first in zip(directories, made, strict=True):
        assert file(directory).exists() == (first is not None)
    [there] = [first_start for first_start in made if first_start]
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


async def test_the_way_in_is_the_same_until_it_is_used_and_its_file_goes_with_it(
    db: Db, tmp_path: Path
) -> None:
    made, settings, path = await start(db, tmp_path), settings_of(tmp_path), tmp_path / first_start.LINK_FILE
    ways = [await first_start.way_in(db, settings, utc_now()) for _ in range(2)]
    link = path.read_text().strip()
    cleaner = first_start.LinkFile(db, tmp_path, utc_now)
    await cleaner.turn()

    assert ways == [SetupLink(link, path)] * 2
    assert link.startswith("http://127.0.0.1:8080/setup/")
    assert path.stat().st_mode & 0o777 == 0o600

    assert made is not None
    await users.set_password(db, "admin@localhost", made.team_id, "a long password")
    await cleaner.turn()
    assert not path.exists()
    assert await first_start.way_in(db, settings, utc_now()) is None


@pytest.mark.oldest
async def test_a_link_that_ran_out_is_made_anew_and_one_that_is_elsewhere_is_left_alone(
    db: Db, tmp_path: Path
) -> None:
    await start(db, tmp_path)
    here, there = settings_of(tmp_path), settings_of(tmp_path / "there")
    first = await first_start.way_in(db, here, utc_now())
    elsewhere = await first_start.way_in(db, there, utc_now())
    later = await first_start.way_in(db, here, utc_now() + password_links.FIRST_LIFE)

    assert first is not None
    assert elsewhere == SetupLink(None, tmp_path / "there" / first_start.LINK_FILE)
    assert not elsewhere.file.exists()
    assert later is not None
    assert later.link not in {None, first.link}


@pytest.mark.oldest
async def test_an_operator_who_names_nobody_gets_the_link_of_the_first_admin(db: Db, tmp_path: Path) -> None:
    made = await start(db, tmp_path)
    assert made is not None

    secret = await password_links.first_by_operator(db, None, None, utc_now())

    linked = await password_links.find(db, LinkKind.FIRST, secret, utc_now())
    assert (linked.team_id, linked.email) == (made.team_id, "admin@localhost")


async def test_collectors_that_start_at_once_make_one_link(db: Db, tmp_path: Path) -> None:
    await start(db, tmp_path)
    directories = [settings_of(tmp_path / str(number)) for number in range(4)]

    ways = await asyncio.gather(*(first_start.way_in(db, settings, utc_now()) for settings in directories))

    assert sum(way is not None and way.link is not None for way in ways) == 1


def test_the_link_is_shown_to_people_and_a_log_hears_where_it_is(tmp_path: Path) -> None:
    directory = tmp_path / "a dir"
    directory.mkdir()
    file(directory).write_text("x")
    way = SetupLink("http://127.0.0.1:8080/setup/the-secret", directory / first_start.LINK_FILE)

    shown, logged = greeted(directory, way, Terminal(), first=True), greeted(directory, way, StringIO())

    assert "Set up the console, once: http://127.0.0.1:8080/setup/the-secret\n" in shown
    assert "the-secret" not in logged
    assert f"by the link in '{way.file}'" in logged
    assert f"The admin token is in '{file(directory)}'" in logged
    assert f"$(cat '{file(directory)}')" in shown
    assert ("Try:" in shown, "Try:" in logged) == (True, False)


def test_a_later_start_tells_where_everything_is(tmp_path: Path) -> None:
    file(tmp_path).write_text("x")

    text = greeted(tmp_path, None, StringIO())
    waiting = greeted(tmp_path, SetupLink(None, tmp_path / first_start.LINK_FILE), StringIO())

    assert "Tocsin is ready: http://127.0.0.1:8080\n" in text
    assert str(file(tmp_path)) in text
    assert "Set up" not in text
    assert "tocsin user setup-link" in waiting


@pytest.mark.parametrize("name", ["HTTP_LISTEN", "GRPC_LISTEN", "OTLP_LISTEN"])
def test_a_port_that_is_taken_is_named_with_what_sets_another(tmp_path: Path, name: str) -> None:
    free = {each: f"127.0.0.1:{free_port()}" for each in ("HTTP_LISTEN", "GRPC_LISTEN", "OTLP_LISTEN")}
    ports.demand_free(settings_of(tmp_path, **free))
    taken = ("127.0.0.1", int(free[name].rpartition(":")[2]))
    text = f"{free[name]}.*set TOCSIN_{name}"
    with socket.create_server(taken), pytest.raises(CannotStart, match=text):
        ports.demand_free(settings_of(tmp_path, **free))
