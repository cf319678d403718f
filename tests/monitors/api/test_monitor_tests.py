"""A test of a configuration is run by a connected probe and answered as the interface shows."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from collector.monitors.service import runs
from shared.phases import pack
from shared.results import Phases, Status
from tests.http.client import Api
from tests.http.far_end import answering
from tests.monitors.monitors import probe, rows

BODY = {
    "type": "http",
    "config": {"url": "https://shop.example.com/", "headers": {"Authorization": "Bearer of-no-good"}},
}
GOOD = {"status": Status.UP, "code": 204, "error": "", "durationUs": 34_567}
BAD = {"status": Status.DOWN, "code": 0, "error": "connection refused", "durationUs": 1_200}


@pytest.fixture
async def asked(api: Api, request: pytest.FixtureRequest) -> AsyncIterator[list[dict[str, Any]]]:
    """What probes were asked to run; the far end of a session answers each with the test's parameter."""
    async with answering(api, request.param) as heard:
        yield heard


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        pytest.param(
            GOOD,
            {"success": True, "responseTime": 35, "statusCode": 204, "message": "It answered in 35 ms"},
            id="a good target",
        ),
        pytest.param(
            BAD,
            {"success": False, "responseTime": 1, "statusCode": None, "message": "connection refused"},
            id="a failing target is no error",
        ),
        pytest.param(
            {**GOOD, "phases": pack(Phases(tls_us=300), 59).hex()},
            {
                "success": True,
                "responseTime": 35,
                "statusCode": 204,
                "message": "It answered in 35 ms; the certificate has 59 days left",
                "daysLeft": 59,
            },
            id="a certificate",
        ),
        pytest.param(
            {**BAD, "error": "tls: expired", "phases": pack(Phases(tls_us=300), -3).hex()},
            {
                "success": False,
                "responseTime": 1,
                "statusCode": None,
                "message": "tls: expired",
                "daysLeft": -3,
            },
            id="a certificate that is over",
        ),
    ],
    indirect=["asked"],
)
async def test_what_the_probe_found_is_the_answer(
    api: Api, asked: list[dict[str, Any]], shown: dict[str, Any]
) -> None:
    await probe(api, "eu", session=7)

    answer = await api.post("/v1/monitors/test", BODY)

    assert answer.status == 200
    assert answer.json == shown
    assert len(asked) == 1


@pytest.mark.parametrize("asked", [GOOD], indirect=True)
async def test_the_first_location_asked_for_runs_it_with_secrets_sealed(
    api: Api, asked: list[dict[str, Any]]
) -> None:
    await probe(api, "eu", session=7)
    await probe(api, "us", session=8)

    answer = await api.post("/v1/monitors/test", {**BODY, "locations": ["us", "eu"], "timeout": 3, "nope": 1})

    assert answer.json["warnings"] == ["unknown field nope was ignored"]
    [run] = asked
    assert (run["session"], run["withinMs"]) == (8, 3000)
    sealed = base64.b64decode(run["sealed"])
    opened = api.context.keyring.open(sealed, runs.place(api.team_id, run["id"]))
    assert orjson.loads(opened)["headers"] == BODY["config"]["headers"]  # type: ignore[index]
    [signal] = await rows(api, "SELECT payload FROM signals WHERE kind = 'run'")
    assert "of-no-good" not in str(signal)


async def test_without_a_probe_it_says_try_again(api: Api) -> None:
    answer = await api.post("/v1/monitors/test", BODY)

    assert answer.status == 503
    assert answer.json["error"] == "Service Unavailable"
    assert answer.json["retryAfter"] > 0
