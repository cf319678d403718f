"""A browser without a screen, for tests of the console: it keeps cookies and fills forms in."""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any

import aiohttp
from yarl import URL

from collector.accounts.service import users
from collector.accounts.service.openid import Provider
from collector.accounts.storage import users as table
from collector.accounts.storage.users import User
from collector.platform.access import Role
from collector.server import make, serve
from shared.ids import uuid7
from tests.http.client import Api

PASSWORD = "a long enough password"
# With the cost that is written beside it: at the usual one signing in would be half of what these tests cost.
_SALT = bytes(16)
_DERIVED = hashlib.scrypt(PASSWORD.encode(), salt=_SALT, n=16, r=8, p=1)
_CHEAP = f"scrypt$16$8$1${_SALT.hex()}${_DERIVED.hex()}"
_CSRF = re.compile(r'name="csrf" (?:content|value)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Page:
    """What came back; *path* is where it ended after redirects."""

    status: int
    path: str
    text: str
    headers: Mapping[str, str]

    @property
    def csrf(self) -> str:
        match = _CSRF.search(self.text)
        return match[1] if match else ""

    @property
    def words(self) -> str:
        """What a reader sees, more or less."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())


@dataclass(slots=True)
class Console:
    """One browser; *url* is the server's."""

    url: str
    session: aiohttp.ClientSession
    api: Api
    last: Page | None = None
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **options: Any) -> Page:
        return await self.call("GET", path, **options)

    async def post(self, path: str, fields: Mapping[str, Any] | None = None, **options: Any) -> Page:
        """As a form of the page that is open would be sent: with its token, from our own origin."""
        csrf = self.last.csrf if self.last else ""
        data = [("csrf", csrf)] + [
            (name, text)
            for name, value in (fields or {}).items()
            for text in (value if isinstance(value, list) else [value])
        ]
        headers = {"Origin": self.url, **options.pop("headers", {})}
        return await self.call("POST", path, data=aiohttp.FormData(data), headers=headers, **options)

    async def call(self, method: str, path: str, **options: Any) -> Page:
        headers = {**self.headers, **options.pop("headers", {})}
        async with self.session.request(method, self.url + path, headers=headers, **options) as answer:
            text = await answer.text(errors="replace")  # of a PDF, too
            page = Page(answer.status, answer.url.path_qs, text, answer.headers)
        if page.csrf:
            self.last = page
        return page

    async def sign_in(self, user: User | None = None, password: str = PASSWORD) -> Page:
        """As *user*, or as a new admin."""
        someone = user or await self.person("admin")
        return await self.post("/sign-in", {"email": someone.email, "password": password})

    async def person(
        self, role: Role, email: str = "", team_id: int | None = None, password: str = PASSWORD
    ) -> User:
        """Somebody of the team who has joined, with the usual password, kept at a small cost."""
        id_, now = uuid7(), self.api.clock()
        team = team_id or self.api.team_id
        address = email or f"{role}-{id_.hex[-8:]}@example.com"
        user = User(team, id_, address, f"The {role}", role, now, None)
        kept = _CHEAP if password == PASSWORD else await users.stored(password)
        async with self.api.context.db.transaction() as tx:
            await table.insert(tx, user, id_.bytes)
            await table.set_password(tx, team, id_, kept)
        return user

    @property
    def cookies(self) -> dict[str, str]:
        return {
            name: morsel.value
            for name, morsel in self.session.cookie_jar.filter_cookies(URL(self.url)).items()
        }


@asynccontextmanager
async def served(api: Api, openid: Provider | None = None, **changed: Any) -> AsyncIterator[str]:
    """The URL of a server with the context of *api*, but for what is *changed*."""
    app = make(replace(api.context, **changed), replace(api.features, openid=openid))
    runner = await serve(app, "127.0.0.1:0")
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def visiting(url: str, api: Api) -> AsyncIterator[Console]:
    """A browser that was never there before."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Console(url, session, api)
