"""The stream of events, resumed after its last one for as long as its reader wants."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from tocsin_client.errors import refused
from tocsin_client.operations import EVENTS
from tocsin_client.retries import BUSY

PATH = "/v1/events"
# The service writes at least a comment each 15 s.
_SILENCE_S = 45.0
_LONGEST_S = 30.0


@dataclass(frozen=True)
class Event:
    """An event: its id, its kind (``monitor.down``) and its payload as JSON."""

    id: str
    kind: str
    payload: dict[str, Any]

    def typed(self) -> Any:
        """Return the payload as the class of its kind; as JSON for a kind that this version does not know."""
        model = EVENTS.get(self.kind)
        return self.payload if model is None else model.from_dict(self.payload)


class EventParser:
    """Reads the lines of a stream; *last_id* is where to resume."""

    def __init__(self, last_id: str | None) -> None:
        self.last_id = last_id
        self.backoff_s = 1.0
        self._kind = self._data = ""

    def headers(self) -> dict[str, str]:
        """Return the headers of the next connection."""
        self._kind = self._data = ""
        return {"Accept": "text/event-stream", **({"Last-Event-ID": self.last_id} if self.last_id else {})}

    def read(self, line: str) -> Event | None:
        """Read a line; return the event that it ends."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self.last_id = value
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data += value
        elif not line:
            kind, data = self._kind, self._data
            self._kind = self._data = ""
            self.backoff_s = 1.0
            if kind and self.last_id:
                return Event(self.last_id, kind, _payload(data))
        return None

    def check(self, response: httpx.Response, content: bytes) -> None:
        """Raise ApiError if the stream was refused for good."""
        if response.status_code != httpx.codes.OK and response.status_code not in BUSY:
            answer = httpx.Response(response.status_code, content=content)
            raise refused(response.status_code, answer, response)

    def next_wait_s(self) -> float:
        """Return how long to wait for the next connection, longer each time."""
        wait_s, self.backoff_s = self.backoff_s, min(2 * self.backoff_s, _LONGEST_S)
        return wait_s


def follow(client: httpx.Client, query: dict[str, str], last_id: str | None) -> Iterator[Event]:
    """Yield events for ever. Raises ApiError if the service refuses the stream."""
    parser = EventParser(last_id)
    while True:
        try:
            with client.stream(
                "GET", PATH, params=query, headers=parser.headers(), timeout=_SILENCE_S
            ) as response:
                if response.status_code != httpx.codes.OK:
                    parser.check(response, response.read())
                else:
                    for line in response.iter_lines():
                        event = parser.read(line)
                        if event is not None:
                            yield event
        except httpx.TransportError:
            pass
        time.sleep(parser.next_wait_s())


async def follow_async(
    client: httpx.AsyncClient, query: dict[str, str], last_id: str | None
) -> AsyncIterator[Event]:
    """As `follow`, asynchronous."""
    parser = EventParser(last_id)
    while True:
        try:
            async with client.stream(
                "GET", PATH, params=query, headers=parser.headers(), timeout=_SILENCE_S
            ) as response:
                if response.status_code != httpx.codes.OK:
                    parser.check(response, await response.aread())
                else:
                    async for line in response.aiter_lines():
                        event = parser.read(line)
                        if event is not None:
                            yield event
        except httpx.TransportError:
            pass
        await asyncio.sleep(parser.next_wait_s())


def _payload(data: str) -> dict[str, Any]:
    try:
        payload = json.loads(data)
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}
