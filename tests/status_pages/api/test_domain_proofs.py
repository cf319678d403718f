"""Custom domains where there are several teams: nobody has one before it is proved, and nobody loses one."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from collector.platform.transport import Transport
from collector.server import make, serve
from collector.status_pages.api import cache
from collector.status_pages.api.status_pages import PROVER
from collector.status_pages.jobs.pages import DomainProofs
from collector.status_pages.service.domains import Prover
from tests.http.client import Answer, Api
from tests.monitors.monitors import rows
from tests.probe.net.nameserver import NXDOMAIN, NameServer, name_server
from tests.receiver import answer, receiving
from tests.status_pages.api.test_status_pages import page

HOST = "status.example.org"
RECORD = f"_tocsin.{HOST}"


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


@pytest.fixture
def names() -> Iterator[NameServer]:
    """Everything leads here; no domain has a record yet."""
    with name_server() as server:
        server.names = {HOST: ["127.0.0.1"], RECORD: NXDOMAIN}
        yield server


@asynccontextmanager
async def proving(api: Api, names: NameServer, port: int = 9, **transport: Any) -> AsyncIterator[Api]:
    """A service that asks this name server, and for files at this port."""
    reaching = Transport(**{"allow_private": True, "nameservers": [names.address], **transport})
    app = make(
        replace(api.context, transport=reaching, hosts=("console.example.org", "*.tocsin.example.org")),
        api.features,
    )
    app[PROVER] = Prover(reaching, (f"http://{{domain}}:{port}",))
    runner = await serve(app, "127.0.0.1:0")
    try:
        yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
        await reaching.close()


async def visit(api: Api) -> bool:
    """Does the domain show a page called Mine?"""
    answer = await api.with_token(None).get("/", headers={"Host": HOST})
    return b"Mine" in answer.body


async def mine(api: Api) -> dict[str, Any]:
    return await page(api, name="Mine", domain=HOST)


async def verified(api: Api, made: dict[str, Any]) -> Answer:
    return await api.post(f"/v1/status-pages/{made['id']}/verify-domain")


async def test_the_only_team_has_a_domain_at_once(api: Api) -> None:
    made = await mine(api)

    assert (made["domainVerified"], made["domainProof"]) == (True, None)
    assert "warnings" not in made
    assert await visit(api)
    assert (await api.post("/v1/status-pages", {"name": "x", "domain": HOST})).status == 409
    await api.other_team()
    assert await visit(api)


async def test_with_more_teams_a_record_gives_it(api: Api, names: NameServer) -> None:
    await api.other_team()
    async with proving(api, names) as served:
        made = await mine(served)
        proof = {"type": "TXT", "name": RECORD, "value": f"tocsin={made['id']}"}
        assert made["domainVerified"] is False
        assert made["domainProof"] == {
            "record": proof,
            "file": {"url": f"https://{HOST}/.well-known/tocsin", "content": proof["value"]},
        }
        assert RECORD in made["warnings"][0]
        assert not await visit(served)
        assert (await verified(served, made)).json["domainVerified"] is False

        names.texts[RECORD] = ["v=other", proof["value"]]
        assert (await verified(served, made)).json["domainVerified"] is True

        shown = (await served.get(f"/v1/status-pages/{made['id']}")).json
        assert (shown["domainVerified"], shown["domainProof"]) == (True, None)
        assert await visit(served)
        named = await rows(served, "SELECT action FROM audit_log WHERE action = 'verify'")
        assert len(named) == 1


async def test_with_more_teams_a_file_gives_it(api: Api, names: NameServer) -> None:
    await api.other_team()
    made = await mine(api)
    text = f"tocsin={made['id']}\n".encode()
    async with receiving(answer(body=text)) as site, proving(api, names, site.port) as served:
        assert (await verified(served, made)).json["domainVerified"] is True
        assert [received.target for received in site.received] == ["/.well-known/tocsin"]
        assert await visit(served)


async def test_a_private_address_is_not_asked_where_that_is_forbidden(api: Api, names: NameServer) -> None:
    await api.other_team()
    made = await mine(api)
    text = f"tocsin={made['id']}".encode()
    async with (
        receiving(answer(body=text)) as site,
        proving(api, names, site.port, allow_private=False) as served,
    ):
        assert (await verified(served, made)).json["domainVerified"] is False
        assert site.received == []


async def test_whoever_asks_first_binds_nobody(api: Api, names: NameServer) -> None:
    other = await api.other_team()
    async with proving(api, names) as served:
        thief = await page(replace(served, token=other.token), name="Thief", domain=HOST)
        made = await mine(served)
        names.texts[RECORD] = [f"tocsin={made['id']}"]

        assert (await verified(replace(served, token=other.token), thief)).json["domainVerified"] is False
        assert (await verified(served, made)).json["domainVerified"] is True

        assert await visit(served)
        late = await other.post("/v1/status-pages", {"name": "Late", "domain": HOST})
        assert (late.status, late.json["message"]) == (409, "Another status page has this domain")


async def test_a_proof_takes_a_domain_from_who_never_proved_it(api: Api, names: NameServer) -> None:
    squatted = await page(api, name="Thief", domain=HOST)
    other = await api.other_team()
    async with proving(api, names) as served:
        owner = replace(served, token=other.token)
        made = await mine(owner)
        names.texts[RECORD] = [f"tocsin={made['id']}"]

        assert (await verified(owner, made)).json["domainVerified"] is True

        assert await visit(served)
        shown = (await served.get(f"/v1/status-pages/{squatted['id']}")).json
        assert (shown["domain"], shown["domainVerified"]) == (HOST, False)


async def test_a_proof_is_of_one_domain_alone(api: Api, names: NameServer) -> None:
    await api.other_team()
    async with proving(api, names) as served:
        made = await mine(served)
        names.texts[RECORD] = [f"tocsin={made['id']}"]
        await verified(served, made)
        path = f"/v1/status-pages/{made['id']}"

        assert (await served.put(path, {"name": "Mine too"})).json["domainVerified"] is True
        moved = await served.put(path, {"domain": "other.example.org"})

        assert moved.json["domainVerified"] is False
        assert not await visit(served)


@pytest.mark.parametrize(
    "host", ["console.example.org", "CONSOLE.example.org", "eu.tocsin.example.org", "tocsin.example.com"]
)
async def test_no_name_of_the_service_is_a_page_s(api: Api, names: NameServer, host: str) -> None:
    async with proving(api, names) as served:
        made = await page(served)
        for refused in (
            await served.post("/v1/status-pages", {"name": "x", "domain": host}),
            await served.put(f"/v1/status-pages/{made['id']}", {"domain": host}),
        ):
            assert refused.status == 409
            assert refused.json["message"] == f"{host.lower()} is a name of this service itself"
        declared = {"statusPages": [{"name": "x", "domain": host}]}
        assert "is a name of this service" in str((await served.post("/v1/apply", declared)).json)


@pytest.mark.oldest
async def test_proofs_are_looked_for_without_being_asked_to_and_ever_less_often(
    api: Api, names: NameServer
) -> None:
    await api.other_team()
    made = await mine(api)
    transport = Transport(allow_private=True, nameservers=[names.address])
    try:
        domains = DomainProofs(api.context.db, Prover(transport, ()), now=api.clock)
        await domains.turn()
        assert names.asked.count(RECORD) == 1
        names.texts[RECORD] = [f"tocsin={made['id']}"]
        await domains.turn()
        assert names.asked.count(RECORD) == 1

        async with asyncio.timeout(10):
            # c-ares forgets that a name is missing in a thread of its own, a moment after the failure.
            while names.asked.count(RECORD) == 1:
                await rows(api, "UPDATE status_pages SET domain_checked_at = now() - interval '2 minutes'")
                await domains.turn()
    finally:
        await transport.close()

    assert (await api.get(f"/v1/status-pages/{made['id']}")).json["domainVerified"] is True
    assert await visit(api)
