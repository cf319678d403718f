"""Reads bodies, queries and ids of requests, and writes JSON responses."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, time
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import orjson
from aiohttp import web

from collector.http import bodies
from collector.platform.answer_json import encode
from shared import ids
from shared.errors import Invalid, NotFound

JSON = "application/json; charset=utf-8"
MAX_BODY = 1_048_576
# How long to wait for a body.
READ_S = 30.0
MAX_DEPTH = 64
_HUGE = 10**18
_BOM = b"\xef\xbb\xbf"
_FORM = "application/x-www-form-urlencoded"
_RAW: web.RequestKey[bytes] = web.RequestKey("raw_body", bytes)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# The blank is an unescaped plus sign.
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)"
    r"(?:[Zz]|([+ -][0-9]{2}:[0-9]{2}))"
)


async def raw_body(request: web.Request) -> bytes:
    """The body, unpacked. Raises BodyTooLarge, Invalid, HTTPRequestTimeout, HTTPUnsupportedMediaType."""
    known = request.get(_RAW)
    if known is None:
        packed = bodies.is_packed(request)
        known = request[_RAW] = await bodies.whole(request, MAX_BODY, READ_S, packed=packed)
    return known


async def body(request: web.Request) -> dict[str, Any]:
    """Return the body as an object, of any content type; an empty one is {}. Raises Invalid."""
    raw = (await raw_body(request)).removeprefix(_BOM)
    if not raw.strip():
        return {}
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Invalid({"body": f"must be JSON: {error.msg} at line {error.lineno}"}) from None
    if not isinstance(value, dict):
        raise Invalid({"body": "must be a JSON object"})
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Invalid({"body": f"must not be nested deeper than {MAX_DEPTH}"})
    if b"\\u0000" in raw:
        _refuse_nul(value)
    return value


async def form(request: web.Request, most_fields: int) -> dict[str, list[str]]:
    """Return the texts of the submitted form by name. Raises Invalid for any other body."""
    raw = await raw_body(request)
    if raw and request.content_type != _FORM:
        raise Invalid({"body": f"must be {_FORM}"})
    try:
        return parse_qs(raw.decode(), keep_blank_values=True, max_num_fields=most_fields)
    except ValueError:
        raise Invalid({"body": "cannot be read as a form"}) from None


def ok(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return *data* as JSON: a response dataclass, or a list or dict that may contain some, see `encode`."""
    return web.Response(
        body=encode(data),
        status=status,
        headers=headers,
        content_type="application/json",
        charset="utf-8",
    )


def warned(answer: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Add *warnings*, if there are any."""
    return {**answer, "warnings": warnings} if warnings else answer


def no_content() -> web.Response:
    """Return 204."""
    return web.Response(status=204)


def path_id(request: web.Request, prefix: str, what: str, name: str = "id") -> UUID:
    """Return the id in the path. Raises NotFound (``{what} not found``) for an invalid one."""
    value = ids.read(prefix, request.match_info[name])
    if value is None:
        raise NotFound(f"{what} not found")
    return value


class Query:
    """Reads query parameters and collects their faults, which `done` reports all at once."""

    __slots__ = ("_faults", "_values")

    def __init__(self, request: web.Request) -> None:
        self._values = request.query
        self._faults: dict[str, str] = {}

    def has(self, name: str) -> bool:
        return name in self._values

    def fault(self, name: str, text: str) -> None:
        """Record a fault of *name*."""
        self._faults.setdefault(name, text)

    def text(self, name: str) -> str | None:
        """Return the value; None if absent or empty."""
        value: str = self._values.get(name, "")
        if "\0" in value:
            self.fault(name, "must not contain NUL")
            return None
        return value or None

    def one_of(self, name: str, allowed: Collection[str]) -> str | None:
        value = self.text(name)
        if value is None or value in allowed:
            return value
        self.fault(name, f"must be one of {', '.join(allowed)}")
        return None

    def boolean(self, name: str) -> bool | None:
        value = self.one_of(name, ("true", "false"))
        return None if value is None else value == "true"

    def id(self, name: str, prefix: str) -> UUID | None:
        value = self.text(name)
        if value is None:
            return None
        id_ = ids.read(prefix, value)
        if id_ is None:
            self.fault(name, f"must be an id that starts with {prefix}_")
        return id_

    def integer(self, name: str) -> int | None:
        """Return any integer; beyond 18 digits the largest or smallest of them."""
        value = self._values.get(name)
        if value is None:
            return None
        if not _INTEGER.fullmatch(value):
            self.fault(name, "must be an integer")
            return None
        if len(value) > len(str(_HUGE)):
            return -_HUGE if value.startswith("-") else _HUGE
        return int(value)

    def moment(self, name: str, *, end: bool = False) -> datetime | None:
        """Return a timestamp; of a date its first moment in UTC, or its last with *end*."""
        value = self.text(name)
        if value is None:
            return None
        found = moment(value, end=end)
        if found is None:
            self.fault(name, "must be an RFC 3339 timestamp with an offset, or a date (YYYY-MM-DD)")
        return found

    def span(self) -> tuple[datetime | None, datetime | None]:
        """Return ``from`` and ``to``, both inclusive."""
        since, until = self.moment("from"), self.moment("to", end=True)
        if since and until and since > until:
            self.fault("from", "must not be after to")
        return since, until

    def done(self) -> None:
        """Raise Invalid if there are faults."""
        if self._faults:
            raise Invalid(self._faults)


def moment(text: str, *, end: bool = False) -> datetime | None:
    """Parse *text* as a moment in UTC, or return None; a date is its first moment, or its last with *end*."""
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(datetime.fromisoformat(text), time.max if end else time.min, UTC)
        parts = _MOMENT.fullmatch(text)
        if parts is None:
            return None
        offset = (parts[3] or "+00:00").replace(" ", "+")
        return datetime.fromisoformat(f"{parts[1]}T{parts[2]}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f".{key}", part) for key, part in value.items())
    elif isinstance(value, list):
        yield from ((f"[{place}]", part) for place, part in enumerate(value))


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [part for item in level for _, part in _inside(item)]
    return depth


def _refuse_nul(value: dict[str, Any]) -> None:
    faults: dict[str, str] = {}
    todo: list[tuple[str, Any]] = [("", value)]
    while todo:
        path, item = todo.pop()
        inside = list(_inside(item))
        if (isinstance(item, str) and "\0" in item) or any("\0" in key for key, _ in inside):
            faults[path.replace("\0", "").removeprefix(".").removeprefix("config.") or "body"] = (
                "must not contain the character U+0000"
            )
        todo.extend((path + key, part) for key, part in inside)
    if faults:
        raise Invalid(faults)
