"""A team's monitors for Prometheus: under names that dashboards know, and for nobody else's eyes."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.clock import utc_now
from shared.kinds.tls import Expiry
from shared.phases import pack
from shared.results import Phases, Status
from shared.tokens import new_token
from tests.http.client import Answer, Api
from tests.monitors.monitors import TCP, location, make, number, result

pytestmark = pytest.mark.shares_server

PHASES = pack(Phases(1_000, 2_000, 3_000, 4_000, 5_000))


async def checked(
    api: Api,
    id_: str,
    where: str = "local",
    *,
    status: Status = Status.UP,
    at: datetime | None = None,
    checkpoint: bytes | None = None,
    **columns: Any,
) -> None:
    """A last check of that monitor, which took 20 ms."""
    moment, monitor = at or utc_now(), await number(api, id_)
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    await result(api, monitor, moment, where, status=status, **columns)
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            UPDATE states SET last_at = $3, last_status = $4, last_ms = 20, checkpoint = $5
            WHERE monitor = $1 AND location = $2
            """,
            monitor,
            await location(api, where),
            moment,
            status,
            checkpoint,
        )


def samples(answer: Answer) -> dict[str, float]:
    """Each sample of the monitors by its name and what tells it from its like."""
    assert answer.status == 200, answer.body
    return {
        " ".join(
            (sample.name, sample.labels["name"], sample.labels["location"], sample.labels.get("phase", ""))
        ).strip(): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
        if sample.name.startswith("probe_")
    }


async def test_each_type_has_the_names_that_dashboards_know(api: Api) -> None:
    await checked(api, await make(api), code=200, phases=PHASES)
    tls = await make(api, name="cert", type="tls", config={"domain": "example.com"})
    await checked(
        api, tls, status=Status.DOWN, checkpoint=Expiry(only_near=True, ends=1_900_000_000).pack(), phases=b""
    )
    answer = await api.get("/v1/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert samples(answer) == {
        "probe_success shop local": 1,
        "probe_success cert local": 0,
        "probe_duration_seconds shop local": 0.02,
        "probe_duration_seconds cert local": 0.02,
        "probe_dns_lookup_time_seconds shop local": 0.001,
        "probe_http_status_code shop local": 200,
        "probe_http_duration_seconds shop local resolve": 0.001,
        "probe_http_duration_seconds shop local connect": 0.002,
        "probe_http_duration_seconds shop local tls": 0.003,
        "probe_http_duration_seconds shop local processing": 0.004,
        "probe_http_duration_seconds shop local transfer": 0.005,
        "probe_ssl_earliest_cert_expiry cert local": 1_900_000_000,
    }


async def test_each_location_has_its_own(api: Api) -> None:
    id_ = await make(api, **TCP, locations=["eu", "us"])
    await checked(api, id_, "eu")
    await checked(api, id_, "us", status=Status.DOWN)
    found = samples(await api.get("/v1/metrics"))
    assert (found["probe_success database eu"], found["probe_success database us"]) == (1, 0)


async def test_a_monitor_is_named_by_its_id_whatever_its_name_holds(api: Api) -> None:
    odd = 'a "shop"\\n,}{=\u202e\U0001f600'
    id_ = await make(api, name=odd)
    await checked(api, id_)
    answer = await api.get("/v1/metrics")
    [sample] = [
        one
        for family in text_string_to_metric_families(answer.body.decode())
        for one in family.samples
        if one.name == "probe_success"
    ]
    assert sample.labels == {
        "instance": "https://shop.example.com/",
        "monitor": id_,
        "name": odd,
        "type": "http",
        "location": "local",
    }


async def test_what_is_not_checked_or_says_nothing_is_not_there(api: Api) -> None:
    paused, unknown, silent = [await make(api, name=name) for name in ("paused", "unknown", "silent")]
    await make(api, name="never")
    await checked(api, paused)
    await checked(api, unknown, status=Status.UNKNOWN)
    await checked(api, silent, at=utc_now() - timedelta(minutes=5))
    await api.post(f"/v1/monitors/{paused}/pause")
    assert samples(await api.get("/v1/metrics")) == {}


@pytest.mark.parametrize("path", ["/v1/metrics", "/metrics"])
async def test_a_token_shows_its_own_team_and_no_other(api: Api, path: str) -> None:
    other = await api.other_team()
    await checked(api, await make(api, name="ours"))
    await checked(api, await make(other, name="theirs"))
    shown = {name.split()[1] for name in samples(await (await api.reader()).get(path))}
    assert shown == {"ours"}
    assert {name.split()[1] for name in samples(await other.get(path))} == {"theirs"}


async def test_without_a_token_the_collector_tells_of_itself_alone(api: Api) -> None:
    await checked(api, await make(api))
    nobody = api.with_token(None)
    assert samples(await nobody.get("/metrics")) == {}
    assert b"tocsin_results_committed_total" in (await nobody.get("/metrics")).body
    assert b"tocsin_results_committed_total" in (await api.get("/metrics")).body
    assert (await nobody.get("/v1/metrics")).status == 401


@pytest.mark.parametrize("path", ["/v1/metrics", "/metrics"])
@pytest.mark.parametrize("token", ["", "nonsense", new_token()])
async def test_a_bad_token_is_refused(api: Api, path: str, token: str) -> None:
    answer = await api.with_token(token).get(path)
    assert (answer.status, answer.json["error"]) == (401, "Unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/v1/metrics", "/metrics"])
async def test_who_asks_for_the_head_gets_no_body(api: Api, path: str) -> None:
    await checked(api, await make(api))
    answer = await api.call("HEAD", path)
    assert (answer.status, answer.body) == (200, b"")
    assert (await api.get(path)).status == 200


@pytest.mark.parametrize(
    ("body", "instance"),
    [
        ({}, "https://shop.example.com/"),
        (
            {"config": {"url": "https://robot:sesame@shop.example.com/"}},
            "https://robot:********@shop.example.com/",
        ),
        (TCP, "db.example.com:5432"),
        ({"type": "tcp", "config": {"host": "2001:db8::1", "port": 1}}, "[2001:db8::1]:1"),
        ({"type": "tls", "config": {"domain": "example.com"}}, "example.com"),
        ({"type": "icmp", "config": {"host": "192.0.2.1"}}, "192.0.2.1"),
        ({"type": "smtp", "config": {"host": "mail.example.com"}}, "mail.example.com"),
    ],
)
@pytest.mark.parametrize("path", ["/metrics", "/v1/metrics"])
async def test_the_instance_is_what_is_checked(
    api: Api, path: str, body: dict[str, Any], instance: str
) -> None:
    await checked(api, await make(api, **body))

    text = (await api.get(path)).body.decode()

    samples = [
        sample
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("probe_")
    ]
    assert {sample.labels["instance"] for sample in samples} == {instance}
    assert "_created" not in text
