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
# These must hold for all that a path finds, the others for one of it.
_OF_ALL: Final = frozenset({"ne", "notContains"})
# What takes about ten milliseconds at the worst may hold up the loop; all else goes to a thread.
_QUICK_BYTES: Final = 65_536
_QUICK_STEPS: Final = 10_000
_QUICK_SCANS: Final = 1 << 20
# To write a value down again costs a step for so much of it.
_WRITTEN_A_STEP: Final = 256
_THREADS: Final = ThreadPoolExecutor(2, "assertions")


@dataclass(frozen=True, slots=True)
class Answer:
    """*took_ms* of the whole check; *days* until the certificate ends, None where there is none."""

    code: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    took_ms: float
    days: float | None


class _Reading:
    """An answer that is being judged: its body is decoded and read once, however many look at it."""

    __slots__ = ("_document", "_text", "answer", "meter")

    def __init__(self, answer: Answer, meter: Meter) -> None:
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
        """Raises NotJson and TooCostly."""
        if self._document is None:
            try:
                self._document = [document(self.answer.body)]
            except TooManyValues as error:
                raise TooCostly(f"body of {error}") from None
        return self._document[0]


Judge = Callable[[Answer, Meter], str]
_Judge = Callable[[_Reading], str]
_Holds = Callable[[Any, Meter], bool]


def compile_assertions(assertions: Sequence[Assertion]) -> Judge:
    """The first that fails, in words; empty if all hold. Raises ValueError for one that makes no sense.

    What it answers with raises TooCostly when the meter runs out.
    """
    each = [_judge(assertion) for assertion in assertions]

    def first(answer: Answer, meter: Meter) -> str:
        reading = _Reading(answer, meter)
        return next((words for one in each if (words := one(reading))), "")

    return first


def compile_aside(assertions: Sequence[Assertion]) -> Callable[[Answer], Awaitable[str]]:
    """As `compile_assertions`: at once if that is quick, else in a thread; too costly ones in words."""
    first = compile_assertions(assertions)

    def whole(answer: Answer) -> str:
        try:
            return first(answer, Meter())
        except TooCostly as error:
            return f"assertion failed: {error} too costly"

    async def judged(answer: Answer) -> str:
        if len(answer.body) <= _QUICK_BYTES:
            with suppress(TooCostly):
                return first(answer, Meter(_QUICK_STEPS, _QUICK_SCANS))
        return await asyncio.get_running_loop().run_in_executor(_THREADS, whole, answer)

    return judged


def _judge(assertion: Assertion) -> _Judge:
    look, name = _source(assertion), _name(assertion)
    if assertion.op == "exists":
        wanted = assertion.value is not False

        def exists(reading: _Reading) -> str:
            try:
                found = look(reading)
            except NotJson:
                found = ()
            return "" if bool(found) == wanted else f"assertion failed: {name}, found {_shown(found)}"

        return exists
    holds, of_all = _holds(assertion.op, assertion.value), assertion.op in _OF_ALL

    def compare(reading: _Reading) -> str:
        try:
            found = look(reading)
        except NotJson:
            return f"assertion failed: {name}, but the body is not JSON"
        each = (holds(one, reading.meter) for one in found)
        good = all(each) if of_all else any(each)
        return "" if good else f"assertion failed: {name}, found {_shown(found)}"

    return compare


def _source(assertion: Assertion) -> Callable[[_Reading], Sequence[Any]]:
    """What an answer holds where the assertion looks: nothing, one value or several."""
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
    """Numbers by their value, whatever else as it is written: a header has no types."""
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
