"""``tocsin apply`` and ``tocsin export`` beside a database: what is declared, round and round."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.bootstrap import bootstrap
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.accounts.cli.test_access import KEY, deeds, tocsin
from tests.monitors.declared import SECRET, everything

pytestmark = pytest.mark.races

SHOP = """\
monitors:
  - name: Shop
    type: http
    config:
      url: https://shop.example.com/
      headers: {X-Key: "${SHOP_KEY}"}
"""


@pytest.fixture
async def team(db: Db) -> int:
    made = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    assert made is not None
    return made.team_id


def escaped(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: escaped(one) for name, one in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


@pytest.mark.timeout(300)
async def test_what_is_exported_says_nothing_to_do(
    team: int, db: Db, database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "all.json").write_bytes(orjson.dumps(escaped(everything())))

    made = await tocsin(database_url, "apply", "-f", str(tmp_path))
    noted = await deeds(db)
    exported = await tocsin(database_url, "export")
    planned = await tocsin(database_url, "apply", "-f", "-", "--plan", "--exit-code", stdin=exported[1])

    assert made[::2] == (0, ""), made
    assert exported[::2] == (0, "")
    assert (planned[0], planned[1].partition(",")[0]) == (0, "nothing to do"), planned
    assert await deeds(db) == noted
    assert {(kind, action) for _, kind, action, _ in noted if kind == "operator"} == {("operator", "create")}
    for _, out, text in (made, exported, planned):
        assert SECRET not in out + text
        assert SECRET.replace(" ", "-") not in out + text


@pytest.mark.timeout(300)
async def test_a_plan_says_what_would_change_and_a_secret_is_nowhere(
    team: int, db: Db, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    command = ("apply", "-f", str(tmp_path / "shop.yaml"))
    monkeypatch.setenv("SHOP_KEY", "the first key")
    await tocsin(database_url, *command)
    before = await deeds(db)
    monkeypatch.setenv("SHOP_KEY", "another key")

    planned = await tocsin(database_url, *command, "--plan", "--exit-code")
    told = await tocsin(database_url, *command, "--plan", "--json")

    assert planned[::2] == (3, "")
    lines = [line for line in planned[1].splitlines() if not line.startswith("!")]
    assert lines == [
        "~ monitor Shop",
        '    config.headers.X-Key: "(secret)" -> "(secret)"',
        "1 to update, 0 unchanged",
    ]
    assert orjson.loads(told[1])["changes"][0]["action"] == "update"
    assert "key" not in told[1].replace('"key":', "").replace("X-Key", "")
    assert await deeds(db) == before


async def test_files_that_cannot_be_used_change_nothing_and_are_told_whole(
    team: int, db: Db, database_url: str, tmp_path: Path
) -> None:
    bad = (
        SHOP + "    interval: soon\n  - {name: Two, type: icmp}\nrules:\n  - {name: R, channels: [nobody]}\n"
    )
    (tmp_path / "shop.yaml").write_text(bad)

    code, out, text = await tocsin(database_url, "apply", "-f", str(tmp_path / "shop.yaml"))

    assert (code, out) == (2, "")
    lines = [line.strip().partition("shop.yaml:")[2] for line in text.splitlines()[1:]]
    assert lines == [
        "6: the variable SHOP_KEY is not set",
        "7: monitor Shop: interval: must be a whole number",
        "8: monitor Two: host: Host is required",
        "10: alert rule R: channels[0]: there is no alert channel nobody",
    ]
    assert not [deed for deed in await deeds(db) if deed[1] == "operator"]


@pytest.mark.timeout(300)
async def test_each_team_has_its_own(team: int, database_url: str, tmp_path: Path) -> None:
    await tocsin(database_url, "team", "create", "Other", "--plan", "free")
    (tmp_path / "m.yaml").write_text("monitors: [{name: A, type: icmp, config: {host: a.example.com}}]")

    await tocsin(database_url, "apply", "-f", str(tmp_path / "m.yaml"), "--team", "Other")

    assert "monitors" not in (await tocsin(database_url, "export"))[1]
    assert "name: A" in (await tocsin(database_url, "export", "--team", "Other"))[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["apply", "--plan"], "--file: is required"),
        (["apply", "-f", "gone.yaml"], "gone.yaml: cannot be read"),
        (["apply", "-f", "-", "--url", "http://localhost:1"], "TOCSIN_TOKEN: is required with TOCSIN_URL"),
        (["export", "--url", "localhost"], "TOCSIN_URL: must be an http or https URL"),
        (["apply", "-f", "-", "--prune"], "prune: nothing is declared"),
    ],
)
async def test_what_cannot_be_used_ends_with_2(
    team: int, database_url: str, arguments: list[str], said: str
) -> None:
    code, out, text = await tocsin(database_url, *arguments)

    assert (code, out) == (2, "")
    assert said in text


@pytest.mark.timeout(120)
async def test_watched_files_are_applied_again_when_they_change(
    team: int, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text("monitors:\n- {name: Shop, type: icmp, config: {host: shop.example.com}}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", "apply", "-f", str(tmp_path), "--watch",
        env={**kept, "TOCSIN_DATABASE_URL": database_url, "TOCSIN_SECRET_KEY": KEY},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        first = [(await process.stdout.readline()).decode() for _ in range(3)]
        file.write_text("monitors:\n- {name: Shop, type: icmp, interval: no, config: {host: a}}\n")
        refused = [(await process.stderr.readline()).decode() for _ in range(2)]
        file.write_text(
            "monitors:\n- {name: Shop, type: icmp, interval: 30, config: {host: shop.example.com}}\n"
        )
        changed = [(await process.stdout.readline()).decode() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert (first[0], first[2]) == ("+ monitor Shop\n", "1 created, 0 unchanged\n")
    assert "nothing was changed" in refused[0]
    assert "interval" in refused[1]
    assert changed[:2] == ["~ monitor Shop\n", "    interval: 60 -> 30\n"]
    assert changed[3] == "1 changed, 0 unchanged\n"
    assert status == 0


async def test_stdin_cannot_be_watched(database_url: str) -> None:
    status, _, text = await tocsin(database_url, "apply", "-f", "-", "--watch")
    assert status == 2
    assert "--watch: stdin cannot be watched" in text
