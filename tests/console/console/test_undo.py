"""What was just done is taken back by a button of its message, which works without scripts."""

import base64
import re

import orjson
import pytest

from shared.ids import show, uuid7
from tests.console.client import Console

pytestmark = pytest.mark.shares_server

_UNDO = re.compile(r'data-toast>.*?action="([^"]+)"', re.DOTALL)


async def undo(console: Console) -> str:
    """The path that the button of the page's message posts to."""
    assert console.last is not None
    match = _UNDO.search(console.last.text)
    assert match is not None, console.last.words
    return match[1]


async def test_a_resolved_incident_is_reopened(console: Console) -> None:
    made = await console.api.post("/v1/incidents", {"title": "It is slow"})
    here = f"/incidents/{made.json['id']}"
    await console.sign_in()
    await console.get(here)

    await console.post(f"{here}/resolve")
    page = await console.post(await undo(console))

    assert "Incident reopened." in page.words
    assert (await console.api.get(f"/v1{here}")).json["status"] == "open"


@pytest.mark.parametrize(
    ("action", "fields", "state"),
    [("pause", {}, "pausedAt"), ("silence", {"duration": "3600"}, "silencedUntil")],
)
async def test_a_paused_or_muted_monitor_is_so_no_longer(
    console: Console, action: str, fields: dict[str, str], state: str
) -> None:
    body = {"name": "Shop", "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}}
    here = f"/monitors/{(await console.api.post('/v1/monitors', body)).json['id']}"
    await console.sign_in()
    await console.get(here)

    await console.post(f"{here}/{action}", fields)
    assert (await console.api.get(f"/v1{here}")).json[state] is not None
    await console.post(await undo(console))

    assert (await console.api.get(f"/v1{here}")).json[state] is None


@pytest.mark.parametrize(
    "path", [f"/monitors/{show('mon', uuid7())}/delete", "//evil.example.com/a_0/pause", "/sign-out", 7]
)
async def test_a_forged_message_undoes_nothing_else(console: Console, path: object) -> None:
    await console.sign_in()
    forged = base64.urlsafe_b64encode(orjson.dumps(["good", "Saved.", path])).decode()
    cookies = "; ".join([f"{name}={text}" for name, text in console.cookies.items()])

    page = await console.get("/monitors", headers={"Cookie": f"{cookies}; tocsin_said={forged}"})

    assert "Saved." in page.words
    assert "Undo" not in page.words
