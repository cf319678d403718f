"""Jobs and senders of metrics: their page says where and by which secret to report, to who may change it."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import yaml

from collector.heartbeats.core.heartbeat import PingSchedule
from collector.metrics.storage import series
from collector.metrics.storage.series import SeriesValue
from collector.monitors.console import schedules
from shared import ids
from shared.clock import utc_now
from tests.console.client import Console, Page
from tests.console.fixtures import PUBLIC_URL

pytestmark = pytest.mark.shares_server

HEARTBEAT = {"expectedInterval": 3600}


async def made(console: Console, type_: str, **config: Any) -> dict[str, Any]:
    answer = await console.api.post("/v1/monitors", {"name": "job", "type": type_, "config": config})
    assert answer.status == 201, answer.json
    return dict(answer.json)


def copied(page: Page) -> dict[str, str]:
    """What can be copied, by its label."""
    found = re.findall(
        r'<div class="copyable"><pre tabindex="0" aria-label="([^"]*)">([^<]*)</pre>', page.text
    )
    return {unescape(label): unescape(text) for label, text in found}


async def test_a_new_heartbeat_shows_its_ping_url_and_lines_to_copy(console: Console) -> None:
    await console.sign_in()
    fields = {"type": "heartbeat", "name": "backup", "config.cron": "30 4 * * 1", "config.gracePeriod": "5m"}

    page = await console.post("/monitors", fields)

    shown = copied(page)
    key = shown["Ping URL"].removeprefix(f"{PUBLIC_URL}/v1/ping/")
    assert re.fullmatch(r"[0-9a-f]{32}", key)
    [cron] = [text for label, text in shown.items() if label.startswith("In a crontab")]
    assert cron.startswith("30 4 * * 1 /path/to/job && curl ")
    assert cron.endswith(shown["Ping URL"])
    assert '<details class="card report" id="report" open>' in page.text
    assert "********" not in page.text
    assert (await console.get(f"/ping/{key}")).status == 200


@pytest.mark.parametrize(
    ("type_", "config", "endpoint", "example"),
    [
        ("prometheus", {}, "/v1/ingest/prometheus/{id}", "credentials: "),
        (
            "opentelemetry",
            {"otlpProtocol": "http/json"},
            "/v1/ingest/otlp/{id}",
            "OTEL_EXPORTER_OTLP_ENDPOINT=",
        ),
        ("opentelemetry", {"otlpProtocol": "grpc"}, ":4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"),
    ],
)
async def test_a_monitor_of_metrics_shows_its_endpoint_and_its_token(
    console: Console, type_: str, config: dict[str, Any], endpoint: str, example: str
) -> None:
    answer = await made(console, type_, **config)
    await console.sign_in()

    shown = copied(await console.get(f"/monitors/{answer['id']}"))

    assert shown["Endpoint"].endswith(endpoint.replace("{id}", answer["id"]))
    told = (await console.api.get(f"/v1/monitors/{answer['id']}")).json["config"]
    assert shown["Token"] == told["authToken"] == answer["config"]["authToken"]
    assert [text for text in shown.values() if example in text]


@pytest.mark.parametrize("type_", ["heartbeat", "prometheus", "opentelemetry"])
async def test_a_secret_is_rotated_on_the_page(console: Console, type_: str) -> None:
    answer = await made(console, type_, **(HEARTBEAT if type_ == "heartbeat" else {}))
    await console.sign_in()
    before = copied(await console.get(f"/monitors/{answer['id']}"))

    page = await console.post(f"/monitors/{answer['id']}/rotate-key")

    name = "Ping URL" if type_ == "heartbeat" else "Token"
    assert copied(page)[name] != before[name]
    assert "Rotated" in page.words
    if type_ == "heartbeat":
        assert (await console.get(before[name].removeprefix(PUBLIC_URL))).status == 404


@pytest.mark.parametrize("type_", ["heartbeat", "prometheus", "opentelemetry"])
async def test_who_may_only_read_sees_no_secret_and_rotates_none(console: Console, type_: str) -> None:
    answer = await made(console, type_, **(HEARTBEAT if type_ == "heartbeat" else {}))
    await console.sign_in(await console.person("viewer"))

    page = await console.get(f"/monitors/{answer['id']}")

    assert copied(page) == {}
    assert "You have read-only access" in page.words
    secret = next(iter(answer["config"].values())).rpartition("/")[2]
    assert answer["config"].get("authToken", secret) not in page.text
    assert (await console.post(f"/monitors/{answer['id']}/rotate-key")).status == 403


async def test_no_form_asks_for_a_token_that_the_service_makes(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/monitors/new?type=prometheus")

    assert "authToken" not in page.text
    fields = {"type": "prometheus", "name": "node"}
    assert copied(await console.post("/monitors", fields))["Token"].startswith("tocsin_")


async def test_the_answer_of_creation_says_where_to_report_to(console: Console) -> None:
    job = await made(console, "heartbeat", **HEARTBEAT)
    node = await made(console, "prometheus")
    http = await made(console, "http", url="https://shop.example.com/")

    assert set(job["config"]) == {"pingUrl"}
    assert set(node["config"]) == {"ingestUrl", "authToken"}
    assert "config" not in http


@pytest.mark.oldest
async def test_a_job_s_page_has_its_schedule_and_when_pings_came_and_come(console: Console) -> None:
    answer = await made(console, "heartbeat", expectedInterval=3600, gracePeriod="5m", armOnFirstPing=True)
    here = f"/monitors/{answer['id']}"
    await console.sign_in()

    before = await console.get(here)
    key = copied(before)["Ping URL"].removeprefix(PUBLIC_URL)
    sent = await console.api.post(key, b"42 rows")
    after = await console.get(here)

    assert sent.status == 200
    assert "Every 1 h, at most 5 min late" in before.words
    assert "Next expected after the first ping" in before.words
    assert "Last ping none yet" in before.words
    assert re.search(r"Next expected</dt><dd><time datetime", after.text)
    assert "42 rows" in after.words


async def test_a_job_s_lines_are_ready_to_run(console: Console) -> None:
    answer = await made(console, "heartbeat", cron="15 2 * * 1-5", timezone="Europe/Berlin")
    await console.sign_in()

    page = await console.get(f"/monitors/{answer['id']}")

    shown = copied(page)
    url = shown["Ping URL"]
    compile(shown["In Python"], "snippet", "exec")
    job = yaml.safe_load(shown["A Kubernetes CronJob"])
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("15 2 * * 1-5", "Europe/Berlin")
    [container] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][2].endswith(f"{url}/$?")
    assert shown["curl"].endswith(url)
    assert "Monday to Friday at 02:15 (Europe/Berlin), at most 1 min late" in page.words


async def test_a_monitor_of_metrics_shows_its_series_with_their_newest_values(console: Console) -> None:
    answer = await made(console, "prometheus")
    id_ = ids.read("mon", answer["id"])
    assert id_ is not None
    async with console.api.context.db.transaction() as tx:
        team_id = await tx.fetchval("SELECT team_id FROM monitors WHERE id = $1", id_)
        values = [
            SeriesValue(
                b"1", {"__name__": "queue_length", "queue": "mail"}, utc_now(), 17.5, False, utc_now()
            )
        ]
        await series.keep(tx, team_id, id_, values)
    await console.sign_in()

    page = await console.get(f"/monitors/{answer['id']}")

    assert "queue_length queue=mail 17.5" in page.words
    assert "Response time" not in page.words
    collector = copied(await console.get(f"/monitors/{(await made(console, 'opentelemetry'))['id']}"))
    config = yaml.safe_load(collector["In the configuration of an OpenTelemetry Collector"])
    [exporter] = config["exporters"].values()
    assert exporter["headers"]["authorization"] == f"Bearer {collector['Token']}"
    assert exporter["endpoint"] == collector["Endpoint"]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"wait": timedelta(days=1)}, "Every 1 d, at most 1 min late"),
        ({"cron": "* * * * *"}, "Every minute (UTC), at most 1 min late"),
        ({"cron": "*/5 * * * *"}, "Every 5 minutes (UTC), at most 1 min late"),
        ({"cron": "10 * * * *"}, "Every hour at minute 10 (UTC), at most 1 min late"),
        ({"cron": "0 */6 * * *"}, "Every 6 hours at minute 0 (UTC), at most 1 min late"),
        ({"cron": "5 4 * * *"}, "Every day at 04:05 (UTC), at most 1 min late"),
        ({"cron": "5 4 * * 7"}, "Every Sunday at 04:05 (UTC), at most 1 min late"),
        ({"cron": "5 4 1 * *"}, "On day 1 of each month at 04:05 (UTC), at most 1 min late"),
        ({"cron": "5 4 1 1 *"}, "By the cron expression 5 4 1 1 * (UTC), at most 1 min late"),
        ({"cron": "5 4 * * 1,3"}, "By the cron expression 5 4 * * 1,3 (UTC), at most 1 min late"),
        (
            {"wait": timedelta(hours=1), "grace": timedelta(), "max_run": timedelta(minutes=5)},
            "Every 1 h, on time, each run at most 5 min long",
        ),
    ],
)
def test_a_schedule_in_words(plan: dict[str, Any], words: str) -> None:
    usual = {"wait": None, "cron": "", "zone": "UTC", "grace": timedelta(minutes=1)}
    assert schedules.words(PingSchedule(**{**usual, **plan})) == words
