"""The settings pages: what they change is what the API shows, and what is secret is shown once."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from collector.platform.access import Permission
from shared import ids
from shared.ids import uuid7
from tests.console.client import Console
from tests.http.route_table import MAKERS

TOKEN = re.compile(r"tocsin_[0-9A-Za-z]{40}")
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"


async def signed_in(console: Console, path: str) -> None:
    await console.sign_in()
    await console.get(path)


async def test_a_token_made_here_works_and_is_shown_once(console: Console) -> None:
    await signed_in(console, "/settings/tokens/new")

    page = await console.post(
        "/settings/tokens", {"name": "robot", "permission": "read-only", "expiresIn": "30d", "userId": ""}
    )

    [token] = set(TOKEN.findall(page.text))
    robot = console.api.with_token(token)
    assert (await robot.get("/v1/me")).json["permission"] == "read-only"
    assert token not in (await console.get("/settings/tokens")).text
    [shown] = [item for item in (await console.api.get("/v1/tokens")).json["data"] if item["name"] == "robot"]
    assert (await console.post(f"/settings/tokens/{shown['id']}/revoke")).path == "/settings/tokens"
    assert (await robot.get("/v1/me")).status == 401


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "", "permission": "read-only"}, "Name is required"),
        ({"name": "x", "permission": "all"}, "must be one of read-only, read-write, admin"),
        ({"name": "x" * 101, "permission": "admin"}, "must be at most 100 characters long"),
        ({"name": "x", "permission": "admin", "userId": "usr_nonsense"}, "must be the id of a user"),
        ({}, "Name is required"),
    ],
)
async def test_what_is_wrong_is_told_at_its_field_in_the_api_s_words(
    console: Console, fields: dict[str, str], said: str
) -> None:
    await signed_in(console, "/settings/tokens/new")

    page = await console.post("/settings/tokens", fields)

    assert page.status == 400
    assert said in page.words
    assert 'aria-invalid="true"' in page.text


async def test_a_viewer_s_token_never_grants_more_whoever_makes_it(console: Console) -> None:
    viewer = await console.person("viewer")
    await signed_in(console, "/settings/tokens/new")

    page = await console.post(
        "/settings/tokens", {"name": "x", "permission": "admin", "userId": ids.show("usr", viewer.id)}
    )

    assert page.status == 400
    assert "must not grant more than the user's role: viewer" in page.words


async def test_users_are_invited_changed_and_removed(console: Console) -> None:
    await signed_in(console, "/settings/users/new")

    page = await console.post(
        "/settings/users", {"email": "new@example.com", "name": "New", "role": "viewer"}
    )
    assert "/invitations/" in page.text
    [new] = [
        item
        for item in (await console.api.get("/v1/users")).json["data"]
        if item["email"] == "new@example.com"
    ]
    path = f"/settings/users/{new['id']}"
    again = await console.post(
        "/settings/users", {"email": "NEW@example.com", "name": "New", "role": "viewer"}
    )
    assert (again.status, "has the address" in again.words) == (400, True)

    await console.get(path)
    assert (
        await console.post(path, {"email": "new@example.com", "name": "Newer", "role": "editor"})
    ).path == ("/settings/users")
    assert (await console.api.get(f"/v1/users/{new['id']}")).json["role"] == "editor"
    await console.post(f"{path}/delete")
    assert (await console.api.get(f"/v1/users/{new['id']}")).status == 404


async def test_the_last_admin_stays(console: Console) -> None:
    admin = await console.api.allowed(Permission.ADMIN)
    await console.post("/sign-in", {"token": admin.token})
    await console.get("/settings/users")

    page = await console.post(f"/settings/users/{ids.show('usr', console.api.user_id)}/delete")

    assert page.status == 409
    assert "last admin" in page.words


async def test_the_team_is_renamed(console: Console) -> None:
    await signed_in(console, "/settings/team")

    assert "Saved." in (await console.post("/settings/team", {"name": "Renamed"})).words
    assert (await console.api.get("/v1/team")).json["name"] == "Renamed"
    assert (await console.post("/settings/team", {"name": " "})).status == 400


async def test_a_probe_is_added_by_a_command_that_is_shown_once(console: Console) -> None:
    await signed_in(console, "/settings/probes/tokens/new")

    page = await console.post(
        "/settings/probes/tokens", {"locations": "frankfurt\r\noffice\r\n", "uses": "2", "ttl": "3600"}
    )

    command = re.search(r"TOCSIN_JOIN_TOKEN=(\S+) tocsin probe --collector localhost:7070", page.words)
    assert command is not None
    [token] = (await console.api.get("/v1/probe-tokens")).json["data"]
    assert (token["locations"], token["uses"]) == (["frankfurt", "office"], 2)
    assert command[1] not in (await console.get("/settings/probes")).text
    await console.post(f"/settings/probes/tokens/{token['id']}/delete")
    assert (await console.api.get("/v1/probe-tokens")).json["data"] == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"locations": "", "uses": "1", "ttl": "3600"}, "Locations is required"),
        ({"locations": "Not A Slug", "uses": "1", "ttl": "3600"}, "must have 1 to 63 of a-z"),
        ({"locations": "eu", "uses": "many", "ttl": "3600"}, "must be a whole number"),
        ({"locations": "eu", "uses": "0", "ttl": "3600"}, "must be between 1 and 1000"),
        ({"locations": "eu", "uses": "1", "ttl": "1.5"}, "must be a whole number"),
    ],
)
async def test_what_is_wrong_with_a_join_token_is_told(
    console: Console, fields: dict[str, str], said: str
) -> None:
    await signed_in(console, "/settings/probes/tokens/new")

    page = await console.post("/settings/probes/tokens", fields)

    assert page.status == 400
    assert said in page.words


async def test_a_probe_of_the_team_is_renamed_drained_used_again_and_revoked(console: Console) -> None:
    _, make = MAKERS["/v1/probes"]
    id_ = await make(console.api)
    await signed_in(console, "/settings/probes")
    path = f"/settings/probes/{id_}"

    async def shown() -> dict[str, Any]:
        found: dict[str, Any] = (await console.api.get(f"/v1/probes/{id_}")).json
        return found

    assert "Probe renamed" in (await console.post(f"{path}/rename", {"name": "Frankfurt"})).words
    assert (await shown())["name"] == "Frankfurt"
    assert (await console.post(f"{path}/rename", {"name": " "})).status == 400
    await console.post(f"{path}/drain")
    assert (await shown())["drainingSince"] is not None
    assert "Undrain" in (await console.get("/settings/probes")).words
    await console.post(f"{path}/undrain")
    assert (await shown())["drainingSince"] is None
    await console.post(f"{path}/revoke")
    assert (await shown())["status"] == "revoked"
    assert "Drain" not in (await console.get("/settings/probes")).words


async def test_the_audit_log_tells_who_did_what_here_and_is_filtered(console: Console) -> None:
    await signed_in(console, "/settings/team")
    await console.post("/settings/team", {"name": "Renamed"})

    page = await console.get("/settings/audit-log?action=update")

    assert "update team" in page.words
    assert "sign-in" not in page.words
    assert "127.0.0.1" in page.words
    assert "No entries" in (await console.get("/settings/audit-log?actor=nobody")).words
    assert (await console.get("/settings/audit-log?from=nonsense")).status == 400
    assert (await console.get("/settings/audit-log?page=999999&actor=%00")).status in (200, 400)


@pytest.mark.oldest
async def test_about_tells_versions_health_and_size(console: Console) -> None:
    await signed_in(console, "/settings/about")

    words = (await console.get("/settings/about")).words

    assert "PostgreSQL" in words
    assert re.search(r"Size \d+(\.\d+)? MB", words)
    assert "Probes online none of 0" in words


async def test_another_team_s_things_are_things_of_nothing(console: Console) -> None:
    other = await console.api.other_team()
    token = (await other.post("/v1/tokens", {"name": "theirs", "permission": "read-only"})).json["id"]
    user = (await other.get("/v1/users")).json["data"][0]["id"]
    await signed_in(console, "/settings/tokens")

    for path in (
        f"/settings/tokens/{token}/revoke",
        f"/settings/users/{user}/delete",
        f"/settings/users/{user}/reset",
        f"/settings/users/{user}/invite",
        f"/settings/account/sessions/{ids.show('ses', uuid7())}/end",
    ):
        assert (await console.post(path)).status == 404
    assert "theirs" not in (await console.get("/settings/tokens")).text
    assert (await other.get("/v1/tokens")).json["data"]


async def test_nobody_ends_somebody_else_s_session(console: Console) -> None:
    victim = await console.person("admin")
    await console.sign_in(victim)
    async with console.api.context.db.connection() as tx:
        id_ = await tx.fetchval("SELECT id FROM console_sessions")
    cookie = console.cookies["tocsin_session"]
    console.session.cookie_jar.clear()
    await signed_in(console, "/settings/account")

    page = await console.post(f"/settings/account/sessions/{ids.show('ses', id_)}/end")

    assert page.status == 404
    console.session.cookie_jar.clear()
    assert (await console.get("/", headers={"Cookie": f"tocsin_session={cookie}"})).path == "/"


@pytest.mark.oldest
async def test_what_people_typed_is_text_on_every_page(console: Console) -> None:
    await signed_in(console, "/settings/team")
    await console.post("/settings/team", {"name": HOSTILE})
    await console.post("/settings/tokens", {"name": HOSTILE, "permission": "read-only"})
    await console.post("/settings/users", {"email": "x@example.com", "name": HOSTILE, "role": "viewer"})
    await console.get("/settings/account", headers={"User-Agent": HOSTILE})

    for path in (
        "/",
        "/settings/account",
        "/settings/tokens",
        "/settings/users",
        "/settings/team",
        "/settings/audit-log",
    ):
        text = (await console.get(path)).text
        assert "<img src=x" not in text, path
        assert "'49" not in unescape(text), path
    for query in ("/settings/audit-log?actor=", "/sign-in?next=/"):
        assert "<img src=x" not in (await console.get(query + HOSTILE)).text


async def test_the_limits_of_the_plan_are_shown_and_told_where_they_stop_somebody(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: Any = console.api.context.plans
    monkeypatch.setitem(plans, "pro", replace(plans["pro"], monitors=0, channels=0))
    await console.sign_in()
    monitor = {"type": "tcp", "name": "Database", "config.host": "db.example.com", "config.port": "5432"}
    channel = {"type": "webhook", "name": "Ops", "config.url": "https://hooks.example.com/"}

    shown = await console.get("/settings/team")
    refused = [
        await console.post(path, fields)
        for path, fields in (("/monitors", monitor), ("/alerting/channels", channel))
    ]

    assert "600 streams of events, 10,000 mails an hour" in shown.words
    assert [page.status for page in refused] == [409, 409]
    assert "allows 0 monitors at most" in refused[0].words
    assert "allows 0 alert channels at most" in refused[1].words
