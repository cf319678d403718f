"""Cookies that no other host can set and no script can read."""

from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web

from collector.http.auth import is_secure


@dataclass(frozen=True, slots=True)
class HostCookie:
    """A cookie; over HTTPS its name has the prefix by which browsers bind it to this host."""

    plain_name: str

    def name(self, request: web.Request) -> str:
        """Return its name for the client of *request*."""
        return f"__Host-{self.plain_name}" if is_secure(request) else self.plain_name

    def read(self, request: web.Request) -> str:
        """Return its value, or an empty text."""
        return request.cookies.get(self.name(request), "")

    def set(self, request: web.Request, answer: web.StreamResponse, value: str, kept_for: timedelta) -> None:
        """Let the browser keep *value* for that time."""
        answer.set_cookie(
            self.name(request),
            value,
            path="/",
            max_age=int(kept_for.total_seconds()),
            httponly=True,
            samesite="Lax",
            secure=is_secure(request),
        )

    def delete(self, request: web.Request, answer: web.StreamResponse) -> None:
        """Let the browser delete it."""
        answer.del_cookie(
            self.name(request), path="/", httponly=True, samesite="Lax", secure=is_secure(request)
        )
