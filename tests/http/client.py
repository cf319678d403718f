"""A client of the API, for tests: it holds one token, and can get others."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import aiohttp
import orjson

from collector.accounts.service import tokens
from collector.accounts.storage import teams
from collector.http.context import Context
from collector.platform.access import Permission
from collector.server import Features
from shared.clock import utc_now
from shared.ids import uuid7


@dataclass(slots=True)
class Clock:
    """The server's clock; *ahead* moves it."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return utc_now() + self.ahead


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class Api:
    """Calls the server as one token's holder; *url* has neither the version nor a slash at its end."""

    url: str
    session: aiohttp.ClientSession = field(repr=False)
    context: Context
    features: Features
    clock: Clock
    team_id: int
    user_id: UUID
    token: str | None

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """*body* goes out as JSON, bytes and files as they are; *options* are aiohttp's (headers, ...)."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token is not None else {}
        headers |= options.pop("headers", {})
        data = body if body is None or isinstance(body, bytes | io.IOBase) else orjson.dumps(body)
        async with self.session.request(
            method, self.url + path, data=data, headers=headers, allow_redirects=False, **options
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.call("POST", path, body, **options)

    async def put(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.call("PUT", path, body, **options)

    async def patch(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.call("PATCH", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Answer:
        return await self.call("DELETE", path, **options)

    def with_token(self, token: str | None) -> "Api":
        """The same client with another token, or none."""
        return replace(self, token=token)

    async def allowed(self, permission: Permission, expires_at: datetime | None = None) -> "Api":
        """The same person with a new token of *permission*."""
        async with self.context.db.transaction() as tx:
            token = await tokens.issue(
                tx,
                team_id=self.team_id,
                user_id=self.user_id,
                name=permission.value,
                permission=permission,
                now=self.clock(),
                expires_at=expires_at,
            )
        return self.with_token(token)

    async def reader(self) -> "Api":
        return await self.allowed(Permission.READ_ONLY)

    async def writer(self) -> "Api":
        return await self.allowed(Permission.READ_WRITE)

    async def other_team(self, admin: str = "Other admin") -> "Api":
        """The admin of another team of the same deployment."""
        user_id, email = uuid7(), f"{admin.partition(' ')[0].lower()}@example.com"
        async with self.context.db.transaction() as tx:
            team_id = await teams.insert(tx, uuid7(), "Other", "pro", self.clock())
            await teams.insert_user(tx, team_id, user_id, email, admin, "admin", self.clock())
        return await replace(self, team_id=team_id, user_id=user_id).allowed(Permission.ADMIN)
