"""How a user wants the console's pages shown."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from collector.console.language import Tag
from collector.platform.time_zones import TimeZone


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """A user's display settings; None leaves a setting to the browser."""

    language: Tag | None = None
    """Language of the pages."""
    timezone: TimeZone | None = None
    """Time zone of all times."""
    clock: Literal["24h", "12h"] | None = None
    """Whether times read 17:30 or 5:30 pm."""
    theme: Literal["light", "dark"] | None = None
    """Colours of the pages."""
    density: Literal["comfortable", "compact"] = "comfortable"
    """Height of the rows of lists."""


def stored(saved: Mapping[str, Any]) -> Display:
    """Return the settings that the database holds, but for those of a later version."""
    return Display(**{field.name: saved[field.name] for field in fields(Display) if field.name in saved})
