"""The API under its worst users, from outside: holds, deletions, floods, forbidden targets, no database."""

import asyncio
import contextlib
import gzip
import hashlib
import ipaddress
import os
import random
import signal
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import aiohttp
import cramjam
import pytest

from collector.pages import PAGES
from collector.routes import ROUTES
from shared import ids
from shared.tokens import new_token
from tests.e2e.burden import Burden
from tests.e2e.product import Caller, Product, connected, eventually, running
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WELL, ILL = answer(200), answer(500)
FOR_A_WHILE_S = 2.5


async def test_what_a_silence_held_is_told_at_its_end(tmp_path: Path) -> None:
    async with outage(tmp_path) as (target, hook, caller, monitor, _):
        target.always = WELL
        await hook.wait_for(2)
        await caller.made(f"{monitor}/silence", {"duration": 600, "reason": "works"})
        target.always = ILL
        incident = await eventually(lambda: only(caller, "/v1/incidents?status=open"))
        await asyncio.sleep(FOR_A_WHILE_S)
        assert len(hook.received) == 2

        assert await caller.call("DELETE", f"{monitor}/silence") == (204, None)

        down = (await hook.wait_for(3))[-1].json
        assert (down["event"], down["incident"]["id"]) == ("monitor.down", incident["id"])
        target.always = WELL
        assert (await hook.wait_for(4))[-1].json["event"] == "monitor.up"


async def test_a_pause_in_an_outage_goes_on_with_the_same_incident(tmp_path: Path) -> None:
    async with outage(tmp_path) as (target, hook, caller, monitor, incident):
        assert (await caller.made(f"{monitor}/pause", None))["status"] == "paused"
        assert (await caller.got(monitor))["status"] == "paused"
        assert (await caller.made(f"{monitor}/resume", None))["status"] == "up"
        await eventually(lambda: has_status(caller, monitor, "down"))
        await asyncio.sleep(FOR_A_WHILE_S)
        [same] = (await caller.got("/v1/incidents"))["data"]
        assert (same["id"], same["status"], len(hook.received)) == (incident["id"], "open", 1)

        target.always = WELL
        down, up = (exchange.json for exchange in await hook.wait_for(2))
        assert (up["event"], up["incident"]["id"]) == ("monitor.up", incident["id"])
        assert up["sequence"] > down["sequence"]


async def test_the_end_of_a_deleted_monitor_reaches_who_was_told_and_nobody_else(tmp_path: Path) -> None:
    async with receiving() as late, outage(tmp_path) as (_, hook, caller, monitor, incident):
        await caller.made("/v1/alert-channels", channel(late))

        assert await caller.call("DELETE", monitor) == (204, None)

        over = (await hook.wait_for(2))[-1].json
        assert (over["event"], over["monitor"]["status"]) == ("monitor.up", "deleted")
        assert over["incident"]["id"] == incident["id"]
        ended = await caller.got(f"/v1/incidents/{incident['id']}")
        assert (ended["status"], ended["resolvedBy"]) == ("resolved", {"id": None, "name": "System"})
        events = (await caller.got(f"/v1/incidents/{incident['id']}/timeline"))["events"]
        assert events[-1]["type"] == "monitor_deleted"
        await asyncio.sleep(FOR_A_WHILE_S)
        assert (len(hook.received), late.received) == (2, [])


async def test_a_channel_that_goes_in_the_middle_of_its_retries_is_tried_no_more(tmp_path: Path) -> None:
    async with (
        receiving(always=ILL) as gone,
        receiving(always=ILL) as off,
        outage(tmp_path, gone, off) as (_, hook, caller, _, incident),
    ):
        paths = {
            item["name"]: f"/v1/alert-channels/{item['id']}"
            for item in (await caller.got("/v1/alert-channels"))["data"]
        }
        assert await caller.call("DELETE", paths[gone.url()]) == (204, None)
        status, _ = await caller.call("PUT", paths[off.url()], {"enabled": False})
        assert status == 200
        before = len(gone.received), len(off.received)
        given_up = await eventually(lambda: only(caller, paths[off.url()] + "/deliveries"))
        await eventually(lambda: has_status(caller, paths[off.url()] + "/deliveries", "failed"))
        assert (len(gone.received), len(off.received), len(hook.received)) == (*before, 1)
        assert given_up["event"] == "monitor.down"
        events = (await caller.got(f"/v1/incidents/{incident['id']}/timeline"))["events"]
        assert events[-1]["type"] == "notification_failed"


