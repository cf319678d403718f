"""Heartbeats from outside: what a job's ping is answered, and what becomes of its monitor."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import pytest

from collector.alerts.jobs.watch import Watch
from collector.evaluation.ingest.pushes import PushedResult, Pushes
from collector.evaluation.storage import collector_presence
from collector.heartbeats.ingest import PingReceiver
from collector.heartbeats.jobs.heartbeats import HeartbeatSweeper
from collector.history.storage import partitions
from collector.monitors.service.receivers import with_new_key
from shared.ids import uuid7
from shared.kinds.heartbeat import Heartbeat
from shared.results import Status
from tests.clocks import GivenClock
from tests.http.client import Answer, Api
from tests.monitors.monitors import number, rows

pytestmark = pytest.mark.races

HOURLY = {"expectedInterval": "1h", "gracePeriod": 60}

WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@dataclass(slots=True)
class Jobs:
    """The API beside all that takes pings and misses them; its clock is the API's."""

    api: Api
    heartbeats: PingReceiver
    late: HeartbeatSweeper
    started: datetime

    async def make(self, **config: Any) -> str:
        """The id of a new heartbeat."""
        body = {"type": "heartbeat", "name": "backup", "config": config or HOURLY}
        answer = await self.api.post("/v1/monitors", body)
        assert answer.status == 201, answer.body
        return str(answer.json["id"])

    async def get(self, id_: str) -> Any:
        return (await self.api.get(f"/v1/monitors/{id_}")).json

    async def key(self, id_: str) -> str:
        return str((await self.get(id_))["config"]["pingUrl"]).rpartition("/")[2]

    async def ping(self, id_: str, rest: str = "", body: bytes | None = None, method: str = "GET") -> Answer:
        bare = self.api.with_token(None)
        return await bare.call(method, f"/v1/ping/{await self.key(id_)}{rest}", body)

    async def results(self, id_: str) -> list[Any]:
        to = (self.api.clock() + timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
        answer = await self.api.get(f"/v1/monitors/{id_}/results?from=2020-01-01&to={to}")
        return list(answer.json["data"])

    async def heard(self, since: datetime | None = None) -> None:
        """Some collector ran all the time, or from then on."""
        async with self.api.context.db.transaction() as tx:
            await collector_presence.keep(tx, uuid7(), since or self.started, self.api.clock())
            await partitions.make(tx, self.api.clock().date())

    async def go(self, ahead: timedelta) -> None:
        """Time passes while somebody listens, and whoever is late is found."""
        self.api.clock.ahead += ahead
        await self.heard()
        await self.late.turn()


@pytest.fixture
async def jobs(api: Api) -> Jobs:
    clock, db = api.clock, api.context.db
    started = clock() - timedelta(minutes=1)
    pushes = Pushes(db, clock=GivenClock(clock, lambda: started))
    heartbeats = PingReceiver(db, pushes, clock=GivenClock(clock))
    late = HeartbeatSweeper(db, heartbeats, clock=GivenClock(clock, lambda: started))
    made = Jobs(api, heartbeats, late, started)
    await made.heard()
    return made


async def test_a_new_heartbeat_shows_where_to_ping_and_waits(jobs: Jobs) -> None:
    shown = await jobs.get(await jobs.make())

    assert shown["status"] == "up"
    assert shown["lastCheckedAt"] is None
    assert shown["locations"] == ["push"]
    assert shown["config"]["expectedInterval"] == "1h"
    assert "pingKey" not in shown["config"]
    assert "warnings" not in shown


@pytest.mark.parametrize("prefix", ["/v1/ping", "/ping"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_a_ping_is_taken_in_every_form(jobs: Jobs, prefix: str, method: str) -> None:
    id_ = await jobs.make()
    bare = jobs.api.with_token(None)

    answer = await bare.call(method, f"{prefix}/{await jobs.key(id_)}")

    assert answer.status == 200
    assert method == "HEAD" or answer.json == {"ok": True}
    assert [result["status"] for result in await jobs.results(id_)] == ["up"]
    assert (await jobs.get(id_))["lastCheckedAt"] is not None


async def test_a_key_that_nobody_has_is_not_found(jobs: Jobs) -> None:
    answer = await jobs.api.with_token(None).get("/v1/ping/0123456789abcdef")

    assert answer.status == 404
    assert answer.json["error"] == "Not Found"


@pytest.mark.parametrize("sign", ["stop", "256", "-1", "1.5", "%00"])
async def test_what_follows_a_key_must_mean_something(jobs: Jobs, sign: str) -> None:
    id_ = await jobs.make()

    assert (await jobs.ping(id_, f"/{sign}")).status == 404
    assert await jobs.results(id_) == []


async def test_a_failure_that_the_job_reports_takes_it_down_at_once_and_the_next_ping_up(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_)

    await jobs.ping(id_, "/3")
    down = await jobs.get(id_)
    incidents = (await jobs.api.get("/v1/incidents?status=open")).json["data"]
    await jobs.ping(id_, "/0")

    assert down["status"] == "down"
    assert down["locationStates"][0]["error"] == "failed: exit status 3"
    assert len(incidents) == 1
    assert (await jobs.get(id_))["status"] == "up"
    assert (await jobs.api.get("/v1/incidents?status=open")).json["data"] == []


async def test_a_missed_ping_takes_it_down_when_its_grace_is_over_and_not_before(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_)

    await jobs.go(timedelta(minutes=60, seconds=30))
    before = await jobs.get(id_)
    await jobs.go(timedelta(seconds=31))
    after = await jobs.get(id_)

    assert before["status"] == "up"
    assert after["status"] == "down"
    assert after["locationStates"][0]["error"].startswith("missed: no ping came within 1 h")


async def test_a_job_that_never_starts_is_noticed(jobs: Jobs) -> None:
    id_ = await jobs.make()

    await jobs.go(timedelta(minutes=62))

    assert (await jobs.get(id_))["status"] == "down"


async def test_one_that_may_wait_for_its_first_ping_is_not_missed(jobs: Jobs) -> None:
    id_ = await jobs.make(**HOURLY, armOnFirstPing=True)

    await jobs.go(timedelta(days=3))

    assert (await jobs.get(id_))["status"] == "up"
    assert await jobs.results(id_) == []


async def test_an_hour_without_any_collector_pages_nobody(jobs: Jobs) -> None:
    id_ = await jobs.make(expectedInterval="10m", gracePeriod=60)
    await jobs.ping(id_)
    jobs.api.clock.ahead += timedelta(hours=1)
    back = jobs.api.clock()
    jobs.late = HeartbeatSweeper(
        jobs.api.context.db, jobs.heartbeats, clock=GivenClock(jobs.api.clock, lambda: back)
    )

    await jobs.late.turn()
    await jobs.heard(back)
    await jobs.late.turn()
    at_once = await jobs.get(id_)
    jobs.api.clock.ahead += timedelta(minutes=11)
    await jobs.heard(back)
    await jobs.late.turn()
    in_time = await jobs.get(id_)
    jobs.api.clock.ahead += timedelta(minutes=2)
    await jobs.heard(back)
    await jobs.late.turn()

    assert at_once["status"] == in_time["status"] == "up"
    assert (await jobs.get(id_))["status"] == "down"


@pytest.mark.oldest
async def test_a_pause_counts_against_nobody_and_its_pings_are_recorded(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_)
    await jobs.api.post(f"/v1/monitors/{id_}/pause")
    answer = await jobs.ping(id_, "/fail")
    paused = await jobs.get(id_)
    await jobs.go(timedelta(hours=5))

    await jobs.api.post(f"/v1/monitors/{id_}/resume")
    await jobs.late.turn()
    await jobs.go(timedelta(minutes=60))
    resumed = await jobs.get(id_)
    await jobs.go(timedelta(minutes=5))

    assert answer.json == {"ok": True}
    assert paused["status"] == "paused"
    assert [result["status"] for result in await jobs.results(id_)][1:] == ["down", "up"]
    assert resumed["status"] == "up"
    assert (await jobs.get(id_))["status"] == "down"


async def test_a_new_interval_counts_from_the_last_ping(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_)
    await jobs.go(timedelta(minutes=30))

    answer = await jobs.api.put(f"/v1/monitors/{id_}", {"config": {"expectedInterval": 600}})
    await jobs.late.turn()

    assert answer.status == 200
    assert (await jobs.get(id_))["status"] == "down"


async def test_a_body_is_kept_as_far_as_10_kb_and_shown_with_its_result(jobs: Jobs) -> None:
    id_ = await jobs.make()

    answer = await jobs.ping(id_, "/1", b"disk \xff full\0" + b"x" * 900_000, "POST")
    (shown,) = await jobs.results(id_)

    assert answer.status == 200
    assert shown["body"].startswith("disk \ufffd full\ufffdxxx")
    assert len(shown["body"]) == 10_000
    assert shown["statusCode"] == 1


async def test_a_start_and_its_end_make_the_run_time(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_, "/start?rid=one")
    jobs.api.clock.ahead += timedelta(seconds=90)
    await jobs.ping(id_, "?rid=one")

    end, start = await jobs.results(id_)

    assert start["status"] == "unknown"
    assert end["status"] == "up"
    assert 90_000 <= end["responseTime"] < 100_000


async def test_pings_of_uptime_kuma_work(jobs: Jobs) -> None:
    id_ = await jobs.make()
    path = f"/api/push/{await jobs.key(id_)}"
    bare = jobs.api.with_token(None)

    up = await bare.get(path + "?status=up&msg=OK&ping=20.5")
    down = await bare.get(path + "?status=down&msg=no+space&ping=")
    worse, better = await jobs.results(id_)

    assert up.json == down.json == {"ok": True}
    assert (better["status"], better["responseTime"]) == ("up", 20)
    assert (worse["status"], worse["body"]) == ("down", "no space")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", "up"),
        ("?status=", "up"),
        ("?status=up", "up"),
        ("?status=UP", "down"),
        ("?status=ok", "down"),
        ("?status=1", "down"),
        ("?status=pending", "down"),
        ("?msg=OK&status=down", "down"),
    ],
)
async def test_a_push_as_uptime_kuma_takes_it_fails_unless_its_status_is_up(
    jobs: Jobs, query: str, status: str
) -> None:
    id_ = await jobs.make()

    answer = await jobs.api.with_token(None).get(f"/api/push/{await jobs.key(id_)}{query}")

    assert answer.status == 200
    assert [result["status"] for result in await jobs.results(id_)] == [status]


async def test_a_new_key_takes_the_place_of_the_old_one(jobs: Jobs) -> None:
    id_ = await jobs.make()
    old, bare = await jobs.key(id_), jobs.api.with_token(None)

    answer = await jobs.api.post(f"/v1/monitors/{id_}/rotate-key")

    assert answer.status == 200
    assert answer.json["pingUrl"].endswith(await jobs.key(id_))
    assert (await bare.get(f"/ping/{old}")).status == 404
    assert (await jobs.ping(id_)).status == 200


@pytest.mark.parametrize("deed", ["change", "rotate-key", "pause", "delete"])
async def test_who_changes_a_heartbeat_waits_for_its_pings_and_keeps_them_from_nothing(
    jobs: Jobs, deed: str
) -> None:
    id_ = await jobs.make()
    path, db = f"/v1/monitors/{id_}", jobs.api.context.db
    async with db.transaction() as ping:
        await ping.execute("SELECT FROM heartbeats FOR UPDATE")
        if deed == "change":
            done = asyncio.create_task(jobs.api.put(path, {"config": {"expectedInterval": "2h"}}))
        elif deed == "delete":
            done = asyncio.create_task(jobs.api.delete(path))
        else:
            done = asyncio.create_task(jobs.api.post(f"{path}/{deed}"))
        async with asyncio.timeout(20), db.connection() as tx:
            while not await tx.fetchval(WAITING):
                await asyncio.sleep(0.001)
        await ping.execute("SELECT FROM states FOR UPDATE NOWAIT")
        await ping.execute("SELECT FROM monitors FOR UPDATE NOWAIT")

    assert (await done).status < 300


async def test_a_ping_by_the_monitors_id_needs_a_token_of_its_team(jobs: Jobs) -> None:
    id_ = await jobs.make()
    path, other = f"/v1/monitors/{id_}/ping", await jobs.api.other_team()

    assert (await jobs.api.with_token(None).post(path)).status == 401
    assert (await (await jobs.api.reader()).post(path)).status == 403
    assert (await other.post(path)).status == 404
    assert (await other.post(f"/v1/monitors/{id_}/rotate-key")).status == 404
    assert (await jobs.api.post(path + "?sign=7")).json == {"ok": True}
    assert (await jobs.api.post(path + "?sign=maybe")).json["details"]["sign"]
    assert [result["statusCode"] for result in await jobs.results(id_)] == [7]


async def test_only_a_heartbeat_takes_pings(jobs: Jobs) -> None:
    body = {"type": "http", "name": "web", "config": {"url": "https://example.com/"}}
    id_ = (await jobs.api.post("/v1/monitors", body)).json["id"]

    assert (await jobs.api.post(f"/v1/monitors/{id_}/ping")).status == 400
    assert (await jobs.api.post(f"/v1/monitors/{id_}/rotate-key")).status == 400


def test_each_of_the_128_bits_of_a_key_is_random() -> None:
    keys = [int(with_new_key(Heartbeat()).ping_key, 16) for _ in range(400)]

    shares = [sum(key >> bit & 1 for key in keys) / len(keys) for bit in range(128)]
    # Nearly seven times the standard deviation.
    assert all(abs(share - 0.5) < 0.17 for share in shares)
    assert len(set(keys)) == len(keys)


async def test_a_reader_does_not_see_the_key(jobs: Jobs) -> None:
    id_ = await jobs.make()
    key = await jobs.key(id_)

    answer = await (await jobs.api.reader()).get(f"/v1/monitors/{id_}")

    assert key.encode() not in answer.body
    assert answer.json["config"]["pingUrl"].endswith(key[-4:])


async def test_what_a_get_shows_may_be_put_back(jobs: Jobs) -> None:
    id_ = await jobs.make()
    shown = await jobs.get(id_)

    answer = await jobs.api.put(f"/v1/monitors/{id_}", shown)

    assert answer.status == 200
    assert "warnings" not in answer.json
    assert (await jobs.get(id_))["config"] == shown["config"]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "expectedInterval"),
        ({"expectedInterval": 0}, "expectedInterval"),
        ({"expectedInterval": "soon"}, "expectedInterval"),
        ({"expectedInterval": "367d"}, "expectedInterval"),
        ({"expectedInterval": 60, "cron": "* * * * *"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "* * * * *", "timezone": "Mars/Olympus"}, "timezone"),
        ({"cron": "* * * * *", "timezone": "../../etc/passwd"}, "timezone"),
        ({"expectedInterval": 60, "gracePeriod": -1}, "gracePeriod"),
        ({"expectedInterval": 60, "maxRunTime": "0s"}, "maxRunTime"),
        ({"expectedInterval": 60, "minInterval": "x"}, "minInterval"),
    ],
)
async def test_bad_configurations_are_told(jobs: Jobs, config: dict[str, Any], field: str) -> None:
    body = {"type": "heartbeat", "name": "backup", "config": config}

    answer = await jobs.api.post("/v1/monitors", body)

    assert answer.status == 400
    assert list(answer.json["details"]) == [field]


