"""An incident is snoozed on its page; its list and the overview say so, and the message undoes it."""

import re

import pytest

from tests.console.client import Console

pytestmark = pytest.mark.shares_server


async def test_a_snooze_is_shown_everywhere_and_undone(console: Console) -> None:
    made = await console.api.post("/v1/incidents", {"title": "It is slow"})
    here = f"/incidents/{made.json['id']}"
    await console.sign_in()
    await console.get(here)

    page = await console.post(f"{here}/snooze", {"duration": "14400"})

    assert "Snoozed: reminders and escalations wait until then." in page.words
    assert re.search(r"Snoozed until \d\d \w{3} \d{4}", page.words)
    assert "snoozed, ends" in (await console.get("/incidents")).words
    assert "snoozed, ends" in (await console.get("/")).words
    await console.get(here)
    ended = await console.post(f"{here}/end-snooze")
    assert "Snooze ended: reminders and escalations go on." in ended.words
    assert (await console.api.get(f"/v1{here}")).json.get("snoozedUntil") is None


async def test_a_wrong_duration_is_reported(console: Console) -> None:
    made = await console.api.post("/v1/incidents", {"title": "It is slow"})
    here = f"/incidents/{made.json['id']}"
    await console.sign_in()
    await console.get(here)

    assert (await console.post(f"{here}/snooze", {"duration": "soon"})).status == 400
