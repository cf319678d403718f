"""Evaluates assertions on an HTTP response, and explains the first that fails."""

import asyncio
import operator
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson

from probe.net.json_body import NotJson, TooManyValues, document
from shared.assertions import Assertion, number
from shared.effort import Meter, TooCostly
from shared.json_paths import path
from shared.patterns import regex

_MOST_SHOWN: Final = 100
_ORDER: Final[dict[str, Callable[[float, float], bool]]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
# Operators that must hold for all values of a path; the others for one of them.
_OF_ALL: Final = frozenset({"ne", "notContains"})
# Up to about ten milliseconds of work may block the loop; more is done in a thread.
_QUICK_BYTES: Final = 65_536
_QUICK_STEPS: Final = 10_000
_QUICK_SCANS: Final = 1 << 20
# Serializing a value costs one step per this many characters.
_WRITTEN_A_STEP: Final = 256
_THREADS: Final = ThreadPoolExecutor(2, "assertions")


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """*took_ms*: of the whole check; *days*: until the certificate's expiry, None without one."""

    code: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    took_ms: float
    days: float | None


class _ResponseContent:
    """A response under evaluation: its body is decoded and parsed once for all assertions."""

    __slots__ = ("_document", "_text", "answer", "meter")

    def __init__(self, answer: CheckAnswer, meter: Meter) -> None:
        self.answer = answer
        self.meter = meter
        self._text: str | None = None
        self._document: list[Any] | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self.answer.body.decode("utf-8", "replace")
        return self._text

    @property
    def document(self) -> Any:
        """The parsed body. Raises NotJson and TooCostly."""
        if self._document is None:
            try:
                self._document = [document(self.answer.body)]
            except TooManyValues as error:
                raise TooCostly(f"body of {error}") from None
        return self._document[0]


Judge = Callable[[CheckAnswer, Meter], str]
_Judge = Callable[[_ResponseContent], str]
_Holds = Callable[[Any, Meter], bool]


def compile_assertions(assertions: Sequence[Assertion]) -> Judge:
    """Compile to a function that returns the first failure in words, or an empty text.

    Raises ValueError for an invalid assertion. The function raises TooCostly when the meter runs out.
    """
    each = [_judge(assertion) for assertion in assertions]

    def first(answer: CheckAnswer, meter: Meter) -> str:
        reading = _ResponseContent(answer, meter)
        return next((words for one in each if (words := one(reading))), "")

    return first


def compile_aside(assertions: Sequence[Assertion]) -> Callable[[CheckAnswer], Awaitable[str]]:
    """As `compile_assertions`: cheap ones run at once, others in a thread; too costly ones are reported."""
    first = compile_assertions(assertions)

    def whole(answer: CheckAnswer) -> str:
        try:
            return first(answer, Meter())
        except TooCostly as error:
            return f"assertion failed: {error} too costly"

    async def judged(answer: CheckAnswer) -> str:
        if len(answer.body) <= _QUICK_BYTES:
            with suppress(TooCostly):
                return first(answer, Meter(_QUICK_STEPS, _QUICK_SCANS))
        return await asyncio.get_running_loop().run_in_executor(_THREADS, whole, answer)

    return judged


def _judge(assertion: Assertion) -> _Judge:
    look, name = _source(assertion), _name(assertion)
    if assertion.op == "exists":
        wanted = assertion.value is not False

        def exists(reading: _ResponseContent) -> str:
            try:
                found = look(reading)
            except NotJson:
                found = ()
            return "" if bool(found) == wanted else f"assertion failed: {name}, found {_shown(found)}"

        return exists
    holds, of_all = _holds(assertion.op, assertion.value), assertion.op in _OF_ALL

    def compare(reading: _ResponseContent) -> str:
        try:
            found = look(reading)
        except NotJson:
            return f"assertion failed: {name}, but the body is not JSON"
        each = (holds(item, reading.meter) for item in found)
        good = all(each) if of_all else any(each)
        return "" if good else f"assertion failed: {name}, found {_shown(found)}"

    return compare


def _source(assertion: Assertion) -> Callable[[_ResponseContent], Sequence[Any]]:
    """A function that returns the values of the assertion's source: none, one or several."""
    match assertion.source:
        case "status":
            return lambda reading: (reading.answer.code,)
        case "responseTime":
            return lambda reading: (round(reading.answer.took_ms),)
        case "certificateDays":
            return lambda reading: () if reading.answer.days is None else (int(reading.answer.days // 1),)
        case "header":
            wanted = assertion.path.lower()
            return lambda reading: [value for name, value in reading.answer.headers if name.lower() == wanted]
        case "body":
            return lambda reading: (reading.text,) if reading.answer.body else ()
    find = path(assertion.path)
    return lambda reading: find(reading.document, reading.meter)


def _holds(op: str, value: Any) -> _Holds:
    match op:
        case "eq":
            return lambda found, meter: _same(found, value, meter)
        case "ne":
            return lambda found, meter: not _same(found, value, meter)
        case "contains":
            return lambda found, meter: _contains(found, value, meter)
        case "notContains":
            return lambda found, meter: not _contains(found, value, meter)
        case "matches":
            pattern = regex(str(value))
            return lambda found, meter: pattern.metered(_text(found, meter), meter)
    bound, compare = number(value), _ORDER[op]
    if bound is None:
        raise ValueError(f"{op} needs a number")
    return lambda found, _meter: (is_ := number(found)) is not None and compare(is_, bound)


def _same(found: Any, value: Any, meter: Meter) -> bool:
    """Compare numbers by value, others as text: headers are untyped."""
    if not isinstance(found, bool) and not isinstance(value, bool):
        left, right = number(found), number(value)
        if left is not None and right is not None:
            return left == right
    return _text(found, meter) == _text(value, meter)


def _contains(found: Any, value: Any, meter: Meter) -> bool:
    if isinstance(found, list):
        return any(_same(item, value, meter) for item in found)
    if isinstance(found, dict):
        return _text(value, meter) in found
    return _text(value, meter) in _text(found, meter)


def _text(value: Any, meter: Meter) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    meter.step(1 + len(text) // _WRITTEN_A_STEP)
    return text


def _name(assertion: Assertion) -> str:
    where = f"{assertion.source} {assertion.path}" if assertion.path else assertion.source
    if assertion.op == "exists":
        return f"{where} {'exists' if assertion.value is not False else 'does not exist'}"
    return f"{where} {assertion.op} {_json(assertion.value)}"


def _shown(found: Sequence[Any]) -> str:
    if not found:
        return "nothing"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{_json(found[0])}{more}"


def _json(value: Any) -> str:
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
