"""The HTTP check that looks into the answer: over a real connection, and over TLS."""

import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.net.tls.openssl import TrustedChains
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Outcome, Status
from tests.probe.net.zoo import DAY, HERE, MIDDLE, ROOT, issue, serving
from tests.probe.targets import Target, over_tls, says, target

JSON = b'{"status":"degraded","token":"hush-hush-hush","n":[1,2]}'


@pytest.fixture(params=[False, True], ids=["openssl", "rustls"])
async def net(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    net.trust = TrustedChains(tmp_path / "root.pem", rustls=request.param)
    yield net
    net.close()


def answer(body: bytes, *headers: str, code: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {code} Fine", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def check(net: Net, server: Target, *assertions: dict[str, Any], **config: Any) -> Outcome:
    kind = load("http", {"url": server.url, **config, "assertions": list(assertions)})
    return (await run(CHECKS["http"](kind), net, 5.0)).outcome


async def test_all_that_is_asserted_holds(net: Net) -> None:
    with target(
        says(b"HTTP/1.1 103 Early\r\nX-Kind: early\r\n\r\n" + answer(JSON, "X-Kind: late"))
    ) as server:
        outcome = await check(
            net,
            server,
            {"source": "header", "path": "x-kind", "value": "late"},
            {"source": "header", "path": "x-kind", "op": "ne", "value": "early"},
            {"source": "json", "path": "n[1]", "value": 2},
            {"source": "body", "op": "matches", "value": "degr.ded"},
            {"source": "responseTime", "op": "lt", "value": 5000},
        )

    assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_a_packed_body_is_unpacked(net: Net) -> None:
    packed = zlib.compress(JSON, wbits=31)
    with target(says(answer(packed, "Content-Encoding: gzip"))) as server:
        outcome = await check(net, server, {"source": "json", "path": "status", "value": "degraded"})

    assert outcome.status is Status.UP


@pytest.mark.parametrize(
    ("config", "assertion", "error"),
    [
        ({}, {"source": "json", "path": "status", "value": "ok"}, 'json status eq "ok", found "degraded"'),
        ({}, {"source": "status", "op": "gt", "value": 200}, "status gt 200, found 200"),
        ({}, {"source": "certificateDays", "op": "gt", "value": 1}, "certificateDays gt 1, found nothing"),
        (
            {"maxBodyBytes": 10},
            {"source": "json", "path": "n", "value": 1},
            "json n eq 1, but the body is not JSON",
        ),
        ({"method": "HEAD"}, {"source": "body", "op": "exists"}, "body exists, found nothing"),
    ],
)
async def test_what_does_not_hold_is_down(
    net: Net, config: dict[str, Any], assertion: dict[str, Any], error: str
) -> None:
    with target(says(answer(JSON))) as server:
        outcome = await check(net, server, assertion, **config)

    assert (outcome.status, outcome.code) == (Status.DOWN, 200)
    assert outcome.error == f"assertion failed: {error}"
    assert outcome.evidence is not None


async def test_a_status_that_is_asserted_needs_no_other_to_be_expected(net: Net) -> None:
    asserted = {"source": "status", "value": 418}
    with target(says(answer(b"", code=418))) as server:
        alone = await check(net, server, asserted)
        beside = await check(net, server, asserted, expectedStatus=200)

    assert alone.status is Status.UP
    assert beside.error == "status 418, expected 200"


async def test_a_secret_of_the_request_is_not_told_as_found(net: Net) -> None:
    with target(says(answer(JSON))) as server:
        outcome = await check(
            net,
            server,
            {"source": "json", "path": "token", "value": "x"},
            headers={"X-Key": "hush-hush-hush"},
        )

    assert outcome.error.startswith('assertion failed: json token eq "x", found')
    assert "hush" not in outcome.error


@pytest.mark.parametrize("verify", [True, False])
async def test_the_days_of_the_first_certificate_to_end_count(net: Net, verify: bool) -> None:
    leaf = issue(HERE, hosts=[HERE], by=MIDDLE, ends=20 * DAY)
    with target(over_tls(serving(leaf, MIDDLE), says(answer(JSON)))) as server:
        url = f"https://{server.peer}/"
        for _ in range(3):
            outcome = await check(
                net,
                server,
                {"source": "certificateDays", "op": "ge", "value": 18},
                {"source": "certificateDays", "op": "lt", "value": 18},
                url=url,
                verifyTls=verify,
            )
            assert outcome.error.startswith("assertion failed: certificateDays lt 18, found 19")
            assert outcome.ends == pytest.approx(leaf.certificate.not_valid_after_utc.timestamp())
