"""Values of other systems in our units: durations, status codes, keys, time zones."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)")
_UNITS_S: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0,
    "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0,
}  # fmt: skip
_NOT_KEY: Final = re.compile(r"[^a-z0-9._-]+")
_LONGEST_KEY: Final = 200
_LONGEST_INTERVAL_S: Final = 86_400
_LONGEST_TIMEOUT_S: Final = 120
_LARGEST: Final = 2**31 - 1


def seconds(text: Any) -> float | None:
    """Return a duration such as ``1m30s``, or a bare number of seconds; None if it is neither."""
    if isinstance(text, bool) or text is None:
        return None
    if (bare := number(text)) is not None:
        return bare if 0 <= bare <= _LARGEST else None
    whole = str(text).strip()
    parts = _PART.findall(whole)
    if not parts or "".join(count + unit for count, unit in parts) != whole:
        return None
    total = sum(float(count) * _UNITS_S[unit] for count, unit in parts)
    return total if total <= _LARGEST else None


def interval(value_s: float, reasons: list[str]) -> int:
    """Return an interval in whole seconds; says if it had to change."""
    whole = min(max(math.ceil(value_s), 1), _LONGEST_INTERVAL_S)
    if whole != value_s:
        reasons.append(f"the interval of {value_s:g} s becomes {whole} s")
    return whole


def timeout(value_s: float | None, reasons: list[str]) -> int | None:
    """Return a timeout in whole seconds, rounded up; says if it had to be shortened."""
    if not value_s or value_s <= 0:
        return None
    if value_s > _LONGEST_TIMEOUT_S:
        reasons.append(f"the timeout of {value_s:g} s becomes {_LONGEST_TIMEOUT_S} s")
    return min(max(math.ceil(value_s), 1), _LONGEST_TIMEOUT_S)


def threshold(value: Any, least: int = 1) -> int:
    """Return a number of checks from 1 to 100."""
    count = whole(value)
    return min(max(count if count is not None else least, 1), 100)


def whole(value: Any) -> int | None:
    """Return a whole number, from a number or a text; None if it is none, or beyond 32 bits."""
    parsed = number(value)
    return int(parsed) if parsed is not None and abs(parsed) <= _LARGEST else None


def number(value: Any) -> float | None:
    """Return a finite number, from a number or a text; None if it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        parsed = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def truth(value: Any) -> bool:
    """Return a switch that may be 0, 1, a text or a boolean."""
    return value.strip().lower() in {"1", "true", "yes", "on"} if isinstance(value, str) else bool(value)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def elements(value: Any) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none for anything else."""
    return [item for item in elements(value) if isinstance(item, dict)]


def first_of(body: Mapping[str, Any], *names: str) -> Any:
    """Return the first of these fields that is there: versions of an API name them differently."""
    return next((body[name] for name in names if body.get(name) is not None), None)


def text(value: Any) -> str:
    """Return a text; of None, an empty one."""
    return "" if value is None else str(value)


def comma_separated(listed: Any) -> list[str]:
    """Return the parts of a text between its commas, without those that are blank."""
    return [part.strip() for part in text(listed).split(",") if part.strip()]


def read_json(value: Any) -> Any:
    """Return the value of a JSON text, None if it is not valid; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def label_matches(value: str, operator: str, wanted: str) -> bool:
    """Whether a label's value fits a matcher of Prometheus: ``=``, ``!=``, ``=~`` or ``!~``.

    A pattern that is not valid fits nothing.
    """
    try:
        same = value == wanted if operator in {"=", "!="} else re.fullmatch(wanted, value) is not None
    except re.error:
        return False
    return same != operator.startswith("!")


def key(*parts: Any) -> str:
    """Return a key of letters, digits, ``.``, ``_`` and ``-``."""
    joined = "-".join(_NOT_KEY.sub("-", str(part).lower()).strip("-") for part in parts)
    return joined[:_LONGEST_KEY].strip("-") or "x"


def statuses(codes: Iterable[Any]) -> str | int | list[str | int] | None:
    """Return `expectedStatus` of codes and ranges such as ``200-299`` or ``2xx``; None for the default."""
    ranges: list[tuple[int, int]] = []
    for code in codes:
        found = re.fullmatch(r"(\d{3})\s*-\s*(\d{3})|(\d{3})|([1-5])xx", str(code).strip().lower())
        if found is None:
            continue
        if found[4]:
            first, last = int(found[4]) * 100, int(found[4]) * 100 + 99
        else:
            first, last = int(found[1] or found[3]), int(found[2] or found[3])
        if 100 <= first <= min(last, 599):
            ranges.append((first, min(last, 599)))
    return expected(ranges)


def expected(ranges: Iterable[tuple[int, int]]) -> str | int | list[str | int] | None:
    """Return `expectedStatus` of ranges; None for the default, 200 to 299."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    if not merged or merged == [(200, 299)]:
        return None
    shown: list[str | int] = [first if first == last else f"{first}-{last}" for first, last in merged]
    return shown[0] if len(shown) == 1 else shown


def host_port(place: str, default: int | None = None) -> tuple[str, int | None]:
    """Return host and port of ``host``, ``host:port`` or a URL. The port is *default* if there is none."""
    parts = url_parts(place if "://" in place else f"//{place}")
    try:
        return parts.hostname or "", parts.port or default
    except ValueError:  # of the port
        return "", default


def url_parts(url: str) -> SplitResult:
    """Return the parts of a URL; empty ones if it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def login(url: str) -> tuple[str, str, str]:
    """Return *url* without its credentials, and these: user name, password."""
    parts = url_parts(url)
    if "@" not in parts.netloc:
        return url, "", ""
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return bare, unquote(parts.username or ""), unquote(parts.password or "")


def tags(pairs: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return tags; a name that repeats gets a number."""
    found: dict[str, str] = {}
    for name, value in pairs:
        unique, number_ = str(name), 1
        while unique in found:
            number_ += 1
            unique = f"{name}-{number_}"
        found[unique] = text(value)
    return found


def drop_empty(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return *body* without fields that are None, or an empty text, list or object."""
    return {name: value for name, value in body.items() if value not in (None, "", [], {})}
