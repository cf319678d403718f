"""Conditions of Gatus as expected statuses and assertions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from collector.importers.core.draft import Body
from collector.importers.core.values import expected, seconds

_OPERATORS: Final = ("==", "!=", "<=", ">=", ">", "<")
_NAMES: Final = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_BODY_PATH: Final = re.compile(r"\[BODY\]((?:\.[\w-]+|\[\d+\])+)")
_CALL: Final = re.compile(r"(pat|any|len|has)\((.*)\)", re.DOTALL)
_STATUS: Final = (100, 599)
_HOUR_S: Final = 3600


@dataclass(slots=True)
class Expectations:
    """What conditions come to; *unknown*: conditions with the reason why they have no counterpart."""

    status: list[tuple[int, int]] | None = None
    assertions: list[Body] = field(default_factory=list)
    expiry_hours: float | None = None
    rcode: str | None = None
    body: str | None = None
    unknown: list[str] = field(default_factory=list)
    connected: bool = True

    def expected_status(self) -> Any:
        """Return `expectedStatus`: without a condition on it any status is good."""
        return expected(self.status if self.status is not None else [_STATUS])


def read(conditions: list[Any]) -> Expectations:
    """Read all conditions of an endpoint."""
    found = Expectations()
    for condition in conditions:
        _add(found, str(condition))
    return found


def _add(found: Expectations, condition: str) -> None:
    parts = _split(condition)
    if parts is None:
        found.unknown.append(f"{condition}: is no condition of the form A == B")
        return
    left, operator, right = parts
    if not left.startswith("[") and not _CALL.match(left) and right.startswith("["):
        left, operator, right = right, _FLIPPED[operator], left
    reason = _one(found, left, operator, right)
    if reason:
        found.unknown.append(f"{condition}: {reason}")


def _split(condition: str) -> tuple[str, str, str] | None:
    for operator in _OPERATORS:
        left, mark, right = condition.partition(f" {operator} ")
        if mark:
            return left.strip(), operator, right.strip()
    return None


def _one(found: Expectations, left: str, operator: str, right: str) -> str:
    """Add one condition; return why it has no counterpart, or an empty text."""
    if right.startswith('"') and right.endswith('"') and len(right) > 1:
        return "Gatus compares with the quotes, too, which is always so"
    make = _PLACEHOLDERS.get(left)
    if make is None and (left.startswith("[BODY]") or _CALL.match(left)):
        return _body(found, left, operator, right)
    return make(found, operator, right) if make is not None else f"{left} has no counterpart"


def _response_time(found: Expectations, operator: str, right: str) -> str:
    limit_s = int(right) / 1000 if right.isdigit() else seconds(right)
    if limit_s is None or operator in {"==", "!="}:
        return "is not compared with a time"
    limit_ms = round(limit_s * 1000)
    found.assertions.append({"source": "responseTime", "op": _NAMES[operator], "value": limit_ms})
    return ""


def _connected(found: Expectations, operator: str, right: str) -> str:
    found.connected = (operator == "==") == (right == "true")
    return "" if found.connected else "wants the connection to fail"


def _certificate(found: Expectations, operator: str, right: str) -> str:
    limit_s = seconds(right)
    if limit_s is None or operator not in {">", ">="}:
        return "is not compared with a time"
    found.expiry_hours = max(found.expiry_hours or 0, limit_s / _HOUR_S)
    return ""


def _rcode(found: Expectations, operator: str, right: str) -> str:
    if operator != "==":
        return "only an equal response code has a counterpart"
    found.rcode = right
    return ""


def _status(found: Expectations, operator: str, right: str) -> str:
    first, last = _STATUS
    call = _CALL.fullmatch(right)
    if call and call[1] == "any" and operator in {"==", "!="}:
        codes = [part.strip() for part in call[2].split(",")]
    else:
        codes = [right]
    if not all(code.isdigit() for code in codes):
        return "is not compared with a status code"
    numbers = [int(code) for code in codes]
    number = numbers[0]
    if operator == "==":
        ranges = [(code, code) for code in numbers]
    elif operator == "!=":
        ranges = _without(numbers)
    elif operator in {"<", "<="}:
        ranges = [(first, number - (operator == "<"))]
    else:
        ranges = [(number + (operator == ">"), last)]
    found.status = _both(found.status, ranges)
    return ""


def _without(codes: list[int]) -> list[tuple[int, int]]:
    ranges, at = [], _STATUS[0]
    for code in sorted(codes):
        if at < code:
            ranges.append((at, code - 1))
        at = code + 1
    return [*ranges, (at, _STATUS[1])] if at <= _STATUS[1] else ranges


def _both(before: list[tuple[int, int]] | None, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the statuses in both."""
    if before is None:
        return ranges
    return [(max(a, c), min(b, d)) for a, b in before for c, d in ranges if max(a, c) <= min(b, d)]