async def test_a_thousand_callers_and_all_deeds_at_once_break_nothing(tmp_path: Path) -> None:
    async with (
        receiving(always=ILL) as target,
        running(tmp_path) as (product, caller),
        flood(product) as many,
    ):
        made = [await caller.made("/v1/monitors", monitor_of(target)) for _ in range(20)]
        paths = [f"/v1/monitors/{item['id']}" for item in made]
        reads = ["/v1/monitors", "/v1/me", "/v1/incidents", *paths]
        seen = Counter(
            status
            for status, _ in await asyncio.gather(
                *(many.call("GET", random.choice(reads)) for _ in range(1000))
            )
        )
        assert seen == {200: 1000}

        async def hammer() -> list[int]:
            return [(await many.call(*random_deed(paths)))[0] for _ in range(10)]

        hammered = await asyncio.gather(*(hammer() for _ in range(50)))
        statuses = Counter(status for one in hammered for status in one)
        assert set(statuses) <= {200, 204, 400}, statuses
        deleted = await asyncio.gather(*(many.call("DELETE", path) for path in paths * 2))
        assert Counter(status for status, _ in deleted) == {204: 20, 404: 20}
        assert (await caller.got("/v1/incidents?status=open"))["data"] == []
        assert '"level": "error"' not in product.log.read_text()


async def test_addresses_of_the_inside_are_refused_where_the_operator_says_so(tmp_path: Path) -> None:
    async with (
        receiving() as inside,
        running(tmp_path, ALLOW_PRIVATE_TARGETS="false", STAND_IN="false") as (_, caller),
    ):
        await eventually(lambda: connected(caller))
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"):
            url = f"http://{host}:{inside.port}/"
            tested = await caller.made("/v1/monitors/test", {"type": "http", "config": {"url": url}})
            assert (tested["success"], tested["statusCode"]) == (False, None)
            made = await caller.made(
                "/v1/alert-channels", {"name": host, "type": "webhook", "config": {"url": url}}
            )
            sent = await caller.made(f"/v1/alert-channels/{made['id']}/test", None)
            assert (sent["success"], sent["deliveredAt"]) == (False, None)
        assert inside.connections == 0
        made = await caller.made("/v1/monitors", monitor_of(inside) | {"locations": ["mars"]})
        assert made["warnings"] == ["location mars has no probe: nothing checks from there yet"]


async def test_without_a_database_every_answer_says_when_to_come_back(tmp_path: Path) -> None:
    async with running(tmp_path) as (product, caller):
        [supervisor] = product.pids("up")
        os.kill(supervisor, signal.SIGSTOP)
        try:
            product.kill("postgres")
            for method, path in (
                ("GET", "/v1/me"),
                ("POST", "/v1/monitors"),
                ("DELETE", "/v1/monitors/" + ids.show("mon", ids.uuid7())),
                ("GET", "/readyz"),
            ):
                assert await caller.call(method, path) == (
                    503,
                    {
                        "error": "Service Unavailable",
                        "message": "the database is away",
                        "status": 503,
                        "retryAfter": 1,
                    },
                )
            assert (await caller.call("GET", "/healthz"))[0] == 200
            async with caller.session.get(product.url + "/metrics") as numbers:
                assert numbers.status == 200
        finally:
            os.kill(supervisor, signal.SIGCONT)
        await product.ready()
        assert (await caller.call("GET", "/v1/me"))[0] == 200


