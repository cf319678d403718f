"""Prepares a request's body for validation: known names, whole numbers, no NUL."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_origin

import orjson
from annotated_types import MaxLen

from collector.platform.validation.shapes import Member, Shape, members, shape
from shared.kinds.fields import DroppedEntries, JsonText, NumericText

_NUL = "must not hold a NUL character"
_EXACT = 2**53  # larger JSON numbers may lose precision
_MOST_DIGITS = 15


class BodyReader:
    """Reads one body; *unknown* names unknown fields, *faults* values that no field can store.

    *warnings* describe what was left out on purpose.
    """

    __slots__ = ("faults", "unknown", "warnings")

    def __init__(self) -> None:
        self.faults: dict[str, str] = {}
        self.unknown: list[str] = []
        self.warnings: list[str] = []

    def record(self, cls: Any, values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """*values* by Python names, without unknown ones and without nulls that mean "default"."""
        known = members(cls)
        self.unknown += [prefix + name for name in values if name not in known]
        return {
            member.name: self.value(member.hint, values[alias], prefix + alias)
            for alias, member in known.items()
            if alias in values and not (values[alias] is None and _null_is_absent(member))
        }

    def value(self, hint: Any, value: Any, path: str) -> Any:
        if hint is Any:
            return value
        form = shape(hint)
        match value:
            case dict() | list() if form.mark(JsonText):
                value = orjson.dumps(value).decode()
            case dict():
                return self._object(form, value, path)
            case list() if (items := form.items()) is not None:
                return [
                    self.value(items, item, f"{path}[{index}]")
                    for index, item in enumerate(value[: _enough(form)])
                ]
            case str():
                return self._text(form, value, path)
            case int() | float() if not isinstance(value, bool):
                return _number(form, value)
        return value

    def _object(self, form: Shape, value: dict[str, Any], path: str) -> dict[str, Any]:
        if (cls := form.record()) is not None:
            return self.record(cls, value, path + ".")
        if (hint := form.values()) is None:
            return value
        if any("\0" in name for name in value):
            self.faults[path] = _NUL
        return {
            name: self.value(hint, _as_text(hint, item), f"{path}.{name}")
            for name, item in self._kept(form, value, path).items()
        }

    def _kept(self, form: Shape, value: dict[str, Any], path: str) -> dict[str, Any]:
        """*value* without the entries that its field ignores."""
        rule: DroppedEntries | None = form.mark(DroppedEntries)
        dropped = [name for name in value if rule and name.lower() in rule.names]
        if rule:
            self.warnings += [f"{path}: {name} was dropped: {rule.why}" for name in dropped]
        return {name: item for name, item in value.items() if name not in dropped} if dropped else value

    def _text(self, form: Shape, value: str, path: str) -> Any:
        if "\0" in value:
            self.faults[path] = _NUL
        if form.mark(NumericText) and _is_numeric(value.strip()):
            return int(value)
        words = form.words()
        return next(_spellings(words, value), value) if words else value


def _enough(form: Shape) -> int | None:
    """The number of list entries that proves it too long; None if the bound may be that of a text."""
    most = form.mark(MaxLen) if all(get_origin(option) is list for option in form.options) else None
    return most.max_length + 1 if most else None


def _null_is_absent(member: Member) -> bool:
    """Whether a null means absent: default value, or missing if the field is required."""
    return not shape(member.hint).nullable


def _is_numeric(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit() and len(text) <= _MOST_DIGITS


def _spellings(words: Sequence[str], value: str) -> Iterator[str]:
    """The allowed word that differs from *value* only in case: ``GET`` for ``get``."""
    return iter(()) if value in words else (word for word in words if str(word).lower() == value.lower())


def _number(form: Shape, value: float) -> Any:
    """Convert 60.0 to 60 for an integer, and numeric texts if the field allows them."""
    if str(value) in form.words():
        return str(value)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return int(value) if whole and int in form.options else value


def _as_text(hint: Any, value: Any) -> Any:
    """Convert numbers in fields of texts (a header ``X-Version: 2``) to texts."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    options = shape(hint).options
    return str(value) if str in options and not {int, float} & set(options) else value
