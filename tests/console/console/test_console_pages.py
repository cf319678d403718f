"""What holds for every page of the console, tried on every row of its table: who may, and who is tricked."""

import io
import re
from typing import Final

import pytest

from collector.console.site import ConsolePage
from collector.pages import PAGES
from collector.platform.access import Permission, Role, permits
from shared.ids import show, uuid7
from tests.console.client import Console, Page

pytestmark = pytest.mark.shares_server

ROLES: Final = {
    "viewer": Permission.READ_ONLY,
    "editor": Permission.READ_WRITE,
    "admin": Permission.ADMIN,
}
PREFIXES: Final = {
    "/monitors": "mon",
    "/incidents": "inc",
    "/alerting/rules": "rule",
    "/alerting/channels": "chan",
    "/alerting/alerts": "alert",
    "/alerting/maintenance": "mw",
    "/settings/tokens": "tok",
    "/settings/users": "usr",
    "/settings/probes/tokens": "tok",
    "/settings/probes": "prb",
    "/settings/walls": "wall",
    "/settings/account/sessions": "ses",
    "/settings/account/passkeys": "pky",
    "/status-pages/templates": "tpl",
}
STREAMS: Final = {"/events", "/monitors/live"}
GUARDED: Final = [page for page in PAGES if page.needs is not None and page.path not in STREAMS]
FORMS: Final = [page for page in PAGES if page.method == "POST"]
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


def name(page: ConsolePage) -> str:
    return f"{page.method} {page.path}"


def address(page: ConsolePage) -> str:
    """The page's path with ids of nothing in it."""
    start = page.path.partition("/{")[0]
    return re.sub(r"\{\w+\}", lambda _: show(PREFIXES.get(start, "mon"), uuid7()), page.path)


def safe(page: Page) -> None:
    """The headers by which a browser helps to protect the visitor."""
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert {key: page.headers[key] for key in HEADERS} == HEADERS
    assert page.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", page.text)


