"""A small OpenID Connect provider of our own, on a real socket; tests have it lie in one way or another."""

import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from aiohttp import web
from joserfc import jwk, jwt

from collector.accounts.core.openid import challenge

CLIENT_ID = "tocsin"
CLIENT_SECRET = "hush"


@dataclass(slots=True)
class Idp:
    """*claims* are put over what the token would say; *issued* by code: the query that asked for it."""

    url: str = ""
    email: str = "somebody@example.com"
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None
    key: Any = field(default_factory=lambda: jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))
    signer: Any = None
    algorithm: str = "RS256"
    broken: bool = False
    issued: dict[str, dict[str, str]] = field(default_factory=dict)

    def approve(self, location: str) -> dict[str, str]:
        """As if its user agreed to what *location* asks for: the query to come back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert (asked["client_id"], asked["response_type"]) == (CLIENT_ID, "code")
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.issued)}"
        self.issued[code] = asked
        return {"code": code, "state": asked["state"]}

    async def about(self, request: web.Request) -> web.Response:
        del request
        if self.broken:
            return web.Response(status=500)
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
            }
        )

    async def keys(self, request: web.Request) -> web.Response:
        del request
        odd = {"kty": "weird", "kid": "odd"}
        return web.json_response({"keys": [odd, self.key.as_dict(private=False)]})

    async def token(self, request: web.Request) -> web.Response:
        """Codes count once, for the client that asked, with the verifier that belongs to them."""
        form = await request.post()
        asked = self.issued.pop(str(form["code"]), None)
        who = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        good = (
            asked is not None
            and who == f"{CLIENT_ID}:{CLIENT_SECRET}"
            and challenge(str(form["code_verifier"])) == asked["code_challenge"]
            and form["redirect_uri"] == asked["redirect_uri"]
        )
        if not good or asked is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": "1",
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            "email": self.email,
            "email_verified": True,
            **self.claims,
        }
        answer = {name: value for name, value in claims.items() if value is not None}
        return web.json_response(
            {"access_token": "at", "token_type": "Bearer", "id_token": self.sign(answer)}
        )

    def sign(self, claims: dict[str, Any]) -> str:
        if self.algorithm == "none":
            parts = [b'{"alg":"none"}', orjson.dumps(claims), b""]
            return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
        key = self.signer or self.key
        return jwt.encode(
            {"alg": self.algorithm, "kid": key.kid or "one"}, claims, key, algorithms=[self.algorithm]
        )

    async def tell(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer at"
        return web.json_response(self.userinfo or {})


@asynccontextmanager
async def provider() -> AsyncIterator[Idp]:
    idp = Idp()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", idp.about)
    app.router.add_get("/keys", idp.keys)
    app.router.add_post("/token", idp.token)
    app.router.add_get("/userinfo", idp.tell)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    idp.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield idp
    finally:
        await runner.cleanup()
