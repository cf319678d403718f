"""JSON-RPC with one node: several calls in one request, and validation of the answer."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson

from probe.net.bodies import ACCEPTED, Body
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.net.request import request
from probe.net.spent import Limit, PhaseDurations
from shared.evidence import Evidence, redacted
from shared.kinds.http import Http

_MOST_BYTES: Final = 16 * 1024 * 1024
# Smaller responses are parsed in any case; no larger one has this many objects, lists and values.
_HARMLESS_BYTES: Final = 1024 * 1024
_MOST_NESTS: Final = 200_000
_MOST_VALUES: Final = 250_000
_MOST_WORDS: Final = 120
_MOST_SEEN: Final = 1_000
_TOO_MANY: Final = 429
_TOO_LARGE: Final = 413
# Initial calls per request; after this many successful full batches, more are tried.
_MOST_CALLS: Final = 128
_PATIENCE: Final = 50
# Non-JSON responses to a batch whose calls may work individually.
_UNBATCHED: Final = frozenset({400, 405, _TOO_LARGE, 415, 422, 501})
# Codes for "too many requests", besides the status: -32005 is also used for a range that is too wide.
_RATE_CODES: Final = frozenset({-32005, -32007, -32029, -32097, -32016, _TOO_MANY})
_RATE_WORDS: Final = re.compile(
    r"\brate\b|\brps\b|per second|too many requests?\b|request limit|compute units|throughput|quota",
    re.IGNORECASE,
)
_FIRST_REST_S: Final = 2.0
_MOST_REST_S: Final = 120.0
# Shorter parts of a URL's path are no keys.
_KEY: Final = 6
_NO_JSON: Final = object()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a batch; *params* as JSON."""

    method: str
    params: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error that a node returned instead of a result."""

    code: int
    message: str

    @property
    def of_rate(self) -> bool:
        """Whether it is caused by a rate limit."""
        return self.code in _RATE_CODES and bool(_RATE_WORDS.search(self.message))

    @property
    def words(self) -> str:
        return f"{self.message or 'error'} ({self.code})"


class NodeFault(Exception):
    """A node does not work now; the text does not contain its URL. *rest_s*: requested delay."""

    def __init__(self, text: str, rest_s: float = 0.0) -> None:
        super().__init__(text)
        self.rest_s = rest_s


class TooLarge(NodeFault):
    """The response is too large to be parsed: a smaller request may help."""


class Node:
    """One URL. After a fault it rests while others are preferred, longer after each further fault."""

    __slots__ = ("_fails", "_most", "_number", "_rested", "_secrets", "_url", "_well", "host")

    def __init__(self, url: str) -> None:
        self._url = url
        self._secrets = url_secrets(url)
        self._number = 0
        self._fails = 0
        self._most = _MOST_CALLS  # calls at once, as far as known
        self._well = 0
        self._rested = 0.0  # on time.monotonic()
        self.host = urlsplit(url).hostname or ""

    async def ask(self, net: Net, spent: PhaseDurations, limit: Limit, calls: Sequence[Call]) -> list[Any]:
        """The result of each call, or a `Refusal` in its place. Raises NodeFault, ProbeError."""
        results: list[Any] = []
        while len(results) < len(calls):
            some = calls[len(results) : len(results) + self._most]
            answered = await self._send(net, spent, limit, some)
            if answered is None:
                self._most, self._well = max(len(some) // 2, 1), 0
                continue
            results += answered
            self._well += len(some) == self._most
            if self._well >= _PATIENCE:
                self._most, self._well = min(self._most * 2, _MOST_CALLS), 0
        return results

    @property
    def rests_s(self) -> float:
        """Seconds for which other nodes are preferred."""
        return max(self._rested - time.monotonic(), 0.0)

    def rest(self, least_s: float = 0.0) -> None:
        """Record a failure."""
        self._fails = min(self._fails + 1, 10)
        self._rested = time.monotonic() + min(max(_FIRST_REST_S**self._fails, least_s), _MOST_REST_S)

    def served(self) -> None:
        """Record a success."""
        self._fails, self._rested = 0, 0.0

    async def _send(
        self, net: Net, spent: PhaseDurations, limit: Limit, calls: Sequence[Call]
    ) -> list[Any] | None:
        """Send calls as a batch; None if the node does not accept batches, or not of this size."""
        first = self._number + 1
        self._number += len(calls)
        messages = [
            {"jsonrpc": "2.0", "id": first + at, "method": call.method, "params": call.params}
            for at, call in enumerate(calls)
        ]
        single = len(calls) == 1
        code, said = await self._post(net, spent, limit, orjson.dumps(messages[0] if single else messages))
        if said is _NO_JSON:
            if code in _UNBATCHED and not single:
                return None
            if code == _TOO_LARGE:
                raise TooLarge("status 413")
            raise NodeFault(f"status {code}" if code >= 300 else "answers no JSON")
        refused = None if single else _refused(said, len(calls))
        if refused is not None:
            refusal = self._refusal(refused.get("error"))
            if refusal is None:
                raise NodeFault("answers no JSON-RPC")
            _heed_rate(refusal)
            return None
        return self._results([said] if isinstance(said, dict) else said, first, len(calls))

    async def _post(self, net: Net, spent: PhaseDurations, limit: Limit, body: bytes) -> tuple[int, Any]:
        """The status, and the parsed response."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": ACCEPTED}
        asked = request(Http(url=self._url, method="POST", headers=headers, body=body.decode()))
        read, told = Body(_MOST_BYTES), list[tuple[bytes, bytes]]()
        reply = HttpReply(head=False, most=_MOST_BYTES, body=read, headers=told)
        try:
            await net.converse(asked.endpoint, spent, limit, asked.data, reply)
        except TargetError as error:
            raise NodeFault(str(error)) from None
        if reply.code == _TOO_MANY:
            raise NodeFault("limits how often it is asked (status 429)", _retry_after_s(told))
        if read.full:
            raise TooLarge(f"answers more than {_MOST_BYTES >> 20} MB")
        _demand_measure(read.data)
        try:
            return reply.code, orjson.loads(read.data)
        except orjson.JSONDecodeError:
            return reply.code, _NO_JSON

    def _results(self, said: Any, first: int, count: int) -> list[Any]:
        """The results in the order of the calls, whatever the order of the responses."""
        if (
            not isinstance(said, list)
            or len(said) > count
            or not all(isinstance(item, dict) for item in said)
        ):
            raise NodeFault("answers no JSON-RPC")
        found: dict[int, Any] = {item["id"]: item for item in said if isinstance(item.get("id"), int)}
        # An unparsable call is refused without its id.
        nameless: dict[str, Any] = said[0] if count == len(said) == 1 and "result" not in said[0] else {}
        results = []
        for number in range(first, first + count):
            one = found.get(number, nameless)
            refusal = self._refusal(one.get("error"))
            if refusal is not None:
                _heed_rate(refusal)
            elif "result" not in one:
                raise NodeFault("leaves a call without an answer")
            results.append(one.get("result") if refusal is None else refusal)
        return results

    def _refusal(self, error: Any) -> Refusal | None:
        """A foreign text that may contain our key: remove it, and use one line."""
        if error is None:
            return None
        code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (0, error)
        text = " ".join(message[:_MOST_SEEN].split()) if isinstance(message, str) else ""
        shown = redacted(Evidence(body=text), self._secrets).body
        return Refusal(code if isinstance(code, int) else 0, shown[:_MOST_WORDS])


