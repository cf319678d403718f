"""Secrets seeded everywhere come out nowhere: readers' answers, refusals, logs, events, the audit log."""

import logging
from typing import Any

import pytest
import pytest_asyncio

from collector.accounts.service import tokens
from collector.platform.access import Permission
from tests.http.client import Answer, Api
from tests.http.route_table import BODIES, CHANGES, OWN_MAKERS, UNDER_V1, collection, made, prepared

pytestmark = pytest.mark.shares_server

# In every secret, and too far from its end to be shown by a mask.
MARK = "s33ded"
# Never ends; what it sends are the rows of *events*, which are looked at below.
STREAMS = {"/v1/events"}
READS = [(path, needs) for method, path, needs in UNDER_V1 if method == "GET" and path not in STREAMS]

MONITOR = {
    "name": "shop",
    "type": "http",
    "config": {
        "url": f"https://robot:{MARK}-password@shop.example.com/?api_key={MARK}-query",
        "headers": {"Authorization": f"Bearer {MARK}-header"},
        "body": f"key={MARK}-body",
        "auth": {"type": "basic", "username": "robot", "password": f"{MARK}-basic"},
    },
}
CHANNEL = {
    "name": "Ops",
    "type": "webhook",
    "config": {
        "url": f"https://hooks.example.com/{MARK}-path-of-the-hook",
        "headers": {"X-API-Key": f"{MARK}-key-of-the-hook"},
        "signingSecret": f"{MARK}-signing-secret",
    },
}
# What a careless caller may send to the wrong place.
SPILLED: dict[str, Any] = {
    "name": 7,
    "type": f"{MARK}-type",
    "config": {"url": f"{MARK} is no URL", "headers": {"Authorization": [MARK]}, "auth": MARK, "port": MARK},
    "token": MARK,
    "email": f"{MARK} is no address",
    "password": MARK,
    "permission": MARK,
    "role": MARK,
    "severity": MARK,
    "duration": MARK,
    "locations": [f"{MARK} is no location"],
    "action": MARK,
}


@pytest_asyncio.fixture(loop_scope="module")
async def seeded(team: Api) -> dict[str, str]:
    return await seed(team)


async def seed(api: Api) -> dict[str, str]:
    """The ids of a monitor and a channel that are full of secrets, by the path of their collection."""
    async with api.context.db.transaction() as tx:
        await tokens.issue(
            tx,
            team_id=api.team_id,
            user_id=api.user_id,
            name="robot",
            permission=Permission.ADMIN,
            now=api.clock(),
            value=f"{MARK}-token-of-operator-{api.team_id}",
        )
    monitor = await api.post("/v1/monitors", MONITOR)
    channel = await api.post("/v1/alert-channels", CHANNEL)
    assert (monitor.status, channel.status) == (201, 201)
    return {"/v1/monitors": monitor.json["id"], "/v1/alert-channels": channel.json["id"]}


async def known(api: Api, seeded: dict[str, str], path: str) -> str:
    """*path* of the seeded thing, or of a new one where none was seeded."""
    if "{" not in path:
        return path
    if path in OWN_MAKERS or collection(path) not in seeded:
        return await made(api, path)
    return path.replace("{id}", seeded[collection(path)])


def clean(api: Api, answer: Answer) -> None:
    text = str(answer.headers) + answer.body.decode(errors="replace")  # a PDF is no text
    assert MARK not in text
    assert api.token is not None
    assert api.token not in text


@pytest.mark.parametrize(("path", "needs"), READS)
async def test_no_answer_shows_a_secret_to_a_reader(
    team: Api, seeded: dict[str, str], path: str, needs: Permission
) -> None:
    """An admin reads what only admins may read: no secret is shown there, either."""
    reader = team if needs is Permission.ADMIN else await team.reader()

    query = f"?ids={seeded['/v1/monitors']}" if path == "/v1/monitors/uptime" else ""
    answer = await reader.get(await known(team, seeded, path) + query)

    assert answer.status == 200, answer.body
    clean(team, answer)


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_no_refusal_repeats_what_was_sent(
    team: Api, seeded: dict[str, str], method: str, path: str
) -> None:
    answer = await team.call(method, await known(team, seeded, path), SPILLED)

    if answer.status >= 400:
        clean(team, answer)


async def test_nothing_is_logged_or_told_of_a_secret(
    api: Api,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Do each action once to resources full of secrets, then search all that reports actions for them."""
    caplog.set_level(logging.DEBUG)
    monitor, channel = (await seed(api)).values()
    await api.post(f"/v1/monitors/{monitor}/silence", {"duration": 60, "reason": "known"})
    await api.post("/v1/incidents", {"title": "smoke", "monitorId": monitor})
    for verb in ("pause", "resume"):
        await api.post(f"/v1/monitors/{monitor}/{verb}")
    await api.put(f"/v1/monitors/{monitor}", {"config": {"headers": {"X-Key": f"{MARK}-2"}}})
    await api.put(f"/v1/alert-channels/{channel}", {"config": {"signingSecret": f"{MARK}-2-signing"}})
    await api.post(f"/v1/alert-channels/{channel}/test")
    invited = (await api.post("/v1/users", {"email": "new@example.com", "name": "New"})).json
    joining = (await api.post("/v1/probe-tokens", {"location": "eu"})).json["token"]
    for method, path in CHANGES:
        await api.call(method, await prepared(api, method, path), SPILLED)
        await api.call(method, await prepared(api, method, path), BODIES.get((method, path)))
    for id_, path in ((monitor, "/v1/monitors"), (channel, "/v1/alert-channels")):
        assert (await api.delete(f"{path}/{id_}")).status in (204, 404)

    kept = await _told(api, "events", "timeline", "audit_log", "incidents", "deliveries", "signals", "tokens")
    out, text = capfd.readouterr()
    secrets = [MARK, str(api.token), invited["invitationUrl"].rpartition("/")[2], joining]
    for secret in secrets:
        assert secret not in kept
        assert secret not in out + text + caplog.text


async def _told(api: Api, *tables: str) -> str:
    """All rows of *tables* as text, as a dump of them would be."""
    lines = []
    async with api.context.db.connection() as tx:
        for table in tables:
            lines += [row["line"] for row in await tx.fetch(f"SELECT t::text AS line FROM {table} t")]
    assert len(lines) > len(CHANGES)
    return "\n".join(lines)
