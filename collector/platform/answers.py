"""Marks fields of response classes, and encodes them as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from shared.kinds.fields import camel


@dataclass(frozen=True, slots=True)
class Omitted:
    """Marks a field that an answer leaves out where it is None; *null*: there are answers that show that."""

    null: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A value that a field may have, for the OpenAPI document."""

    value: Any

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "examples": [self.value]}


@dataclass(frozen=True, slots=True)
class Identifier:
    """Marks an id as the API shows it: *prefix*, an underscore, 26 digits of base 32."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        pattern = f"^{self.prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$"
        return {
            **handler(core),
            "pattern": pattern,
            "examples": [f"{self.prefix}_01kahb5m7q8x9t3v2c4d6e0f1g"],
        }


AlertId = Annotated[str, Identifier("alert")]
ChannelId = Annotated[str, Identifier("chan")]
ComponentId = Annotated[str, Identifier("comp")]
EventId = Annotated[str, Identifier("evt")]
IncidentId = Annotated[str, Identifier("inc")]
MonitorId = Annotated[str, Identifier("mon")]
RuleId = Annotated[str, Identifier("rule")]
UserId = Annotated[str, Identifier("usr")]

Warnings = Annotated[list[Annotated[str, Example("unknown field colour was ignored")]] | None, Omitted()]
Revision = Annotated[int, Example(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who did something."""

    id: UserId | None
    """Id of the user; null for the service itself and for who is no user any more."""
    name: Annotated[str, Example("Admin")]
    """Name of the user, or `System`."""


def as_json(answer: Any) -> dict[str, Any]:
    """A dataclass by JSON's names of its fields, what is omitted left out; moments stay moments."""
    made: dict[str, Any] = {}
    cls: Any = type(answer)
    for name, alias, omitted in _names(cls):
        value = getattr(answer, name)
        if value is not None or not omitted:
            made[alias] = _value(value)
    return made


def _value(value: Any) -> Any:
    if isinstance(value, str | int | float) or value is None:
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(value)
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _value(each) for key, each in value.items()}
    return value


@cache
def _names(cls: Any) -> tuple[tuple[str, str, bool], ...]:
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        (field.name, camel(field.name.rstrip("_")), _is_omitted(hints[field.name])) for field in fields(cls)
    )


def _is_omitted(hint: Any) -> bool:
    return get_origin(hint) is Annotated and any(isinstance(mark, Omitted) for mark in get_args(hint)[1:])
