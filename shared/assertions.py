"""Assertions on an HTTP response: a source, a comparison and its value."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import MaxLen

from shared.json_paths import fault as path_fault
from shared.patterns import REGEX, is_wanted

Source = Literal["status", "header", "body", "json", "responseTime", "certificateDays"]
Op = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "notContains", "matches", "exists"]

NUMBERS: Final = frozenset({"status", "responseTime", "certificateDays"})
ORDERS: Final = frozenset({"lt", "le", "gt", "ge"})
OF_TEXT: Final = frozenset({"contains", "notContains", "matches"})
_NEEDS_PATH: Final = {"header": "the name of a header", "json": "a JSONPath"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """*path* names the header, or is a JSONPath; responseTime is in milliseconds."""

    source: Source
    """What is compared: the status, a header, the body, a JSON value, the response time (ms) or the days
    until the certificate expires.
    """
    op: Op = "eq"
    """Comparison of the source with `value`."""
    path: Annotated[str, MaxLen(512)] = ""
    """Name of the header, or JSONPath of the value; unused for other sources."""
    value: Annotated[str, MaxLen(4096)] | bool | int | float | None = None
    """Value to compare the source with; for `exists` true or false."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        faults = {}
        if self.source in _NEEDS_PATH and not self.path:
            faults["path"] = f"is required: {_NEEDS_PATH[self.source]}"
        elif self.source == "json" and (text := path_fault(self.path)):
            faults["path"] = text
        value = self._value_fault()
        if value:
            faults["value"] = value
        return faults

    def _value_fault(self) -> str:
        if self.op == "exists":
            return "" if self.value is None or isinstance(self.value, bool) else "must be true or false"
        if self.value is None and not (self.source == "json" and self.op in {"eq", "ne"}):
            return "Value is required"
        if self.op in OF_TEXT and self.source in NUMBERS:
            return "must be compared by eq, ne, lt, le, gt or ge"
        if self.op in ORDERS or self.source in NUMBERS:
            return "" if number(self.value) is not None else "must be a number"
        if self.op == "matches" and not (isinstance(self.value, str) and is_wanted(REGEX + self.value)):
            return "must be a regular expression that RE2 takes"
        return ""


def number(value: object) -> float | None:
    """*value* as a number, if it is one or parses as one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
