"""The clients: connections, retries, and the stream of events around the generated operations."""

import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from tocsin_client.events import Event, follow, follow_async
from tocsin_client.generated.client import AuthenticatedClient
from tocsin_client.operations import AsyncOperations, Operations
from tocsin_client.retries import AsyncRetryingClient, RetryingClient
from tocsin_client.version import VERSION

_TIMEOUT_S = 30.0
_TRIES = 4


class Tocsin(Operations):
    """A blocking client: *url* of the service, with or without ``/v1``, and an API token.

    *timeout_s* bounds a request, *tries* how often it is sent while the service is busy or away. *verify*: a
    context of TLS for a service with an authority of its own.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = _TIMEOUT_S,
        tries: int = _TRIES,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        self._http = RetryingClient(tries=tries, **_options(url, token, timeout_s, verify))
        super().__init__(_wrapped(url, token).set_httpx_client(self._http))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def events(
        self, *, kinds: Sequence[str] = (), monitor_ids: Sequence[str] = (), after: str | None = None
    ) -> Iterator[Event]:
        """Yield events as they happen, for ever; *after*: the id of an event, to begin with those since.

        *kinds* and *monitor_ids* choose events; all if empty. Raises ApiError if the service refuses.
        """
        return follow(self._http, _query(kinds, monitor_ids), after)


class AsyncTocsin(AsyncOperations):
    """As `Tocsin`, asynchronous."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = _TIMEOUT_S,
        tries: int = _TRIES,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        self._http = AsyncRetryingClient(tries=tries, **_options(url, token, timeout_s, verify))
        super().__init__(_wrapped(url, token).set_async_httpx_client(self._http))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def events(
        self, *, kinds: Sequence[str] = (), monitor_ids: Sequence[str] = (), after: str | None = None
    ) -> AsyncIterator[Event]:
        """Yield events as they happen, for ever; see `Tocsin.events`."""
        return follow_async(self._http, _query(kinds, monitor_ids), after)


def _base(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")


def _options(url: str, token: str, timeout_s: float, verify: ssl.SSLContext | bool) -> dict[str, Any]:
    return {
        "base_url": _base(url),
        "headers": {"Authorization": f"Bearer {token}", "User-Agent": f"tocsin-client/{VERSION}"},
        "timeout": timeout_s,
        "verify": verify,
        # A redirect would carry the token to another host.
        "follow_redirects": False,
    }


def _wrapped(url: str, token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=_base(url), token=token, raise_on_unexpected_status=False)


def _query(kinds: Sequence[str], monitor_ids: Sequence[str]) -> dict[str, str]:
    return {
        name: ",".join(values) for name, values in (("kind", kinds), ("monitor_id", monitor_ids)) if values
    }
