"""Calls the API of a service: one token, JSON, lists by pages, and the stream of events."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, Final
from urllib.parse import quote, urlencode

from shared import trust
from shared.errors import Conflict, Forbidden, Invalid, NotFound, TocsinError, Unauthorized, Unavailable
from shared.ids import uuid7

_TIMEOUT_S: Final = 30.0
# The service sends at least a comment each 15 s.
_SILENCE_S: Final = 45.0
_TRIES: Final = 4
_LONGEST_WAIT_S: Final = 30.0
_LARGEST: Final = 64 << 20
_LONGEST_LINE: Final = 4 << 20
_PAGE: Final = 100
_PASSING: Final = frozenset({429, 503})
_KINDS: Final[Mapping[int, type[TocsinError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """An event of the stream: its id, to resume after it, its kind and its payload."""

    id: str
    kind: str
    payload: dict[str, Any]


class _Busy(Unavailable):
    """The service asks to repeat the request later."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another host."""

    def redirect_request(self, *_args: Any, **_options: Any) -> None:
        return None


class Api:
    """A service, by the address of its API (with or without ``/v1``) and a token.

    A request is repeated while the service is busy, or if its connection breaks; a POST carries an
    idempotency key, so that a repeated one has no second effect. Raises Unavailable if the service cannot be
    reached or is no Tocsin; Unauthorized, Forbidden, NotFound, Conflict and Invalid as the API answers.
    """

    def __init__(self, url: str, token: str) -> None:
        self._base = url.rstrip("/").removesuffix("/v1")
        self._token = token
        secure = (
            urllib.request.HTTPSHandler(context=trust.of_the_system()) if url.startswith("https") else None
        )
        self._opener = urllib.request.build_opener(_NoRedirects, *([secure] if secure else []))

    def get(self, path: str, **query: str | None) -> dict[str, Any]:
        """Return the answer to GET of *path*, below ``/v1``; a query of None is left out."""
        return self._call("GET", path, query, None)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to POST of *body*."""
        return self._call("POST", path, {}, body or {})

    def delete(self, path: str) -> None:
        """DELETE *path*."""
        self._call("DELETE", path, {}, None)

    def all(self, path: str, most: int, **query: str | None) -> list[dict[str, Any]]:
        """Return the items of a list, *most* at the most, page by page."""
        items: list[dict[str, Any]] = []
        page = 1
        while len(items) < most:
            answer = self.get(path, **query, page=str(page), limit=str(min(_PAGE, most)))
            items += answer["data"]
            if len(answer["data"]) < min(_PAGE, most):
                break
            page += 1
        return items[:most]

    def events(self, last_id: str | None = None, **query: str | None) -> Iterator[StreamedEvent]:
        """Yield events as they happen, after *last_id*; a lost stream is resumed where it ended, for ever."""
        wait_s = 1.0
        while True:
            try:
                with self._open(
                    "GET", "/events", query, None, {"Last-Event-ID": last_id or ""}, _SILENCE_S
                ) as stream:
                    for event in _read_events(stream):
                        wait_s, last_id = 1.0, event.id or last_id
                        if event.kind:
                            yield event
            except Unavailable:
                if last_id is None:  # it never worked: the address may be wrong
                    raise
            except (OSError, HTTPException):
                pass
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def _call(
        self, method: str, path: str, query: Mapping[str, str | None], body: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        more = {"Idempotency-Key": str(uuid7())} if method == "POST" else {}
        for left in reversed(range(_TRIES)):
            try:
                with self._open(method, path, query, body, more, _TIMEOUT_S) as response:
                    return self._read(response)
            except _Busy as error:
                if not left:
                    raise
                time.sleep(min(error.retry_after, _LONGEST_WAIT_S))
            except (OSError, HTTPException) as error:
                if not left or method == "DELETE":
                    raise self._lost(error) from None
        raise AssertionError("the last try returns or raises")

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | None],
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        timeout_s: float,
    ) -> HTTPResponse:
        given = {name: value for name, value in query.items() if value is not None}
        url = f"{self._base}/v1{quote(path)}" + (f"?{urlencode(given)}" if given else "")
        request = urllib.request.Request(  # noqa: S310 - of http or https, as the setting's check demands
            url,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                **{name: value for name, value in headers.items() if value},
            },
        )
        try:
            response: HTTPResponse = self._opener.open(request, timeout=timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, HTTPException) as error:
            raise self._lost(error) from None
        return response

    def _read(self, response: HTTPResponse) -> dict[str, Any]:
        content = response.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise self._odd()
        if response.length:  # not so much came as was announced
            raise IncompleteRead(content)
        try:
            answer = json.loads(content) if content else {}
        except (ValueError, RecursionError):
            raise self._odd() from None
        if not isinstance(answer, dict):
            raise self._odd()
        return answer

    def _refused(self, error: urllib.error.HTTPError) -> TocsinError:
        """Return the error for an answer that is no success."""
        try:
            answer = json.loads(error.read(1 << 20))
        except (ValueError, RecursionError, OSError, HTTPException):
            answer = None
        if not isinstance(answer, dict) or "message" not in answer:
            return Unavailable(f"{self._base} answers {error.code}, and not as Tocsin does")
        text, details = str(answer["message"]), answer.get("details")
        if error.code in _PASSING:
            after = error.headers.get("Retry-After", "1")
            return _Busy(text, int(after) if after.isascii() and after.isdigit() else 1)
        if error.code == 400 and isinstance(details, dict):
            return Invalid(
                details, "; ".join([text, *(f"{name}: {fault}" for name, fault in details.items())])
            )
        return _KINDS.get(error.code, Conflict)(text)

    def _lost(self, error: Exception) -> Unavailable:
        reason = getattr(error, "reason", error)
        return Unavailable(f"{self._base} cannot be reached: {reason or 'no answer'}")

    def _odd(self) -> Unavailable:
        return Unavailable(f"{self._base} answers something that is not Tocsin's")


def _read_events(stream: HTTPResponse) -> Iterator[StreamedEvent]:
    """Yield the events of one stream; one without a kind moves the id alone."""
    id_, kind, data = "", "", ""
    while line := stream.readline(_LONGEST_LINE):
        name, _, value = line.decode(errors="replace").rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            id_ = value
        elif name == "event":
            kind = value
        elif name == "data":
            data += value
        elif not name and not value:
            if id_:
                yield StreamedEvent(id_, kind, _payload(data))
            kind, data = "", ""


def _payload(data: str) -> dict[str, Any]:
    try:
        payload = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}