async def test_a_heartbeat_cannot_be_tested(jobs: Jobs) -> None:
    answer = await jobs.api.post("/v1/monitors/test", {"type": "heartbeat", "config": HOURLY})

    assert answer.status == 400
    assert list(answer.json["details"]) == ["type"]


async def test_a_thousand_pings_at_once_are_few_transactions(jobs: Jobs) -> None:
    ids = [await jobs.make() for _ in range(10)]
    keys = [await jobs.key(id_) for id_ in ids]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=200)) as session:

        async def ping(key: str) -> int:
            async with session.get(f"{jobs.api.url}/ping/{key}") as response:
                return response.status

        statuses = await asyncio.gather(*(ping(key) for key in keys * 100))

    async with jobs.api.context.db.connection() as tx:
        stored = await tx.fetchval("SELECT count(*) FROM results")
        # The server's own numbers go on with the transactions of other tests.
        transactions = await tx.fetchval("SELECT count(DISTINCT xmin::text) FROM results")
    assert statuses == [200] * 1000
    assert stored == 1000
    assert transactions < 200


async def test_its_verdict_is_explained_by_its_pings_alone(jobs: Jobs) -> None:
    id_ = await jobs.make()
    await jobs.ping(id_, "/fail")

    shown = (await jobs.api.get(f"/v1/monitors/{id_}/explain")).json

    assert shown["status"] == "down"
    assert shown["quorum"]["voters"] == 1
    assert shown["locations"][0]["vote"] == "failing"
    assert shown["lastResults"][0]["error"] == "failed: the job says so"


