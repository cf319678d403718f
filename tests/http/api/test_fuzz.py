"""Every operation fuzzed from its description: none fails inside, none answers what it does not say."""

import asyncio
import contextlib
import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from collector.openapi import OPERATIONS
from tests.http.client import Api
from tests.http.route_table import NEED_A_PROBE, prepared

pytestmark = pytest.mark.races

FEW = 4
EXAMPLES = int(os.environ.get("TOCSIN_TEST_EXAMPLES", FEW))
# It has no end.
STREAM = "GET /v1/events"
# There is no probe here, which it says with 503 after 5 s: only where there is time.
TESTS = {f"POST {path}" for path in NEED_A_PROBE}
# Who brings something sends bytes, not JSON: their own tests are hostile enough.
BY_KEY = {key for key in OPERATIONS if key.partition(" ")[2].startswith(("/v1/ping/", "/v1/ingest/"))}
FUZZED = set(OPERATIONS) - BY_KEY - ({STREAM} if EXAMPLES > FEW else {STREAM, *TESTS})
CHECKS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
AT_ONCE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def fuzz(operation: Any, url: str, token: str | None, path: str, mode: GenerationMode) -> None:
    """In a thread of its own: schemathesis waits for its answers."""
    parameters = {"id": path.split("/")[3]} if "{" in operation.path else None
    checks = CHECKS if operation.path.endswith("/test") else [*CHECKS, not_a_server_error]

    @AT_ONCE
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=parameters))
    def one(case: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}
        response = case.call(base_url=url)
        case.validate_response(response, checks=checks)

    # What takes no parameters has no wrong ones.
    with contextlib.suppress(Unsatisfiable):
        one()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("key", [pytest.param(key, id=key) for key in sorted(FUZZED)])
async def test_no_request_is_answered_otherwise_than_it_says(team: Api, key: str) -> None:
    method, _, path = key.partition(" ")
    document = (await team.get("/v1/openapi.json")).json
    operation = schemathesis.openapi.from_dict(document)[path][method]
    real = await prepared(team, method, path)

    for mode in GenerationMode:
        await asyncio.to_thread(fuzz, operation, team.url, team.token, real, mode)