def _demand_measure(data: bytearray) -> None:
    """Raise TooLarge for a response that would take a second, and half a gigabyte, to parse."""
    if len(data) <= _HARMLESS_BYTES:
        return
    if data.count(b"[") + data.count(b"{") > _MOST_NESTS or data.count(b",") > _MOST_VALUES:
        raise TooLarge("answers more values than any node has to tell")


def _refused(said: Any, count: int) -> dict[str, Any] | None:
    """The error that replaces all responses to a batch: an object, alone or in a list."""
    alone = said[0] if isinstance(said, list) and len(said) == 1 < count else said
    return alone if isinstance(alone, dict) and (alone is said or alone.get("error")) else None


def url_secrets(url: str) -> tuple[str, ...]:
    """The parts of *url* that may be keys: all except its host."""
    parts = urlsplit(url)
    named = [unquote(word) for word in (parts.username, parts.password) if word]
    words = [*parts.path.split("/"), *(value for _, value in parse_qsl(parts.query)), parts.query]
    return url, *named, *(form for word in words if len(word) >= _KEY for form in {word, unquote(word)})


def _retry_after_s(headers: Sequence[tuple[bytes, bytes]]) -> float:
    data = next((value.strip() for name, value in headers if name.lower() == b"retry-after"), b"")
    return float(data) if data.isdigit() and len(data) < 9 else 0.0


def _heed_rate(refusal: Refusal) -> None:
    if refusal.of_rate:
        raise NodeFault(f"limits how often it is asked: {refusal.words}")