async def test_who_pings_without_end_is_slowed_down_and_nobody_else(jobs: Jobs) -> None:
    loud, quiet = await jobs.make(), await jobs.make()
    url, bare = f"/ping/{await jobs.key(loud)}", jobs.api.with_token(None)

    answers = await asyncio.gather(*(bare.get(url) for _ in range(130)))

    assert {answer.status for answer in answers} == {200, 429}
    assert answers[-1].headers["Retry-After"] == "1"
    assert (await jobs.ping(quiet)).status == 200


@pytest.mark.parametrize("rid", ["%ed%a0%80", "%ff", "%00", "a" * 5000, "%F0%9F%98%80", "'; DROP TABLE x --"])
async def test_any_rid_is_taken(jobs: Jobs, rid: str) -> None:
    id_ = await jobs.make()

    answers = [await jobs.ping(id_, f"{sign}?rid={rid}") for sign in ("/start", "")]

    assert [answer.status for answer in answers] == [200, 200]
    assert len(await jobs.results(id_)) == 2


async def test_a_run_of_a_year_is_taken(jobs: Jobs) -> None:
    id_ = await jobs.make(expectedInterval="366d")
    await jobs.ping(id_, "/start")
    jobs.api.clock.ahead += timedelta(days=300)
    await jobs.heard()

    assert (await jobs.ping(id_)).status == 200


