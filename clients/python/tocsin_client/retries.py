"""Repeats requests when the service is busy or away; by its key, a POST has its effect once."""

import asyncio
import time
import uuid
from typing import Any

import httpx

BUSY = frozenset({429, 503})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "PATCH"})
_KEY = "Idempotency-Key"
_LONGEST_S = 30.0


class RetryingClient(httpx.Client):
    """A client whose requests are tried *tries* times."""

    def __init__(self, *, tries: int, **options: Any) -> None:
        super().__init__(**options)
        self._tries = tries

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send *request*, again where that is safe. Raises httpx.TransportError of the last try."""
        _add_key(request)
        for number in range(1, self._tries):
            try:
                response = super().send(request, **options)
            except httpx.TransportError as error:
                if not _is_safe(request, error):
                    raise
                time.sleep(_backoff_s(number))
            else:
                if response.status_code not in BUSY:
                    return response
                response.close()
                time.sleep(_wait_s(response, number))
        return super().send(request, **options)


class AsyncRetryingClient(httpx.AsyncClient):
    """As `RetryingClient`, asynchronous."""

    def __init__(self, *, tries: int, **options: Any) -> None:
        super().__init__(**options)
        self._tries = tries

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send *request*, again where that is safe. Raises httpx.TransportError of the last try."""
        _add_key(request)
        for number in range(1, self._tries):
            try:
                response = await super().send(request, **options)
            except httpx.TransportError as error:
                if not _is_safe(request, error):
                    raise
                await asyncio.sleep(_backoff_s(number))
            else:
                if response.status_code not in BUSY:
                    return response
                await response.aclose()
                await asyncio.sleep(_wait_s(response, number))
        return await super().send(request, **options)


def _add_key(request: httpx.Request) -> None:
    if request.method == "POST" and _KEY not in request.headers:
        request.headers[_KEY] = str(uuid.uuid4())


def _is_safe(request: httpx.Request, error: httpx.TransportError) -> bool:
    """Whether a second request has no second effect: by its method, by its key, or as it was never sent."""
    never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return never_sent or request.method in _SAFE or _KEY in request.headers


def _backoff_s(number: int) -> float:
    return float(min(2 ** (number - 1), _LONGEST_S))


def _wait_s(response: httpx.Response, number: int) -> float:
    text = response.headers.get("Retry-After", "")
    return min(float(text), _LONGEST_S) if text.isascii() and text.isdigit() else _backoff_s(number)