def _body(found: Expectations, left: str, operator: str, right: str) -> str:
    call, wanted = _CALL.fullmatch(left), _CALL.fullmatch(right)
    if call:
        return _call(found, call[1], call[2].strip(), operator, right)
    path = _path(left)
    if path is None:
        return "its path has no counterpart"
    about: Body = {"source": "body"} if left == "[BODY]" else {"source": "json", "path": path}
    if wanted:
        return _wanted(found, about, operator, wanted[1], wanted[2].strip())
    if left != "[BODY]":
        found.assertions.append({**about, "op": _NAMES[operator], "value": _value(right)})
    elif operator in {"==", "!="}:
        found.body = right if operator == "==" else found.body
        found.assertions.append({**about, "op": _NAMES[operator], "value": right})
    else:
        return "has no counterpart"
    return ""


def _wanted(found: Expectations, about: Body, operator: str, name: str, argument: str) -> str:
    """Add a comparison with ``pat(...)`` or ``any(...)``."""
    if name == "pat":
        return _pattern(found, about, argument, operator)
    if name == "any" and operator == "==":
        choices = "|".join(re.escape(part.strip()) for part in argument.split(","))
        found.assertions.append({**about, "op": "matches", "value": f"^(?:{choices})$"})
        return ""
    return "has no counterpart"


def _call(found: Expectations, name: str, argument: str, operator: str, right: str) -> str:
    path = _path(argument)
    if name == "has" and path and (operator, right) in {("==", "true"), ("!=", "false")}:
        found.assertions.append({"source": "json", "path": path, "op": "exists", "value": True})
        return ""
    if name == "has" and path and (operator, right) in {("==", "false"), ("!=", "true")}:
        found.assertions.append({"source": "json", "path": path, "op": "exists", "value": False})
        return ""
    if name == "len" and path and (operator, right) in {(">", "0"), (">=", "1"), ("!=", "0")}:
        found.assertions.append({"source": "json", "path": f"{path}[0]", "op": "exists", "value": True})
        return ""
    return f"{name}() has no counterpart here"


def _path(text: str) -> str | None:
    """Return the JSONPath of ``[BODY].a.b[0]``."""
    match = _BODY_PATH.fullmatch(text)
    if match is None:
        return "$" if text == "[BODY]" else None
    return "$" + re.sub(r"\.([^.\[]*-[^.\[]*)", r"['\1']", match[1])


def _pattern(found: Expectations, assertion: Body, glob: str, operator: str) -> str:
    """Add a pattern of ``*``, ``?`` and ``[...]``."""
    inner = glob.strip("*")
    is_part = glob.startswith("*") and glob.endswith("*") and not re.search(r"[*?\[]", inner)
    if is_part and operator in {"==", "!="}:
        op = "contains" if operator == "==" else "notContains"
        found.assertions.append({**assertion, "op": op, "value": inner})
        return ""
    if operator != "==":
        return "the opposite of such a pattern has no counterpart"
    pieces = {"*": "(?s:.*)", "?": "(?s:.)"}
    pattern = "".join(pieces.get(sign, re.escape(sign)) for sign in glob)
    found.assertions.append({**assertion, "op": "matches", "value": f"^{pattern}$"})
    return ""


def _value(text: str) -> Any:
    """Return a number where the text is one: Gatus compares as numbers if both sides are."""
    return (
        int(text)
        if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text)
        else {"true": True, "false": False}.get(text, text)
    )


_PLACEHOLDERS: Final[Mapping[str, Callable[[Expectations, str, str], str]]] = {
    "[STATUS]": _status,
    "[RESPONSE_TIME]": _response_time,
    "[CONNECTED]": _connected,
    "[CERTIFICATE_EXPIRATION]": _certificate,
    "[DNS_RCODE]": _rcode,
}
