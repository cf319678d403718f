"""Marks of the fields of response classes, for the OpenAPI document."""

from dataclasses import dataclass
from typing import Annotated, Any


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
