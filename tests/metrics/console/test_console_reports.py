"""Jobs and senders of metrics: their page says where and by which secret to report, to who may change it."""

import re
from html import unescape
from typing import Any

import pytest

from tests.console.client import Console, Page
from tests.console.fixtures import PUBLIC_URL

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