async def test_secrets_are_in_no_log_no_error_and_no_answer_to_who_may_only_read(tmp_path: Path) -> None:
    async with receiving(always=ILL) as target, running(tmp_path) as (product, caller):
        reader = Caller(product, caller.session, await reader_token(product))
        config = {
            "url": f"http://robot:SEEDED-password@127.0.0.1:{target.port}/",
            "headers": {"X-Key": "SEEDED-header-of-some-length"},
            "body": "SEEDED-body-of-some-length",
            "auth": {"type": "bearer", "token": "SEEDED-token-of-some-length"},
        }
        hook = {
            "url": f"http://robot:SEEDED-password@127.0.0.1:{target.port}/SEEDED-path/of-some-length",
            "headers": {"X-Key": "SEEDED-header-of-some-length"},
            "signingSecret": "SEEDED-secret-of-some-length",
        }
        monitor = f"/v1/monitors/{(await caller.made('/v1/monitors', monitor_of(target, config)))['id']}"
        made = await caller.made("/v1/alert-channels", {"name": "hook", "type": "webhook", "config": hook})
        alert = f"/v1/alert-channels/{made['id']}"
        incident = f"/v1/incidents/{(await eventually(lambda: only(caller, '/v1/incidents')))['id']}"
        told = [
            await caller.made(f"{alert}/test", None),
            await caller.call("PUT", alert, {"config": {"url": 5}}),
        ]
        reads = ("/v1/monitors", monitor, f"{monitor}/results", incident, f"{incident}/timeline", alert)
        paths = (*reads, "/v1/alert-channels", f"{alert}/deliveries", "/v1/me")
        told += [await reader.got(path) for path in paths]
        assert "SEEDED" not in str(told) + product.log.read_text()
        assert caller.token not in product.log.read_text()
        whole = await caller.got(monitor)
        assert whole["config"]["url"] == config["url"]
        status, answered = await caller.call("PUT", monitor, await reader.got(monitor))
        assert (status, "warnings" in answered) == (200, False)
        assert (await caller.got(monitor))["config"] == whole["config"]


async def test_a_packed_body_costs_what_a_plain_one_does_at_every_door(tmp_path: Path) -> None:
    async with running(tmp_path, TRUSTED_PROXIES="127.0.0.1") as (product, caller), flood(product) as many:
        throw = await thrower(
            many, {path: (await caller.made(path, body))["id"] for path, body in MADE.items()}
        )
        [pid] = product.pids("collector")
        cpu_s: dict[str, float] = {}
        more_mb: dict[str, float] = {}
        for kind, bodies in (("plain", PLAIN), ("packed", packed_bodies())):
            burden = Burden(pid)
            for method, path in doors():
                statuses = await asyncio.gather(*(throw(method, path, *one) for one in bodies))
                assert max(statuses) < 500, (method, path, statuses)
                async with asyncio.timeout(5):
                    assert (await caller.call("GET", "/healthz"))[0] == 200, (method, path)
            cpu_s[kind], more_mb[kind] = burden.cpu_s() / len(bodies), burden.more_mb()

        assert cpu_s["packed"] < 2 * cpu_s["plain"]
        assert more_mb["packed"] < more_mb["plain"] + 32
        assert '"level": "error"' not in product.log.read_text()


# Signed in or not: a body as it is, and of each encoding one that takes a good part of a second to unpack.
PLAIN: Final = [("identity", bytes(130_000), signed_in) for signed_in in (False, True)]


def packed_bodies() -> list[tuple[str, bytes, bool]]:
    """Made when they are needed: to pack them takes longer than to import all tests of a folder."""
    bodies = (
        ("br", bytes(cramjam.brotli.compress(bytes(256 << 20), level=5))),
        ("deflate", zlib.compress(bytes(128 << 20))),
        ("gzip", gzip.compress(bytes(128 << 20))),
        ("zstd", bytes(cramjam.zstd.compress(bytes(256 << 20)))),
    )
    return [(name, packed, signed_in) for name, packed in bodies for signed_in in (False, True)]


MADE: Final[dict[str, dict[str, Any]]] = {
    "/v1/monitors": {"type": "heartbeat", "name": "job", "config": {"expectedInterval": "1h"}},
    "/v1/status-pages": {"name": "Example"},
    "/v1/incidents": {"title": "It smells of smoke"},
}


