"""Nothing under /v1 without a good token; nothing beyond what the token permits."""

from datetime import timedelta

import pytest

from collector.platform.access import Permission, permits
from collector.routes import ROUTES
from shared.clock import utc_now
from shared.ids import show, uuid7
from shared.tokens import new_token
from tests.http.client import Answer, Api

pytestmark = pytest.mark.shares_server

UNAUTHORIZED = {"error": "Unauthorized", "status": 401}


def refused(answer: Answer) -> None:
    assert answer.status == 401
    assert answer.json == {**UNAUTHORIZED, "message": answer.json["message"]}
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/me"),
        ("GET", "/v1/incidents"),
        ("GET", "/v1"),
        ("GET", "/v1/"),
        ("GET", "/v1/nothing/here"),
        ("DELETE", "/v1/me"),
        ("GET", f"/v1/incidents/{show('inc', uuid7())}"),
        ("GET", "/v1/incidents/nonsense"),
        ("GET", "/v1/incidents?page=0"),
        ("GET", "/%76%31/me"),
    ],
)
async def test_without_a_token_everything_under_v1_is_401(team: Api, method: str, path: str) -> None:
    refused(await team.with_token(None).call(method, path))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer {token} {token}",
        "Bearer tocsin_\xff\xfe",
        "Bearer " + "x" * 600,
        "Bearer tocsin_" + "a" * 40,
        "Token {token}",
    ],
)
async def test_a_malformed_header_is_401(team: Api, header: str) -> None:
    text = header.format(token=team.token)
    refused(await team.with_token(None).get("/v1/me", headers={"Authorization": text}))


@pytest.mark.parametrize("token", [new_token(), "a token of some length"])
async def test_a_token_that_nobody_made_is_401(team: Api, token: str) -> None:
    refused(await team.with_token(token).get("/v1/me"))


async def test_the_scheme_is_read_in_any_case(team: Api) -> None:
    answer = await team.with_token(None).get("/v1/me", headers={"Authorization": f"bEARER  {team.token}"})

    assert answer.status == 200


async def test_an_expired_token_is_401(api: Api) -> None:
    brief = await api.allowed(Permission.ADMIN, expires_at=utc_now() + timedelta(days=30))
    assert (await brief.get("/v1/me")).status == 200

    api.clock.ahead = timedelta(days=30)

    refused(await brief.get("/v1/me"))


async def test_a_revoked_token_is_401_at_once(api: Api) -> None:
    gone = await api.writer()
    assert (await gone.get("/v1/me")).status == 200

    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE tokens SET revoked_at = now() WHERE permission = 'read-write'")

    refused(await gone.get("/v1/me"))
    assert (await api.get("/v1/me")).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/v1/monitors", "/v1/me", "/v1/incidents/nonsense", "/v1/nothing/here"])
async def test_a_read_only_token_changes_nothing_whatever_the_path(team: Api, method: str, path: str) -> None:
    answer = await (await team.reader()).call(method, path, b"{ not even JSON")

    assert answer.status == 403
    assert answer.json == {"error": "Forbidden", "status": 403, "message": answer.json["message"]}


DESCRIPTIONS = {"/v1/openapi.json", "/v1/apply-schema.json", "/v1/docs"}
# What brings something has a credential of its own, in the path or instead of a token.
BY_KEY = ("/v1/ping/", "/v1/ingest/", "/ping/", "/api/push/", "/subscriptions/")
# Forms of public pages: the password of a private one, and an address for what it tells.
FORMS = {"/status/{slug}", "/status/{slug}/subscribe"}


@pytest.mark.parametrize(("method", "path", "permission"), [(row[0], row[1], row[3]) for row in ROUTES])
def test_every_route_under_v1_asks_for_a_token_and_changes_for_more(
    method: str, path: str, permission: Permission | None
) -> None:
    if path.startswith("/v1/") and not path.startswith(BY_KEY) and path not in DESCRIPTIONS:
        assert permission is not None
        assert method == "GET" or permits(permission, Permission.READ_WRITE)
    else:
        assert permission is None
        assert method == "GET" or path.startswith(BY_KEY) or path in FORMS


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/v1/me", "/v1/incidents"])
async def test_a_read_only_token_reads(team: Api, method: str, path: str) -> None:
    assert (await (await team.reader()).call(method, path)).status == 200


async def test_the_bad_token_is_in_no_answer(team: Api) -> None:
    token = new_token()

    answer = await team.with_token(token).get("/v1/me")

    assert token.encode() not in answer.body
    assert token not in str(answer.headers)
