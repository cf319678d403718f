"""/v1/probes and /v1/probe-tokens: what an admin sees of probes, and what may be done to whose."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.probes.core.assignment import ProbeCandidate, pool
from collector.probes.service import authority, enrolment, join_tokens
from collector.probes.service.sessions import accept
from collector.probes.storage import enrolments, probes
from collector.probes.storage.probes import ProbeDescription, ProbeSignal
from shared import ids, pki
from shared import join_tokens as shared_tokens
from shared.ids import uuid7
from tests.http.client import Api

NOBODY = ids.show("prb", uuid7())


async def joined(api: Api, team_id: int | None, name: str = "probe-1") -> UUID:
    """A probe that joined with a token of that team, or of the operator."""
    async with api.context.db.transaction() as tx:
        trust = await authority.trust(api.context.db, api.context.keyring, api.clock())
        _, text = await join_tokens.issue(tx, trust, team_id=team_id, locations=["eu"], now=api.clock())
    issued = await enrolment.enrol(
        api.context.db,
        trust,
        secret=shared_tokens.read(text).secret,
        csr=pki.request(pki.new_key()),
        name=name,
        locations=[],
        now=api.clock(),
    )
    return issued.probe_id


async def connect(api: Api, probe_id: UUID, vitals: dict[str, Any]) -> None:
    newcomer = ProbeDescription(
        probe_id, ["eu"], ["http"], False, "0.1.0", "boot-1", "ipv4:192.0.2.1:4711", [7]
    )
    accepted = await accept(api.context.db, newcomer, api.clock())
    async with api.context.db.transaction() as tx:
        await probes.note(tx, [ProbeSignal(probe_id, accepted.session, api.clock(), vitals)])


def path(probe_id: UUID, deed: str = "") -> str:
    return f"/v1/probes/{ids.show('prb', probe_id)}{deed}"


async def test_a_probe_is_shown_with_how_it_is(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    await connect(api, probe_id, {"running": 3, "skewMs": -12, "spoolBatches": 2, "lateUsMax": 1500})

    shown = (await api.get(path(probe_id))).json

    assert shown["id"] == ids.show("prb", probe_id)
    assert (shown["name"], shown["location"], shown["locations"]) == ("probe-1", "eu", ["eu"])
    assert (shown["status"], shown["version"], shown["clockSkewMs"]) == ("online", "0.1.0", -12)
    assert shown["load"] == {
        "monitors": 0, "running": 3, "skipped": 0, "lateMs": 1.5, "spoolBatches": 2, "spoolBytes": 0,
    }  # fmt: skip
    assert len(shown["certificate"]["serial"]) == 40
    assert shown["certificate"]["notAfter"].endswith("Z")
    assert shown["shared"] is False
    assert shown["lastSeenAt"] is not None
    assert (await api.get("/v1/probes")).json["data"] == [shown]


async def test_a_probe_that_never_came_or_fell_silent_is_offline(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    assert (await api.get(path(probe_id))).json["status"] == "offline"
    await connect(api, probe_id, {})
    api.clock.ahead = timedelta(minutes=1)

    assert (await api.get(path(probe_id))).json["status"] == "offline"


async def test_it_is_renamed_and_keeps_the_name_when_it_comes_again(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    answer = await api.put(path(probe_id), {"name": "Frankfurt", "status": "revoked"})
    await connect(api, probe_id, {})

    assert answer.json["name"] == "Frankfurt"
    assert (await api.get(path(probe_id))).json["name"] == "Frankfurt"


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "  "}, {"name": "n" * 101}, {"name": 7}])
async def test_a_bad_name_is_refused(api: Api, body: dict[str, Any]) -> None:
    answer = await api.put(path(await joined(api, api.team_id)), body)

    assert answer.status == 400
    assert list(answer.json["details"]) == ["name"]


async def test_it_is_drained_and_taken_back(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    await connect(api, probe_id, {})

    first = (await api.post(path(probe_id, "/drain"))).json
    again = (await api.post(path(probe_id, "/drain"))).json
    assert (first["status"], again) == ("draining", first)

    assert (await api.delete(path(probe_id, "/drain"))).status == 204
    assert (await api.get(path(probe_id))).json["status"] == "online"


@pytest.mark.parametrize(("method", "deed", "status"), [("POST", "/revoke", 200), ("DELETE", "", 204)])
async def test_a_revoked_probe_stays_revoked(api: Api, method: str, deed: str, status: int) -> None:
    probe_id = await joined(api, api.team_id)
    await connect(api, probe_id, {})

    assert (await api.call(method, path(probe_id, deed))).status == status

    shown = (await api.get(path(probe_id))).json
    assert (shown["status"], shown["certificate"]) == ("revoked", None)
    assert (await api.post(path(probe_id, "/drain"))).status == 409
    await api.post(path(probe_id, "/revoke"))
    assert (await api.get(path(probe_id))).json["revokedAt"] == shown["revokedAt"]


async def test_the_operators_probe_is_seen_and_left_alone(api: Api) -> None:
    probe_id = await joined(api, None)

    assert (await api.get(path(probe_id))).json["shared"] is True
    for method, deed in (("PUT", ""), ("DELETE", ""), ("POST", "/drain"), ("DELETE", "/drain")):
        assert (await api.call(method, path(probe_id, deed), {"name": "mine"})).status == 403
    assert (await api.post(path(probe_id, "/revoke"))).status == 403
    assert (await api.get(path(probe_id))).json["revokedAt"] is None


async def test_another_teams_probe_is_as_if_it_were_not(api: Api) -> None:
    probe_id, other = await joined(api, api.team_id), await api.other_team()

    assert (await other.get("/v1/probes")).json["data"] == []
    for method, deed in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/drain"), ("POST", "/revoke")):
        foreign = await other.call(method, path(probe_id, deed), {"name": "mine"})
        unknown = await other.call(method, f"/v1/probes/{NOBODY}{deed}", {"name": "mine"})
        assert (foreign.status, foreign.body) == (404, unknown.body)


async def test_only_an_admin_sees_probes(api: Api) -> None:
    writer = await api.writer()

    assert (await writer.get("/v1/probes")).status == 403
    assert (await writer.post("/v1/probe-tokens", {"location": "eu"})).status == 403


async def test_a_token_of_a_team_makes_a_probe_that_sees_this_team_only(api: Api) -> None:
    other = await api.other_team()
    mine = await joined(api, api.team_id)
    await connect(api, mine, {})
    async with api.context.db.connection() as tx:
        known = await probes.candidates(tx)

    def chosen(team_id: int, among: list[ProbeCandidate]) -> list[UUID]:
        return [probe for probe, _ in pool(among, team_id, "http", "eu", api.clock()).live]

    assert chosen(api.team_id, known) == [mine]
    assert chosen(other.team_id, known) == []


async def test_a_join_token_is_told_once_and_listed_without_its_text(api: Api) -> None:
    made = await api.post("/v1/probe-tokens", {"location": "eu", "uses": 2, "ttl": 600})

    assert made.status == 201
    text = made.json["token"]
    listed = await api.get("/v1/probe-tokens")
    [shown] = listed.json["data"]
    assert shown == {name: value for name, value in made.json.items() if name != "token"}
    assert (shown["locations"], shown["uses"], shown["used"]) == (["eu"], 2, 0)
    assert text.encode() not in listed.body
    shared_tokens.read(text)


async def test_a_join_tokens_use_is_counted(api: Api) -> None:
    await joined(api, api.team_id)

    [shown] = (await api.get("/v1/probe-tokens")).json["data"]
    assert (shown["uses"], shown["used"]) == (1, 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "locations"),
        ({"locations": []}, "locations"),
        ({"location": "Not a slug"}, "locations[0]"),
        ({"location": 7}, "locations[0]"),
        ({"location": "eu", "uses": 0}, "uses"),
        ({"location": "eu", "uses": True}, "uses"),
        ({"location": "eu", "ttl": 59}, "ttl"),
        ({"location": "eu", "ttl": 10**9}, "ttl"),
    ],
)
async def test_a_wish_that_cannot_be_met_is_refused(api: Api, body: dict[str, Any], field: str) -> None:
    answer = await api.post("/v1/probe-tokens", body)

    assert answer.status == 400
    assert list(answer.json["details"]) == [field]


async def test_a_token_is_deleted_by_its_own_team_only(api: Api) -> None:
    made, other = (await api.post("/v1/probe-tokens", {"location": "eu"})).json, await api.other_team()
    at = f"/v1/probe-tokens/{made['id']}"

    assert (await other.get("/v1/probe-tokens")).json["data"] == []
    assert (await other.delete(at)).status == 404
    assert (await api.delete(at)).status == 204
    assert (await api.delete(at)).status == 404


async def test_certificates_that_are_over_are_forgotten(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE probe_certificates SET not_after = now() - interval '1 s'")
        later = enrolments.IssuedCertificate(b"s" * 20, probe_id, b"a", api.clock(), api.clock())
        await enrolments.note(tx, later)
        assert await tx.fetchval("SELECT array_agg(serial) FROM probe_certificates") == [b"s" * 20]


async def test_a_blind_probe_is_shown_with_since_when(api: Api) -> None:
    probe_id = await joined(api, api.team_id)
    await connect(api, probe_id, {"blind": True})
    shown = (await api.get(path(probe_id))).json
    assert shown["status"] == "online"
    assert shown["blindSince"] == shown["lastSeenAt"]
    await connect(api, probe_id, {"blind": False})
    assert (await api.get(path(probe_id))).json["blindSince"] is None
