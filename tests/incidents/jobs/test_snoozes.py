"""The end of a snooze is in the incident's timeline, whoever looks and whenever."""

from datetime import timedelta

import pytest

from collector.incidents.jobs.snoozes import Snoozes
from tests.http.client import Api
from tests.incidents.api.test_snooze import created

pytestmark = pytest.mark.oldest


async def entries(api: Api, here: str) -> list[tuple[str, str, str]]:
    events = (await api.get(f"{here}/timeline")).json["events"]
    return [(entry["type"], entry["timestamp"], entry["actor"]) for entry in events]


async def test_a_snooze_that_is_over_is_recorded_once_at_its_time(api: Api) -> None:
    here, other = await created(api), await created(api)
    until = (await api.post(f"{here}/snooze", {"duration": 60})).json["snoozedUntil"]
    await api.post(f"{other}/snooze", {"duration": 3600})
    job = Snoozes(api.context.db, now=api.clock)

    await job.turn()
    assert [type_ for type_, _, _ in await entries(api, here)] == ["created", "snoozed"]
    api.clock.ahead += timedelta(minutes=5)
    await job.turn()
    await job.turn()

    assert (await entries(api, here))[2:] == [("snooze_ended", until, "System")]
    assert [type_ for type_, _, _ in await entries(api, other)] == ["created", "snoozed"]


@pytest.mark.parametrize("action", ["acknowledge", "resolve"])
async def test_nothing_is_recorded_of_an_incident_that_is_not_open_any_more(api: Api, action: str) -> None:
    here = await created(api)
    await api.post(f"{here}/snooze", {"duration": 60})
    await api.post(f"{here}/{action}")
    api.clock.ahead += timedelta(minutes=5)

    await Snoozes(api.context.db, now=api.clock).turn()

    assert "snooze_ended" not in [type_ for type_, _, _ in await entries(api, here)]