async def test_nobody_sees_or_does_anything_without_a_session(console: Console) -> None:
    through = []
    for page in GUARDED:
        answer = await console.call(
            page.method, address(page), headers={"Origin": console.url}, allow_redirects=False
        )
        if (answer.status, answer.headers.get("Location", "").partition("?")[0]) != (303, "/sign-in"):
            through.append(name(page))

    assert not through


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_is_let_through_to_what_its_permission_allows_alone(
    console: Console, role: Role
) -> None:
    await console.sign_in(await console.person(role))
    await console.get("/settings/account")

    for page in GUARDED:
        if page.path.startswith("/sign-out") or page.path == "/settings/account/password":
            continue
        fields = {"csrf": console.last.csrf if console.last else ""}
        answer = await console.call(
            page.method,
            address(page),
            headers={"Origin": console.url},
            data=fields if page.method == "POST" else None,
        )
        assert page.needs is not None
        if permits(ROLES[role], page.needs):
            assert answer.status in (200, 400, 404), (name(page), answer.words)
        else:
            assert answer.status == 403, name(page)
            assert "this needs" in answer.words
        safe(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {},
        {"Origin": "{url}.example.com"},
        {"Origin": "{url}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "{url}", "Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_a_form_from_another_site_does_nothing(console: Console, headers: dict[str, str]) -> None:
    await console.sign_in()
    await console.get("/settings/account")
    sent = {key: text.format(url=console.url) for key, text in headers.items()}
    fields = {"csrf": console.last.csrf if console.last else ""}

    answers = {
        name(page): await console.call("POST", address(page), headers=sent, data=fields) for page in FORMS
    }

    assert not {
        key: answer.status
        for key, answer in answers.items()
        if answer.status != 403 or "not from this session" not in answer.words
    }


async def test_a_form_without_this_session_s_token_does_nothing(console: Console) -> None:
    user = await console.person("admin")
    await console.sign_in(user)
    await console.get("/settings/account")
    stolen = console.last.csrf if console.last else ""
    await console.post("/sign-out")
    await console.sign_in(user)
    nonce, _, signature = stolen.partition(".")

    through = [
        (name(page), csrf)
        for page in FORMS
        if page.needs is not None
        for csrf in ("", stolen, f".{signature}", f"{nonce}.é")
        if (
            await console.call("POST", address(page), headers={"Origin": console.url}, data={"csrf": csrf})
        ).status
        != 403
    ]

    assert not through


async def test_the_token_of_forms_is_another_one_each_time(console: Console) -> None:
    await console.sign_in()

    first, second = await console.get("/settings/account"), await console.get("/settings/account")

    assert first.csrf != second.csrf
    assert (await console.post("/settings/team", {"name": "Renamed"})).path == "/settings/team"


async def test_the_api_takes_no_cookie(console: Console) -> None:
    await console.sign_in()

    assert (await console.get("/v1/me")).status == 401
    assert (await console.call("POST", "/v1/tokens", json={"name": "x", "permission": "admin"})).status == 401


async def test_the_console_takes_no_token_of_the_api(console: Console) -> None:
    headers = {"Authorization": f"Bearer {console.api.token}"}

    assert (await console.get("/settings/tokens", headers=headers)).path.startswith("/sign-in")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_that_shows_or_changes_something_asks_for_a_session(page: ConsolePage) -> None:
    by_secret = ("/invitations/", "/reset/", "/setup/", "/confirm/", "/wall/")
    open_ = ("/assets/", "/docs", "/sign-in", "/forgot", *by_secret)
    # What a browser needs of the app before and without a session; none of these shows anything of a team.
    shell = ("/manifest.webmanifest", "/worker.js", "/offline")
    # What everybody changes for themselves alone.
    own = ("/sign-out", "/settings/account", "/monitors/filters")
    if page.needs is None:
        assert page.path in shell or page.path.startswith(open_)
    elif page.method == "POST" and not page.path.startswith(own):
        assert permits(page.needs, Permission.READ_WRITE)


async def test_what_a_role_may_not_use_is_not_shown(console: Console) -> None:
    await console.sign_in(await console.person("viewer"))

    page = await console.get("/settings/account")

    assert "API tokens" not in page.words
    assert "Audit log" not in page.words
    assert 'href="/settings/account"' in page.text


async def test_failures_are_pages_and_tell_nothing_internal(console: Console) -> None:
    await console.sign_in()

    missing = await console.get(f"/settings/users/{show('usr', uuid7())}")

    assert missing.status == 404
    assert "User not found" in missing.words
    safe(missing)


async def test_scripts_and_styles_are_kept_for_ever_and_small(console: Console) -> None:
    page = await console.get("/sign-in")
    found = set(re.findall(r'(?:href|src)="(/assets/[^"]+)"', page.text))
    total = 0
    for path in found:
        answer = await console.get(path, headers={"Accept-Encoding": "identity"})
        assert answer.status == 200
        assert "immutable" in answer.headers["Cache-Control"]
        total += len(answer.text)

    assert len(found) >= 3
    assert total < 200_000
    assert (await console.get(re.sub(r"[0-9a-f]{16}", "0" * 16, min(found)))).status == 404


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("multipart/form-data; boundary=x", b"garbage", 400),
        ("multipart/form-data", b"garbage", 400),
        ("application/json", b"{}", 400),
        ("application/x-www-form-urlencoded; charset=nonsense", b"email=x&password=y", 403),
        ("application/x-www-form-urlencoded", b"email=%ff%fe&password=%00", 403),
        ("application/x-www-form-urlencoded", b"\xff\xfe", 400),
        ("application/x-www-form-urlencoded", b"a&" * 30_000, 400),
        ("application/x-www-form-urlencoded", b"email=" + b"a" * 2_000_000, 413),
        ("application/x-www-form-urlencoded", b"", 403),
    ],
)
async def test_a_body_that_is_no_form_is_refused_as_such(
    console: Console, kind: str, body: bytes, status: int
) -> None:
    answer = await console.call(
        "POST", "/sign-in", data=io.BytesIO(body), headers={"Origin": console.url, "Content-Type": kind}
    )

    assert answer.status == status
    safe(answer)


async def test_a_body_that_is_not_packed_as_it_says_is_refused(console: Console) -> None:
    headers = {"Origin": console.url, "Content-Encoding": "gzip"}

    answer = await console.call("POST", "/sign-in", data=b"no gzip", headers=headers, compress=False)

    assert answer.status == 400


@pytest.mark.parametrize(
    ("takes", "packed"),
    [
        pytest.param("gzip, deflate, br", True, id="gzip"),
        pytest.param("identity", False, id="nothing"),
        pytest.param("gzip;q=0", False, id="anything but gzip"),
    ],
)
async def test_pages_come_packed_to_whoever_takes_that(console: Console, takes: str, packed: bool) -> None:
    await console.sign_in()

    page = await console.get("/monitors", headers={"Accept-Encoding": takes})

    assert page.status == 200
    assert "</html>" in page.text
    assert page.headers["Vary"] == "Accept-Encoding"
    assert (page.headers.get("Content-Encoding") == "gzip") is packed
    assert (int(page.headers["Content-Length"]) < len(page.text.encode()) / 2) is packed
    safe(page)