def doors() -> list[tuple[str, str]]:
    """Every route, in each of its methods, and some that there are not."""
    known = [(method, path) for method, path, *_ in ROUTES] + [(page.method, page.path) for page in PAGES]
    return [*known, ("POST", "/"), ("POST", "/v1/nowhere"), ("PUT", "/healthz"), ("OPTIONS", "/v1/me")]


async def thrower(many: Caller, made: dict[str, str]) -> Callable[..., Awaitable[int]]:
    """What sends a body to a route, each time from another address, as an admin or as nobody."""
    url, addresses = many.product.url, map(str, ipaddress.ip_network("10.0.0.0/8"))
    sent = {"token": many.token}
    async with many.session.post(
        f"{url}/sign-in", data=sent, headers={"Origin": url}, allow_redirects=False
    ) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]

    async def throw(method: str, path: str, encoding: str, body: bytes, signed_in: bool) -> int:
        id_ = made.get(path.partition("/{")[0], "nobody") if method != "DELETE" else "nobody"
        headers = {"Content-Encoding": encoding, "X-Forwarded-For": next(addresses), "Origin": url}
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        if signed_in:
            headers |= {"Authorization": f"Bearer {many.token}", "Cookie": cookie}
        where = url + path.replace("{slug}", "example").replace("{id}", id_)
        async with many.session.request(
            method, where, data=body, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status

    return throw


@contextlib.asynccontextmanager
async def outage(
    directory: Path, *others: Receiver
) -> AsyncIterator[tuple[Receiver, Receiver, Caller, str, dict[str, Any]]]:
    """A monitor whose outage was notified: its target, the channels, the caller, its path, its incident."""
    async with receiving(always=ILL) as target, receiving() as hook, running(directory) as (_, caller):
        for receiver in (hook, *others):
            await caller.made("/v1/alert-channels", channel(receiver))
        made = await caller.made("/v1/monitors", monitor_of(target))
        for receiver in (hook, *others):
            assert (await receiver.wait_for(1))[0].json["event"] == "monitor.down"
        incident = await only(caller, "/v1/incidents?status=open")
        yield target, hook, caller, f"/v1/monitors/{made['id']}", incident


@contextlib.asynccontextmanager
async def flood(product: Product) -> AsyncIterator[Caller]:
    """A caller with as many connections as it likes."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield Caller(product, session, product.token)


def channel(hook: Receiver) -> dict[str, Any]:
    return {"name": hook.url(), "type": "webhook", "config": {"url": hook.url()}}


def monitor_of(target: Receiver, config: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "name": "shop",
        "type": "http",
        "config": config or {"url": target.url("/")},
        "interval": 1,
        "timeout": 1,
        "failureThreshold": 1,
    }


def random_deed(paths: list[str]) -> tuple[str, str, Any]:
    path = random.choice(paths)
    return random.choice(
        [
            ("PUT", path, {"interval": random.randint(1, 3)}),
            ("PUT", path, {"config": {"headers": {"X-Chance": str(random.random())}}}),
            ("PUT", path, {"dependsOn": [random.choice(paths).rpartition("/")[2]]}),
            ("PUT", path, {"locations": random.choice([["local"], ["local", "moon"]])}),
            ("POST", f"{path}/pause", None),
            ("POST", f"{path}/resume", None),
            ("POST", f"{path}/silence", {"duration": random.randint(1, 3)}),
            ("DELETE", f"{path}/silence", None),
            ("GET", f"{path}/results", None),
        ]
    )


async def only(caller: Caller, path: str) -> Any:
    """The first of a list, if it has any."""
    return next(iter((await caller.got(path))["data"]), None)


async def has_status(caller: Caller, path: str, status: str) -> bool:
    found = await caller.got(path)
    return any(item["status"] == status for item in found.get("data", [found]))


async def reader_token(product: Product) -> str:
    """A read-only token, which no route makes yet."""
    token = new_token()
    connection = await product.connect()
    await connection.execute(
        """
        INSERT INTO tokens (team_id, id, user_id, name, permission, hash, created_at)
        SELECT team_id, $1, id, 'reader', 'read-only', $2, now() FROM users
        """,
        ids.uuid7(),
        hashlib.sha256(token.encode()).digest(),
    )
    await connection.close()
    return token
