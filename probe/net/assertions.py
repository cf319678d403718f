"""Does an HTTP answer hold what is asserted of it? If not: which assertion failed, and what was there."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from shared.assertions import Assertion, number
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


@dataclass(frozen=True, slots=True)
class Answer:
    """*took_ms* of the whole check; *days* until the certificate ends, None where there is none."""

    code: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    took_ms: float
    days: float | None


class NotJson(Exception):
    """The body is none."""


Holds = Callable[[Any], bool]
Judge = Callable[[Answer], str]


def judge(assertions: Sequence[Assertion]) -> Judge:
    """The first that fails, in words; empty if all hold. Raises ValueError for one that makes no sense."""
    each = [_judge(assertion) for assertion in assertions]

    def first(answer: Answer) -> str:
        return next((words for one in each if (words := one(answer))), "")

    return first


def _judge(assertion: Assertion) -> Judge:
    look, name = _source(assertion), _name(assertion)
    if assertion.op == "exists":
        wanted = assertion.value is not False

        def exists(answer: Answer) -> str:
            try:
                found = look(answer)
            except NotJson:
                found = ()
            return "" if bool(found) == wanted else f"assertion failed: {name}, found {_shown(found)}"

        return exists
    holds, of_all = _holds(assertion.op, assertion.value), assertion.op in _OF_ALL

    def compare(answer: Answer) -> str:
        try:
            found = look(answer)
        except NotJson:
            return f"assertion failed: {name}, but the body is not JSON"
        good = all(map(holds, found)) if of_all else any(map(holds, found))
        return "" if good else f"assertion failed: {name}, found {_shown(found)}"

    return compare


def _source(assertion: Assertion) -> Callable[[Answer], Sequence[Any]]:
    """What an answer holds where the assertion looks: nothing, one value or several."""
    match assertion.source:
        case "status":
            return lambda answer: (answer.code,)
        case "responseTime":
            return lambda answer: (round(answer.took_ms),)
        case "certificateDays":
            return lambda answer: () if answer.days is None else (int(answer.days // 1),)
        case "header":
            wanted = assertion.path.lower()
            return lambda answer: [value for name, value in answer.headers if name.lower() == wanted]
        case "body":
            return lambda answer: (answer.body.decode("utf-8", "replace"),) if answer.body else ()
    find = path(assertion.path)
    return lambda answer: find(_document(answer.body))


def _document(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJson from None


def _holds(op: str, value: Any) -> Holds:
    match op:
        case "eq":
            return lambda found: _same(found, value)
        case "ne":
            return lambda found: not _same(found, value)
        case "contains":
            return lambda found: _contains(found, value)
        case "notContains":
            return lambda found: not _contains(found, value)
        case "matches":
            finds = regex(str(value))
            return lambda found: finds(_text(found))
    bound, compare = number(value), _ORDER[op]
    if bound is None:
        raise ValueError(f"{op} needs a number")
    return lambda found: (is_ := number(found)) is not None and compare(is_, bound)


def _same(found: Any, value: Any) -> bool:
    """Numbers by their value, whatever else as it is written: a header has no types."""
    if not isinstance(found, bool) and not isinstance(value, bool):
        left, right = number(found), number(value)
        if left is not None and right is not None:
            return left == right
    return _text(found) == _text(value)


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, list):
        return any(_same(item, value) for item in found)
    if isinstance(found, dict):
        return _text(value) in found
    return _text(value) in _text(found)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


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
