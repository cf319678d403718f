"""Headers of every response: request id, rate limit, security."""

import re
import secrets
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from itertools import count
from typing import Final

from aiohttp import hdrs, web
from multidict import istr

from collector.http import auth, cors, problems, ratelimit
from collector.http.auth import REQUEST_ID

X_REQUEST_ID: Final = istr("X-Request-Id")
_X_CONTENT_TYPE_OPTIONS, _HSTS = istr("X-Content-Type-Options"), istr("Strict-Transport-Security")
_HALF_A_YEAR: Final = "max-age=15552000"
_SANE_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")
# An id need not be unguessable, only unique: one random part per process is enough.
_RUN, _REQUESTS = secrets.token_hex(12), count(1)


@cache
def common(*, secure: bool) -> Mapping[str, str]:
    """Return the headers of all responses; a browser that came by https once must do so again."""
    headers: dict[str, str] = {hdrs.SERVER: "tocsin", _X_CONTENT_TYPE_OPTIONS: "nosniff"}
    if secure:
        headers[_HSTS] = _HALF_A_YEAR
    return headers


def request_id(sent: str | None) -> str:
    """Return the id that the client *sent*, if fit for a header and a log, else a new one."""
    return sent if sent is not None and _SANE_ID.fullmatch(sent) else f"{_RUN}{next(_REQUESTS):08x}"


async def mark(request: web.Request, response: web.StreamResponse) -> None:
    """Add the common headers to a response just before it is sent."""
    if type(response) is not web.Response and isinstance(response, web.HTTPException):
        problems.reshape(response)
    headers = response.headers
    headers.update(common(secure=auth.is_secure(request)))
    headers[X_REQUEST_ID] = request.get(REQUEST_ID) or request_id(None)
    # The rest of such a connection cannot be parsed.
    if request.content.exception() is not None or response.status == HTTPStatus.REQUEST_TIMEOUT:
        response.force_close()
        headers[hdrs.CONNECTION] = "close"
    ratelimit.mark(request, response, auth.address)
    cors.mark(request, response)
