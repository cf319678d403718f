"""GET /v1/monitors/:id/explain: a monitor's state, the votes for it, and who was notified."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.accounts.storage import teams
from collector.evaluation.writer import Submission
from collector.notifications.jobs.router import Router
from collector.platform.access import Permission
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.ids import uuid7
from shared.results import Status
from tests.evaluation.world import World, make_world, writing
from tests.http.client import Api
from tests.http.rows import insert
from tests.monitors.monitors import change, make, shown

URL = "https://hooks.example.com/TOP-SECRET"
HOOK = {"name": "ops", "type": "webhook", "config": {"url": URL}}
REFUSED = "connect: refused by 127.0.0.1:1"
KEYS = {
    "status",
    "since",
    "sentence",
    "locations",
    "quorum",
    "verdict",
    "holds",
    "dependencies",
    "incident",
    "lastResults",
    "told",
    "notTold",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """A monitor whose results a writer decides about, and a client of its team."""

    world: World
    api: Api

    @property
    def id(self) -> str:
        return ids.show("mon", self.world.ids[self.world.monitors[0]])

    async def explained(self) -> dict[str, Any]:
        return await explained(self.api, self.id)

    async def submit(self, *batches: Submission) -> None:
        async with writing(self.world) as writer:
            await asyncio.gather(*(writer.submit(batch) for batch in batches))

    async def fail(self, *locations: str, times: int = 3, ago_s: float = 2) -> None:
        ago = timedelta(seconds=ago_s)
        down = [Status.DOWN] * times
        await self.submit(*(self.world.batch(*down, location=name, ago=ago) for name in locations))

    async def recover(self, location: str) -> None:
        await self.submit(self.world.batch(Status.UP, location=location, ago=timedelta()))

    async def route(self) -> None:
        router = Router(self.world.db)
        while await router.turn():
            pass

    async def silent(self, seconds: float) -> None:
        """Its probe was not heard for so long."""
        seen_at = utc_now() - timedelta(seconds=seconds)
        await self.world.run("UPDATE probes SET seen_at = $1", seen_at)


async def ground(api: Api, locations: Sequence[str] = ("local",)) -> Ground:
    world = await make_world(api.context.db, locations=locations)
    user_id = uuid7()
    async with api.context.db.transaction() as tx:
        await teams.insert_user(
            tx, world.team_id, user_id, "sre@example.com", "SRE", "editor", api.context.now()
        )
    there = replace(api, team_id=world.team_id, user_id=user_id)
    return Ground(world, await there.allowed(Permission.READ_WRITE))


async def explained(api: Api, id_: str) -> dict[str, Any]:
    answer = await api.get(f"/v1/monitors/{id_}/explain")
    assert answer.status == 200, answer.body
    return dict(answer.json)


async def held(api: Api, id_: str) -> list[str]:
    return [hold["hold"] for hold in (await explained(api, id_))["holds"]]


async def channel(api: Api, **fields: Any) -> str:
    answer = await api.post("/v1/alert-channels", {**HOOK, **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def test_a_new_monitor_says_what_is_missing(api: Api) -> None:
    id_ = await make(api, locations=["eu", "us"])

    answer = await explained(api, id_)

    assert set(answer) == KEYS
    assert answer["status"] == (await shown(api, id_))["status"] == "up"
    assert answer["sentence"] == "Not measured yet: no location votes, so nothing changes."
    assert [(at["location"], at["vote"], at["counts"], at["probe"]) for at in answer["locations"]] == [
        ("eu", "silent", False, None),
        ("us", "silent", False, None),
    ]
    assert answer["quorum"] == {"setting": "majority", "voters": 0, "needed": 0, "failing": 0}
    assert answer["verdict"] is None
    assert [hold["hold"] for hold in answer["holds"]] == ["no_voters"]
    assert (answer["lastResults"], answer["told"], answer["dependencies"], answer["incident"]) == (
        [],
        [],
        [],
        None,
    )
    assert answer["notTold"] == [
        "No one will be notified: no enabled channel receives monitor.down of this monitor."
    ]


async def test_some_failing_locations_are_not_enough(api: Api) -> None:
    here = await ground(api, ("eu", "us", "asia"))
    await here.submit(here.world.batch(Status.UP, location="eu"))
    await here.fail("us")

    answer = await here.explained()

    assert answer["status"] == answer["verdict"] == "up"
    assert answer["quorum"] == {"setting": "majority", "voters": 3, "needed": 2, "failing": 1}
    votes = {at["location"]: at["vote"] for at in answer["locations"]}
    assert votes == {"eu": "well", "us": "failing", "asia": "unknown"}
    assert f"1 of 3 voting locations fails, 2 needed for down; us says: {REFUSED}." in answer["sentence"]
    assert answer["holds"] == []
    us = answer["locations"][1]
    assert (us["consecutiveFailures"], us["failureThreshold"], us["lastError"]) == (3, 3, REFUSED)
    assert us["probe"]["name"] == "probe"
    assert us["probe"]["connected"] is True


async def test_an_outage_names_its_checks_and_who_was_told(api: Api) -> None:
    here = await ground(api)
    channel_id = await channel(here.api)
    await here.fail("local")
    await here.route()

    answer = await here.explained()

    assert answer["status"] == answer["verdict"] == "down"
    assert [(result["did"], result["consecutiveFailures"]) for result in answer["lastResults"]] == [
        ("counted", 3),
        ("counted", 2),
        ("began", 1),
    ]
    first = answer["lastResults"][-1]["timestamp"]
    assert answer["since"] == answer["locations"][0]["failingSince"] == first
    assert answer["incident"]["status"] == "open"
    [told] = answer["told"]
    assert told["event"] == "monitor.down"
    [delivery] = told["deliveries"]
    assert (delivery["channelId"], delivery["name"]) == (channel_id, "ops")
    assert (delivery["status"], delivery["attempts"], delivery["lastError"]) == ("pending", 0, None)
    assert delivery["nextAttemptAt"] is not None
    assert answer["notTold"] == []


async def test_a_recovery_shows_the_check_that_ended_it(api: Api) -> None:
    here = await ground(api)
    await here.fail("local")
    await here.recover("local")

    answer = await here.explained()

    assert answer["status"] == answer["verdict"] == "up"
    assert [result["did"] for result in answer["lastResults"]] == ["recovered", None, None, "began"]
    assert answer["since"] == answer["lastResults"][0]["timestamp"]
    assert [told["event"] for told in answer["told"]] == ["monitor.up", "monitor.down"]


async def test_failed_checks_that_cannot_all_be_placed_are_not_guessed(api: Api) -> None:
    here = await ground(api)
    await here.fail("local", times=2, ago_s=10)
    late = replace(here.world.batch(Status.DOWN, ago=timedelta(seconds=5)), history=True)
    await here.submit(late)

    answer = await here.explained()

    assert answer["locations"][0]["consecutiveFailures"] == 2
    assert [result["did"] for result in answer["lastResults"]] == [None, None, None]


async def test_a_failed_delivery_shows_its_last_error_and_no_secret(api: Api) -> None:
    here = await ground(api)
    await channel(here.api)
    await here.fail("local")
    await here.route()
    [delivery] = await here.world.fetch("SELECT id FROM deliveries")
    for attempt, error in enumerate(["HTTP 500", "timeout"], start=1):
        await tried(here.world.db, here.world.team_id, delivery["id"], attempt, error)
    await here.world.run("UPDATE deliveries SET status = 2, attempt = 2")

    answer = await here.api.get(f"/v1/monitors/{here.id}/explain")

    [told] = answer.json["told"]
    [shown_] = told["deliveries"]
    assert (shown_["status"], shown_["attempts"], shown_["lastError"]) == ("failed", 2, "timeout")
    assert shown_["nextAttemptAt"] is None
    assert b"TOP-SECRET" not in answer.body


async def tried(db: Db, team_id: int, delivery_id: UUID, attempt: int, error: str) -> None:
    row = {"team_id": team_id, "delivery_id": delivery_id, "attempt": attempt, "at": utc_now()}
    await insert(db, "delivery_attempts", {**row, "error": error})


async def test_an_event_that_no_router_has_seen_is_named(api: Api) -> None:
    here = await ground(api)
    await channel(here.api)
    await here.fail("local")

    answer = await here.explained()

    assert [told["deliveries"] for told in answer["told"]] == [[]]
    assert answer["notTold"] == ["The newest events have not been handed to the channels yet."]


async def test_only_an_enabled_channel_that_hears_of_it_listens(api: Api) -> None:
    here = await ground(api)
    other = ids.show("mon", uuid7())
    off = await channel(here.api, enabled=False)
    await channel(here.api, config={"url": URL, "events": ["monitor.up"]})
    await here.world.run(
        "UPDATE channels SET config = config || $1 WHERE id <> $2",
        {"monitors": [other]},
        ids.read("chan", off),
    )
    assert len((await here.explained())["notTold"]) == 1

    await here.api.put(f"/v1/alert-channels/{off}", {"enabled": True})

    assert (await here.explained())["notTold"] == []


async def test_a_silence_holds_the_news(api: Api) -> None:
    here = await ground(api)
    await channel(here.api)
    await here.api.post(f"/v1/monitors/{here.id}/silence", {"duration": 600, "reason": "deploy"})
    await here.fail("local")

    answer = await here.explained()

    [hold] = answer["holds"]
    assert (hold["hold"], hold["reason"], hold["holds"]) == ("silenced", "deploy", "monitor.down")
    assert hold["until"] == (await shown(here.api, here.id))["silencedUntil"]
    assert answer["told"] == []
    assert "silenced until" in answer["notTold"][0]


async def test_a_pause_holds_everything(api: Api) -> None:
    here = await ground(api)
    await here.fail("local")
    paused = await here.api.post(f"/v1/monitors/{here.id}/pause")

    answer = await here.explained()

    assert answer["status"] == "paused"
    assert answer["since"] == paused.json["pausedAt"]
    assert answer["verdict"] is None
    assert [hold["hold"] for hold in answer["holds"]] == ["paused"]
    assert not any(at["counts"] for at in answer["locations"])
    assert "It is paused" in answer["notTold"][0]


async def test_a_resumed_monitor_is_not_measured_yet(api: Api) -> None:
    here = await ground(api)
    await here.fail("local")
    await here.api.post(f"/v1/monitors/{here.id}/pause")
    await here.api.post(f"/v1/monitors/{here.id}/resume")

    answer = await here.explained()

    assert answer["status"] == (await shown(here.api, here.id))["status"] == "up"
    assert answer["since"] is None
    assert answer["sentence"].startswith("Not measured yet: ")


async def test_an_incident_that_somebody_resolved_is_named(api: Api) -> None:
    here = await ground(api)
    await channel(here.api)
    await here.fail("local")
    await here.route()
    incident_id = (await here.explained())["incident"]["id"]
    done = await here.api.post(f"/v1/incidents/{incident_id}/resolve")

    answer = await here.explained()

    [hold] = answer["holds"]
    assert (hold["hold"], hold["since"]) == ("resolved_by_hand", done.json["resolvedAt"])
    assert answer["status"] == "down"
    assert "resolved by hand" in answer["notTold"][0]


async def test_a_location_that_fell_silent_votes_for_two_minutes_more(api: Api) -> None:
    here = await ground(api)
    await here.fail("local")
    await here.silent(60)
    [at] = (await here.explained())["locations"]
    assert (at["vote"], at["counts"], at["probe"]["connected"]) == ("failing", True, False)

    await here.silent(150)

    answer = await here.explained()
    [at] = answer["locations"]
    assert (at["vote"], at["counts"]) == ("silent", False)
    assert (answer["verdict"], answer["status"]) == (None, "down")
    assert [hold["hold"] for hold in answer["holds"]] == ["no_voters"]


async def test_a_verdict_that_is_held_back_says_so(api: Api) -> None:
    here = await ground(api)
    just_now = utc_now()
    await here.silent(60)
    async with writing(here.world, since=lambda: just_now) as writer:
        await writer.submit(here.world.batch(*[Status.DOWN] * 3))

    answer = await here.explained()

    assert (answer["status"], answer["verdict"]) == ("up", "down")
    assert await held(here.api, here.id) == ["settling"]
    assert "held up for now" in answer["sentence"]


async def test_what_was_known_before_a_silence_is_no_vote(api: Api) -> None:
    here = await ground(api)
    await here.fail("local", times=1)
    long_ago = utc_now() - timedelta(minutes=10)
    monitor = here.world.monitors[0]
    await change(
        api, "states", "monitor", monitor, failing=True, fails=3, failed_since=long_ago, last_at=long_ago
    )

    answer = await here.explained()

    assert [location["vote"] for location in answer["locations"]] == ["unknown"]
    assert (answer["quorum"]["failing"], answer["status"]) == (0, "up")


async def test_a_streak_too_long_to_be_looked_at_is_left_out(api: Api) -> None:
    here = await ground(api)
    await here.fail("local", times=199)
    assert (await here.explained())["lastResults"][0]["consecutiveFailures"] == 199

    await here.fail("local", times=1, ago_s=1)

    answer = await here.explained()
    assert answer["locations"][0]["consecutiveFailures"] == 200
    assert {result["did"] for result in answer["lastResults"]} == {None}


@pytest.mark.oldest
async def test_dependencies_are_named_with_their_status(api: Api) -> None:
    parent = await make(api, name="gateway")
    await api.post(f"/v1/monitors/{parent}/pause")
    child = await make(api, dependsOn=[parent])

    answer = await explained(api, child)

    assert answer["dependencies"] == [{"id": parent, "name": "gateway", "status": "paused"}]


async def test_a_reader_may_ask_and_another_team_learns_nothing(api: Api) -> None:
    id_ = await make(api)
    path = f"/v1/monitors/{id_}/explain"
    stranger = await api.other_team()
    nowhere = f"/v1/monitors/{ids.show('mon', uuid7())}/explain"

    assert (await (await api.reader()).get(path)).status == 200
    assert (await api.with_token(None).get(path)).status == 401
    answers = [await stranger.get(path), await api.get(nowhere), await api.get("/v1/monitors/x'--/explain")]
    assert {(answer.status, answer.body) for answer in answers} == {(404, answers[0].body)}
    assert (await api.post(path)).status == 405


async def test_a_window_holds_the_incident_and_says_until_when(api: Api) -> None:
    here = await ground(api)
    await here.world.run(
        """
        INSERT INTO maintenance_spans (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        VALUES ($1, $2, now() - interval '1 minute', now() + interval '1 hour', true, '{}', '{}', '{}')
        """,
        here.world.team_id,
        uuid7(),
    )
    await here.fail("local")

    answer = await here.explained()

    assert answer["status"] == "down"
    assert answer["incident"] is None
    [hold] = answer["holds"]
    assert (hold["hold"], hold["holds"]) == ("maintenance", "the incident, and monitor.down")
    assert hold["until"] is not None
    assert "under maintenance until" in answer["sentence"]
    assert any("under maintenance" in reason for reason in answer["notTold"])


async def test_a_flapping_monitor_says_so(api: Api) -> None:
    here = await ground(api)
    await here.fail("local")
    await here.world.run("UPDATE monitors SET flapping_since = now()")

    answer = await here.explained()

    assert "flapping" in [hold["hold"] for hold in answer["holds"]]
    assert answer["sentence"].endswith("flapping.")
    assert answer["lastResults"][0]["run"] == "scheduled"
