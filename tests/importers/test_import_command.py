"""``tocsin import``: ``tocsin apply`` takes its file, and a second import changes nothing."""

import json
import shlex
import stat
from pathlib import Path

import pytest

from collector.bootstrap import bootstrap
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.accounts.cli.test_access import tocsin
from tests.importers.kuma import KumaDatabase

pytestmark = pytest.mark.races

HOOK = "https://hooks.slack.com/services/T0/B0/c"


@pytest.fixture
async def team(db: Db) -> int:
    made = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    assert made is not None
    return made.team_id


@pytest.fixture
def kuma(tmp_path: Path) -> Path:
    database = KumaDatabase(tmp_path / "kuma.db")
    database.add(
        "notification", id=1, name="Ops", active=1, config={"type": "slack", "slackwebhookURL": HOOK}
    )
    database.monitor(1, "group", name="Web")
    database.monitor(2, "http", name="Shop", url="https://user:it's@example.com", parent=1, notifications=[1])
    database.monitor(3, "ping", name="Shop", hostname="example.com", notifications=[1])
    database.monitor(4, "docker", name="Docker")
    database.add("status_page", id=1, slug="example", title="Example", published=1)
    database.add("group", id=1, name="All", weight=1, status_page_id=1)
    database.add("monitor_group", id=1, monitor_id=2, group_id=1, weight=1)
    database.add(
        "maintenance",
        id=1,
        title="Patches",
        active=1,
        strategy="recurring-weekday",
        start_date="2026-12-06",
        start_time="02:00",
        end_time="03:00",
        weekdays=[0],
        timezone="Europe/Berlin",
    )
    database.add("monitor_maintenance", monitor_id=2, maintenance_id=1)
    return database.close()


@pytest.mark.timeout(300)
async def test_the_file_is_taken_by_apply_and_a_second_import_changes_nothing(
    team: int, database_url: str, kuma: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, secrets = tmp_path / "kuma.yaml", tmp_path / "secrets.env"
    made = await tocsin(database_url, "import", "kuma", str(kuma), "-o", str(file), "--secrets", str(secrets))
    assert made[:2] == (3, "")
    assert "Docker (monitor#4)" in made[2]
    assert HOOK not in file.read_text() + made[2]
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    for line in secrets.read_text().splitlines():
        [_, assignment] = shlex.split(line)
        monkeypatch.setenv(*assignment.split("=", 1))

    command = ("apply", "-f", str(file), "--set", "kuma")
    applied = await tocsin(database_url, *command)
    again = await tocsin(database_url, "import", "kuma", str(kuma), "--apply")

    assert applied[::2] == (0, ""), applied
    assert applied[1].splitlines()[-1] == "6 created, 0 unchanged"
    assert again[:2] == (3, "")
    assert again[2].splitlines()[-1] == "applied: 0 created, 0 changed, 6 unchanged"


async def test_apply_says_which_values_the_source_does_not_show(
    team: int, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup.json"
    monitor = {
        "id": 1,
        "name": "Shop",
        "type": "http",
        "url": "https://example.com",
        "authMethod": "basic",
        "basic_auth_user": "app",
        "basic_auth_pass": "***",
    }
    file.write_text(json.dumps({"monitorList": [monitor]}))
    refused = await tocsin(database_url, "import", "kuma", str(file), "--apply")
    assert refused[0] == 2
    assert refused[2].splitlines()[-1] == (
        "tocsin: nothing was applied: these variables are not set: KUMA_SHOP_PASSWORD"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("kuma", "gone.db"), "gone.db: cannot be read: No such file or directory"),
        (("gatus", "gone.yaml"), "gone.yaml: cannot be read: No such file or directory"),
        (("healthchecks", "/dev/null"), "/dev/null: is no JSON"),
    ],
)
async def test_a_source_that_cannot_be_read(database_url: str, arguments: tuple[str, str], text: str) -> None:
    status, out, said = await tocsin(database_url, "import", *arguments)
    assert (status, out) == (2, "")
    assert text in said


async def test_the_report_as_json(database_url: str, kuma: Path) -> None:
    status, out, report = await tocsin(database_url, "import", "kuma", str(kuma), "--report", "json")
    parsed = json.loads(report)
    assert status == 3
    assert out.startswith("# Made by tocsin import from kuma.")
    assert parsed["counts"]["left out"] == 1
    assert {line["origin"]["place"] for line in parsed["lines"]} >= {
        "monitor#2",
        "monitor#4",
        "notification#1",
    }