async def test_a_ping_shows_how_its_own_limit_stands(jobs: Jobs) -> None:
    id_ = await jobs.make()
    key, bare = await jobs.key(id_), jobs.api.with_token(None)

    first, second, note = [await bare.get(f"/v1/ping/{key}{sign}") for sign in ("", "", "/log")]
    answers = [await bare.get(f"/v1/ping/{key}") for _ in range(140)]

    left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in (first, second, note)]
    assert left == sorted(left, reverse=True)
    assert left[0] == 99
    assert first.headers["X-RateLimit-Limit"] == "600"
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert refused.headers["Retry-After"] == "1"


async def test_pings_and_changes_of_the_same_monitor_do_not_stand_in_each_others_way(jobs: Jobs) -> None:
    id_ = await jobs.make()
    key, bare, path = await jobs.key(id_), jobs.api.with_token(None), f"/v1/monitors/{id_}"
    over = asyncio.Event()

    async def ping(sign: str) -> set[int]:
        statuses = set()
        while not over.is_set():
            statuses.add((await bare.get(f"/ping/{key}{sign}")).status)
            await asyncio.sleep(0.05)
        return statuses

    pinging = [asyncio.create_task(ping(sign)) for sign in ("", "/fail", "/start", "")]
    for turn in range(4):
        answers = [
            await jobs.api.post(path + "/pause"),
            await jobs.api.post(path + "/resume"),
            await jobs.api.put(path, {"config": {"gracePeriod": turn}}),
        ]
        assert [answer.status for answer in answers] == [200, 200, 200]
        await jobs.late.turn()
    deleted = await jobs.api.delete(path)
    over.set()

    assert deleted.status == 204
    assert set().union(*await asyncio.gather(*pinging)) <= {200, 404, 429}
    assert (await bare.get(f"/ping/{key}")).status in {404, 429}


@pytest.mark.oldest
async def test_a_rule_that_waits_for_failures_hears_of_what_is_pushed(jobs: Jobs) -> None:
    api, id_ = jobs.api, await jobs.make()
    rule = {"name": "on call", "conditions": {"consecutiveFailures": 1}, "channels": []}
    assert (await api.post("/v1/alert-rules", rule)).status == 201
    watch = Watch(api.context.db)
    await watch.turn()
    pushes = Pushes(api.context.db, clock=GivenClock(api.clock, api.clock), watch=watch)

    marked = []
    for status in (Status.UP, Status.DOWN):
        async with api.context.db.transaction() as tx:
            await pushes.write(
                tx, [PushedResult(await number(api, id_), status, api.clock(), error="failed")]
            )
        marked.append(len(await rows(api, "SELECT FROM alert_marks")))

    assert marked == [0, 1]
