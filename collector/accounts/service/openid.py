"""Sign-in by an OpenID Connect provider, for email addresses that users of this deployment have."""

import base64
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote_plus

import aiohttp
import orjson

from collector.accounts.core import openid as rules
from collector.accounts.core.openid import Attempt
from collector.accounts.storage import openid as table
from collector.accounts.storage import users as people
from collector.accounts.storage.users import User
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.hosts import HostResolver
from collector.platform.storage.db import Db
from collector.platform.transport import guarded
from shared import ids, trust
from shared.errors import Forbidden, Unavailable
from shared.held import demand_none

_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_TIMEOUT: Final = aiohttp.ClientTimeout(total=10)
_MOST_BYTES: Final = 1_048_576
_KEPT_S: Final = 3600.0
# Keys are fetched again for an unknown key at most this often.
_ASKED_EVERY_S: Final = 10.0
_AWAY: Final = "The sign-in provider does not answer as it should; try again, or sign in by password."


@dataclass(frozen=True, slots=True)
class Client:
    """The operator's settings: *issuer* as the provider spells it, *name* as the button shows it."""

    issuer: str
    client_id: str
    client_secret: str
    name: str


class Provider:
    """One provider; its metadata and keys are cached for an hour. Needs a running loop.

    *allow_private*: whether it may be at a private address.
    """

    def __init__(
        self, client: Client, redirect: str, *, nameservers: Sequence[str] = (), allow_private: bool = True
    ) -> None:
        self.client = client
        self._redirect = redirect
        self._names = HostResolver(nameservers)
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=self._names,
                ssl=trust.of_the_system(),
                socket_factory=guarded(allow_private=allow_private),
            ),
            timeout=_TIMEOUT,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )
        self._about: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, Mapping[str, Any]] | None = None

    async def close(self) -> None:
        await self._http.close()
        await self._names.close()

    async def begin(self, after: str, user: str) -> tuple[Attempt, str]:
        """Return a new attempt and the URL of its request. Raises Unavailable."""
        attempt = Attempt(_secret(), _secret(), _secret(), after, user)
        endpoint = await self._endpoint("authorization_endpoint")
        return attempt, rules.address(endpoint, self.client.client_id, self._redirect, attempt)

    async def end(self, attempt: Attempt | None, query: Mapping[str, str], now: datetime) -> str:
        """Return the address that the provider verified. Raises Forbidden, Unavailable."""
        code = rules.returned(attempt, query, self.client.issuer)
        if attempt is None:
            raise Forbidden(_AWAY)
        tokens = await self._redeem(code, attempt.verifier)
        claims = await self._claims(tokens.get("id_token"))
        rules.believe(
            claims,
            issuer=self.client.issuer,
            client_id=self.client.client_id,
            nonce=attempt.nonce,
            now=now,
        )
        if "email" not in claims:
            claims = await self._more(claims, tokens.get("access_token"))
        return rules.email(claims)

    async def _redeem(self, code: str, verifier: str) -> Mapping[str, Any]:
        about = await self._discover()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": verifier,
        }
        known = about.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        own, secret = self.client.client_id, self.client.client_secret
        basic = "client_secret_basic" in known and bool(secret)
        if not basic:
            form |= {"client_id": own, **({"client_secret": secret} if secret else {})}
        status, answer = await self._ask(
            "POST",
            await self._endpoint("token_endpoint"),
            data=form,
            headers={"Authorization": _basic(own, secret)} if basic else {},
        )
        if status != 200:
            raise Forbidden("The sign-in provider did not take its own code back. Please begin again.")
        return answer

    async def _claims(self, token: object) -> Mapping[str, Any]:
        """Return the claims of a token signed with one of the provider's keys."""
        if not isinstance(token, str) or not token:
            raise Forbidden("The sign-in provider sent no token.")
        from collector.accounts.service import id_tokens  # noqa: PLC0415 - a library of 52 modules, for a rare sign-in

        for fresh in (False, True):
            claims = id_tokens.verified(token, await self._key_set(fresh=fresh))
            if claims is not None:
                return claims
        raise Forbidden("The token of the sign-in provider is not signed by it.")

    async def _more(self, claims: Mapping[str, Any], token: object) -> Mapping[str, Any]:
        """Return the claims of the userinfo endpoint, if the provider has one."""
        about = await self._discover()
        if "userinfo_endpoint" not in about or not isinstance(token, str):
            return claims
        endpoint = await self._endpoint("userinfo_endpoint")
        status, data = await self._ask("GET", endpoint, headers={"Authorization": f"Bearer {token}"})
        if status != 200 or data.get("sub") != claims.get("sub"):
            raise Forbidden("The sign-in provider does not say who you are.")
        return data

    async def _key_set(self, *, fresh: bool) -> Mapping[str, Any]:
        age = time.monotonic() - self._keys[0] if self._keys else None
        if self._keys is None or age is None or age > (_ASKED_EVERY_S if fresh else _KEPT_S):
            status, data = await self._ask("GET", await self._endpoint("jwks_uri"))
            if status != 200:
                raise Unavailable(_AWAY)
            self._keys = (time.monotonic(), data)
        return self._keys[1]

    async def _endpoint(self, name: str) -> str:
        found = (await self._discover()).get(name)
        if not isinstance(found, str) or not found.startswith(("https://", "http://")):
            raise Unavailable(_AWAY)
        return found

    async def _discover(self) -> Mapping[str, Any]:
        if self._about is None or time.monotonic() - self._about[0] > _KEPT_S:
            status, data = await self._ask("GET", self.client.issuer.rstrip("/") + _WELL_KNOWN)
            if status != 200 or data.get("issuer") != self.client.issuer:
                raise Unavailable(_AWAY)
            self._about = (time.monotonic(), data)
        return self._about[1]

    async def _ask(self, method: str, url: str, **options: Any) -> tuple[int, Mapping[str, Any]]:
        demand_none("asking the provider")
        try:
            async with self._http.request(method, url, allow_redirects=False, **options) as answer:
                raw = await answer.content.read(_MOST_BYTES)
                while not answer.content.at_eof() and len(raw) < _MOST_BYTES:
                    raw += await answer.content.read(_MOST_BYTES)
                data = orjson.loads(raw) if answer.status == 200 else {}
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
            raise Unavailable(_AWAY) from None
        if not isinstance(data, dict):
            raise Unavailable(_AWAY)
        return answer.status, data


async def known(db: Db, email: str, now: datetime) -> list[User]:
    """Return the users with the address who have joined, or whose invitation is valid."""
    async with db.connection() as tx:
        users = await people.with_email(tx, email)
    return [user for user in users if user.invited_until is None or now < user.invited_until]


async def join(db: Db, user: User) -> None:
    """Accept the user's invitation, if there is one."""
    if user.invited_until is None:
        return
    shown = ids.show("usr", user.id)
    async with db.transaction() as tx:
        await table.join(tx, user.team_id, user.id)
        who = Actor(user.team_id, shown, user.name)
        await audit.record(tx, who, "join", "user", shown, name=user.email)


def _basic(client_id: str, secret: str) -> str:
    """Encode as RFC 6749 says: both parts form-encoded before they are joined."""
    return "Basic " + base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()).decode()


def _secret() -> str:
    return secrets.token_urlsafe(32)
