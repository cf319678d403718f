"""The operator's commands for probes, as processes beside a database that others use."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from probe.link.enrol import CredentialKeeper
from shared import join_tokens
from shared.clock import utc_now
from shared.tokens import new_key
from tests.probes.peer import Collector, collecting

pytestmark = pytest.mark.races

KEY = new_key()


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db, keyring=Keyring.parse(KEY)) as one:
        yield one


async def tocsin(url: str, *arguments: str) -> tuple[int, str, str]:
    """Exit status, output, and what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", *arguments,
        env={**kept, "TOCSIN_DATABASE_URL": url, "TOCSIN_SECRET_KEY": KEY},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, data = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), data.decode()


async def test_a_token_from_the_command_joins_a_probe_that_is_listed_drained_and_revoked(
    collector: Collector, database_url: str, tmp_path: Path
) -> None:
    status, token, _ = await tocsin(database_url, "probe-token", "create", "--location", "eu", "--ttl", "5m")
    assert status == 0
    join_tokens.read(token.removesuffix("\n"))
    keeper = CredentialKeeper(
        tmp_path,
        [f"127.0.0.1:{collector.port}"],
        token=token.strip(),
        locations=["eu"],
        now=utc_now,
    )
    await keeper.begin()

    _, listed, _ = await tocsin(database_url, "probes", "list")
    [row] = listed.splitlines()[1:]
    id_ = row.split()[0]
    assert ("eu" in row, "offline" in row, "every team" in row) == (True, True, True)

    assert (await tocsin(database_url, "probes", "drain", id_))[:2] == (0, f"{id_}: drained\n")
    assert (await tocsin(database_url, "probes", "revoke", id_))[:2] == (0, f"{id_}: revoked\n")
    assert "revoked" in (await tocsin(database_url, "probes", "list"))[1]
    [probe] = await collector.fetch("SELECT team_id, draining_at, revoked_at FROM probes")
    assert probe["team_id"] is None
    assert None not in (probe["draining_at"], probe["revoked_at"])


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("probe-token", "create", "--location", "No"), 2, "location"),
        (("probe-token", "create", "--location", "eu", "--ttl", "1y"), 2, "--ttl"),
        (("probe-token", "create", "--location", "eu", "--uses", "0"), 2, "--uses"),
        (("probe-token", "create"), 2, "--location"),
        (("probes", "revoke", "nobody"), 1, "no probe is called nobody"),
        (("probes", "list", "--data-dri", "x"), 2, "did you mean"),
    ],
)
async def test_what_cannot_be_done_is_said(
    database_url: str, arguments: tuple[str, ...], status: int, word: str
) -> None:
    found, _, text = await tocsin(database_url, *arguments)

    assert found == status
    assert word in text
    assert "Traceback" not in text
