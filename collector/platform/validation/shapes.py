"""Describes the fields of a dataclass for validation."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from shared.kinds.fields import ErrorText, camel


@dataclass(frozen=True)
class Shape:
    """A parsed type hint: *options* are its members except None, *marks* all its annotations."""

    options: tuple[Any, ...]
    nullable: bool
    marks: tuple[Any, ...]
    # Asked for with every value that is read.
    _first: dict[type[Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def mark(self, kind: type[Any]) -> Any:
        """The first mark of that class, or None."""
        if kind not in self._first:
            self._first[kind] = next((mark for mark in self.marks if isinstance(mark, kind)), None)
        return self._first[kind]

    def says(self, value: Any) -> ErrorText | None:
        """The error text for a bad *value*, or None."""
        marks = (mark for mark in self.marks if isinstance(mark, ErrorText))
        return next((mark for mark in marks if mark.of is None or mark.of(value)), None)

    def words(self) -> tuple[str, ...]:
        """The allowed texts, if this is a literal."""
        return self._words

    def record(self) -> Any | None:
        """The dataclass among the options, if any."""
        return self._record

    def items(self) -> Any | None:
        """The hint of the items, if this may be a list."""
        return self._items

    def values(self) -> Any | None:
        """The hint of the values, if this may be an object with free keys."""
        return self._values

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(
            word for option in self.options if get_origin(option) is Literal for word in get_args(option)
        )

    @cached_property
    def _record(self) -> Any | None:
        return next((option for option in self.options if is_dataclass(option)), None)

    @cached_property
    def _items(self) -> Any | None:
        return next(
            (get_args(option)[0] for option in self.options if get_origin(option) in (list, tuple)), None
        )

    @cached_property
    def _values(self) -> Any | None:
        return next((get_args(option)[1] for option in self.options if get_origin(option) is dict), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A field: *name* in Python, *alias* in JSON."""

    name: str
    alias: str
    hint: Any
    required: bool


# Parsed hints by identity, each with its hint: to hash a hint costs as much as to parse it.
_PARSED: dict[int, tuple[Any, Shape]] = {}


def shape(hint: Any) -> Shape:
    """Parse the *hint* of a field, or of its part; the marks of a union's members count as its own."""
    known = _PARSED.get(id(hint))
    if known is None:
        known = _PARSED[id(hint)] = hint, _parse(hint)
    return known[1]


def _parse(hint: Any) -> Shape:
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *marks = get_args(hint)
        below = shape(inner)
        return Shape(below.options, below.nullable, (*marks, *below.marks))
    if origin in (Union, types.UnionType):
        parts = [shape(part) for part in get_args(hint) if part is not type(None)]
        return Shape(
            options=tuple(option for part in parts for option in part.options),
            nullable=type(None) in get_args(hint) or any(part.nullable for part in parts),
            marks=tuple(mark for part in parts for mark in part.marks),
        )
    return Shape((hint,), hint is Any, ())


def members(cls: Any) -> Mapping[str, Member]:
    """The fields of a dataclass by their JSON names."""
    return _members(cls)


@cache
def _members(cls: Any) -> Mapping[str, Member]:
    hints = get_type_hints(cls, include_extras=True)
    return {
        camel(field.name): Member(
            name=field.name,
            alias=camel(field.name),
            hint=hints[field.name],
            required=field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(cls)
    }
