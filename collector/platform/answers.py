"""Marks of the fields of response classes, for their JSON and for the OpenAPI document."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, TypeVar

AnswerT = TypeVar("AnswerT")
# The value of a field that is left out, where None is shown as null.
OMITTED: Final[Any] = object()


@dataclass(frozen=True, slots=True)
class Omitted:
    """Marks a field that a response omits if it is None.

    *null*: None is shown as null, and `OMITTED` is omitted.
    """

    null: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """An example value of a field, for the OpenAPI document."""

    value: Any

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "examples": [self.value]}


@dataclass(frozen=True, slots=True)
class Identifier:
    """Marks an id in the API's format: *prefix*, an underscore, 26 base-32 digits."""

    prefix: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        pattern = f"^{self.prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$"
        return {
            **handler(core),
            "pattern": pattern,
            "examples": [f"{self.prefix}_01kahb5m7q8x9t3v2c4d6e0f1g"],
        }


@dataclass(frozen=True, slots=True)
class Formatted:
    """Marks a text in a *format* of JSON Schema."""

    format: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "format": self.format}


def extended(cls: type[AnswerT], answer: Any, **more: Any) -> AnswerT:
    """Return a response of *cls*, which extends the class of *answer*, with its fields and *more*."""
    return cls(**{field.name: getattr(answer, field.name) for field in fields(answer)}, **more)


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
# A moment as `shared.clock.iso` writes it, where the same one is shown many times.
Timestamp = Annotated[str, Formatted("date-time")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMeta:
    """Which page of a list it is."""

    page: Annotated[int, Example(1)]
    """Number of the page, from 1."""
    limit: Annotated[int, Example(20)]
    """Number of items on a page at most."""
    total: Annotated[int, Example(1)]
    """Number of items on all pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """A page of a list."""

    data: Sequence[Any]
    """The items."""
    meta: PageMeta
    """Which page it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """A complete list."""

    data: Sequence[Any]
    """The items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who acted."""

    id: UserId | None
    """Id of the user; null for the service itself and for deleted users."""
    name: Annotated[str, Example("Admin")]
    """Name of the user, or `System`."""
