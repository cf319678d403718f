"""The commands over the API, as processes against a real server: answers, exit statuses, hostile names."""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.platform.access import Permission
from shared.results import Status
from tests.http.client import Api
from tests.http.far_end import answering
from tests.monitors.monitors import make, probe, shown

pytestmark = pytest.mark.races

GOOD = {"status": Status.UP, "code": 204, "error": "", "durationUs": 34_567}
BAD = {"status": Status.DOWN, "code": 0, "error": "connection refused", "durationUs": 1_200}


class Terminal:
    """Runs commands as one user, with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        self.environment = {**kept, "XDG_CONFIG_HOME": str(home)}

    async def run(self, *arguments: str, stdin: str = "", **variables: str) -> tuple[int, str, str]:
        """Return the exit status, and what stdout and stderr got."""
        process = await self.start(*arguments, **variables)
        out, data = await process.communicate(stdin.encode())
        assert process.returncode is not None
        return process.returncode, out.decode(), data.decode()

    async def start(self, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "shared.command", *arguments,
            env={**self.environment, **variables},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def json(self, *arguments: str) -> Any:
        status, out, text = await self.run(*arguments, "--json")
        assert status == 0, text
        return json.loads(out)


@pytest.fixture
async def terminal(api: Api, tmp_path: Path) -> Terminal:
    """A user who has signed in."""
    terminal = Terminal(tmp_path)
    assert api.token is not None
    status, out, text = await terminal.run("login", "--url", f"{api.url}/v1/", stdin=f"{api.token}\n")
    assert (status, text) == (0, ""), text
    assert "as Admin (admin)" in out
    return terminal


async def raised(api: Api, title: str = "Shop is slow", **fields: Any) -> str:
    answer = await api.post("/v1/incidents", {"title": title, "severity": "high", **fields})
    assert answer.status == 201
    return str(answer.json["id"])


async def test_a_sign_in_is_kept_for_its_user_alone_and_forgotten_on_request(
    api: Api, terminal: Terminal
) -> None:
    file = terminal.home / "tocsin" / "login.json"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {"url": f"{api.url}/v1", "token": api.token}
    assert (await terminal.run("logout"))[0] == 0
    assert not file.exists()
    status, out, text = await terminal.run("monitors", "list")
    assert (status, out) == (2, "")
    assert "tocsin login" in text


async def test_a_token_that_is_refused_is_not_kept(api: Api, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)

    status, out, _ = await terminal.run("login", "--url", api.url, stdin="not-the-token-of-anybody\n")

    assert (status, out) == (1, "")
    assert not (tmp_path / "tocsin" / "login.json").exists()


async def test_a_stored_token_is_sent_to_its_service_alone(terminal: Terminal) -> None:
    status, _, text = await terminal.run("monitors", "list", "--url", "http://127.0.0.1:9")

    assert status == 2
    assert "TOCSIN_TOKEN" in text


async def test_variables_do_without_a_sign_in(api: Api, tmp_path: Path) -> None:
    assert api.token is not None
    await make(api)

    status, out, _ = await Terminal(tmp_path).run(
        "monitors", "list", TOCSIN_URL=api.url, TOCSIN_TOKEN=api.token
    )

    assert status == 0
    assert out.splitlines()[1].split()[1:5] == ["shop", "http", "up", "1"]


async def test_lists_are_filtered_counted_and_read_to_their_end(api: Api, terminal: Terminal) -> None:
    for number in range(120):
        await make(api, name=f"shop {number}", group="web" if number % 2 else "db")

    assert len(await terminal.json("monitors", "list")) == 120
    assert len(await terminal.json("monitors", "list", "--limit", "101")) == 101
    assert len(await terminal.json("monitors", "list", "--group", "web")) == 60
    assert [item["name"] for item in await terminal.json("monitors", "list", "--search", "SHOP 119")] == [
        "shop 119"
    ]
    assert (await terminal.run("monitors", "list", "--status", "down", "--exit-code"))[0] == 0
    assert (await terminal.run("monitors", "list", "--status", "up", "--exit-code"))[0] == 3


async def test_a_monitor_is_meant_by_its_name_if_that_is_unique(api: Api, terminal: Terminal) -> None:
    id_ = await make(api, name="Front page")
    await make(api, name="Front page of the shop")
    for _ in range(2):
        await make(api, name="Twice")

    assert (await terminal.json("monitors", "show", "front page"))["id"] == id_
    several, none = (
        await terminal.run("monitors", "show", "Twice"),
        await terminal.run("monitors", "show", "Front"),
    )
    assert several[::2] == (1, "tocsin: several monitors are called Twice\n")
    assert none[0] == 1
    assert "no monitor is called Front; there is Front page" in none[2]


async def test_a_monitor_is_paused_resumed_and_silenced(api: Api, terminal: Terminal) -> None:
    id_ = await make(api)

    assert (await terminal.run("monitors", "pause", "shop"))[:2] == (0, "shop: paused\n")
    assert (await shown(api, id_))["status"] == "paused"
    assert (await terminal.run("monitors", "resume", id_))[:2] == (0, f"{id_}: up\n")
    assert (await terminal.run("monitors", "silence", "shop", "--for", "2h", "--reason", "Move"))[0] == 0
    assert (await shown(api, id_))["silencedUntil"] is not None
    assert (await terminal.run("monitors", "unsilence", "shop"))[:2] == (0, "shop: no longer silenced\n")
    assert (await shown(api, id_))["silencedUntil"] is None


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [(GOOD, 0, "up: It answered in 35 ms\n"), (BAD, 1, "down: connection refused\n")],
    ids=["good", "bad"],
)
async def test_the_status_of_a_check_is_that_of_the_target(
    api: Api, terminal: Terminal, answer: dict[str, Any], status: int, text: str
) -> None:
    await make(api)
    await probe(api, "local", session=7)

    async with answering(api, answer):
        assert (await terminal.run("monitors", "check", "shop"))[:2] == (status, text)


async def test_a_check_that_no_probe_can_run_is_no_outage(api: Api, terminal: Terminal) -> None:
    await make(api)

    status, out, text = await terminal.run("monitors", "check", "shop")

    assert (status, out) == (3, "")
    assert "no probe is connected" in text


async def test_an_incident_goes_its_way_from_the_command_line(api: Api, terminal: Terminal) -> None:
    monitor_id = await make(api)
    id_ = await raised(api, monitorId=monitor_id)

    listed = await terminal.run("incidents", "list", "--exit-code")
    assert listed[0] == 3
    assert "Shop is slow" in listed[1]
    assert (await terminal.run("incidents", "snooze", id_, "--for", "30m"))[0] == 0
    assert (await terminal.run("incidents", "ack", "shop"))[:2] == (0, f"{id_}: acknowledged\n")
    assert (await terminal.run("incidents", "ack", id_))[0] == 1
    assert (await terminal.run("incidents", "note", id_, "Looking into it"))[0] == 0
    assert (await terminal.run("incidents", "resolve", id_, "Restarted"))[:2] == (0, f"{id_}: resolved\n")
    details = await terminal.json("incidents", "show", id_)
    assert (details["resolutionNote"], details["notes"][0]["text"]) == ("Restarted", "Looking into it")
    assert [event["type"] for event in details["timeline"]] == [
        "created",
        "snoozed",
        "acknowledged",
        "note_added",
        "resolved",
    ]
    assert (await terminal.run("incidents", "list", "--exit-code"))[0] == 0
    assert (await terminal.run("incidents", "reopen", id_, "Too early"))[:2] == (0, f"{id_}: open\n")


async def test_events_are_printed_as_they_happen_and_the_missed_ones_on_request(
    api: Api, terminal: Terminal
) -> None:
    tail = await terminal.start("events", "tail", "--kind", "incident.created", "--json")
    assert tail.stdout is not None
    # Its stream begins after what is stored when it connects: repeated until it is there.
    while True:
        await raised(api, "A later one")
        try:
            line = await asyncio.wait_for(tail.stdout.readline(), 1)
            break
        except TimeoutError:
            continue
    tail.terminate()
    await tail.communicate()
    event = json.loads(line)
    assert (event["event"], event["incident"]["title"]) == ("incident.created", "A later one")

    await raised(api, "One meanwhile")
    again = await terminal.start("events", "tail", "--kind", "incident.created", "--after", event["id"])
    assert again.stdout is not None
    while b"One meanwhile" not in await again.stdout.readline():
        pass
    again.terminate()
    await again.communicate()


async def test_a_token_that_may_only_read_changes_nothing(api: Api, tmp_path: Path) -> None:
    id_ = await make(api)
    reader = await api.allowed(Permission.READ_ONLY)
    assert reader.token is not None
    terminal = Terminal(tmp_path)

    status, _, text = await terminal.run(
        "monitors", "pause", id_, TOCSIN_URL=api.url, TOCSIN_TOKEN=reader.token
    )

    assert (status, (await shown(api, id_))["status"]) == (1, "up")
    assert "read" in text


async def test_names_cannot_steer_a_terminal(api: Api, terminal: Terminal) -> None:
    await raised(api, "a\u202eb \u200bc")
    await api.post("/v1/incidents", {"title": "x\x9b31m y", "severity": "low"})

    status, out, _ = await terminal.run("incidents", "list")

    assert status == 0
    assert all(letter.isprintable() for line in out.splitlines() for letter in line)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("monitors", "show"), "MONITOR: is required"),
        (("monitors", "list", "x"), "MONITOR: is not asked for by list"),
        (("monitors", "silence", "x", "--for", "soon"), "--for: must be a duration such as 30m, 2h or 1d"),
        (("monitors", "list", "--limit", "0"), "--limit: must be a number"),
        (("incidents", "note", "x"), "TEXT: is required"),
        (("incidents", "show", "x", "y"), "TEXT: is not asked for by show"),
        (("login",), "--url: is required"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
async def test_misuse_is_refused_before_anything_is_sent(
    tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    status, out, refused = await Terminal(tmp_path).run(*arguments)

    assert (status, out) == (2, "")
    assert text in refused
