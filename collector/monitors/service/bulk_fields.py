"""Parses and validates the body of a bulk request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform.monitor import MonitorId, Shown, Silence, Tags
from collector.platform.validation.validation import read
from shared.errors import Invalid
from shared.kinds import TYPES
from shared.kinds.fields import ErrorText

Action = Literal["pause", "resume", "silence", "unsilence", "tag", "untag", "delete"]

MOST_IDS = 10_000
_INSIDE = "filter."


def is_type(text: str) -> bool:
    return text in TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Monitors that match every given field; *tag* is a name, or ``name:value``; *all* restricts nothing."""

    ids: Annotated[list[MonitorId], MaxLen(MOST_IDS)] | None = None
    """Ids of monitors."""
    status: Shown | None = None
    """Only those with this status."""
    type: Annotated[str, Predicate(is_type), ErrorText("must be a type of monitor")] | None = None
    """Only those of this type."""
    group: Annotated[str, MinLen(1), MaxLen(255)] | None = None
    """Only those of this group."""
    tag: Annotated[str, MinLen(1), MaxLen(320)] | None = None
    """Only those with this tag: its name, or `name:value`."""
    all: bool = False
    """Selects all monitors; required if no other field restricts the filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """The fields of every request."""

    action: Action
    """Action to run."""
    filter: Filter
    """Monitors to run it on."""

    def faults(self) -> dict[str, str]:
        """Return a fault for an empty filter, which is more likely a mistake than a wish for all monitors."""
        return {"filter": "must name monitors, or say all: true"} if self.filter == Filter() else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """Tags to add."""

    tags: Annotated[Tags, MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRemoval:
    """Names of tags to remove."""

    tags: Annotated[list[Annotated[str, MinLen(1), MaxLen(64)]], MinLen(1), MaxLen(100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainAction:
    """An action without further fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkFields(BulkAction):
    """One action for all monitors that a filter selects, with the fields of that action."""

    duration: Annotated[int, Interval(ge=1, le=2_592_000)] | None = None
    """For `silence`, required: seconds until notifications resume, up to 30 days."""
    reason: Annotated[str, MaxLen(1000)] | None = None
    """For `silence`: the reason, for later readers."""
    tags: Tags | list[str] | None = None
    """For `tag`: tags to add, by name. For `untag`: names of tags to remove. Required for both."""


More = Silence | Tagging | TagRemoval | PlainAction

_MORE: Mapping[str, type[More]] = {
    "silence": Silence,
    "tag": Tagging,
    "untag": TagRemoval,
}


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A parsed request; *tags* by name, None to remove one; *unknown* fields were ignored."""

    action: Action
    filter: Filter
    silence: Silence | None
    tags: Mapping[str, str | None]
    unknown: list[str]


def parse(body: Mapping[str, Any]) -> BulkRequest:
    """Parse *body*. Raises Invalid.

    An unknown field of the filter is refused: without it the filter would match too much.
    """
    order = read(BulkAction, body)
    # Case-insensitive, as the action itself is parsed.
    more = read(_MORE.get(str(body.get("action")).lower(), PlainAction), body)
    strange = {name: "is no filter" for name in order.unknown if name.startswith(_INSIDE)}
    faults = {**strange, **more.faults, **order.faults}
    if faults or order.value is None:
        raise Invalid(faults)
    return BulkRequest(
        action=order.value.action,
        filter=order.value.filter,
        silence=more.value if isinstance(more.value, Silence) else None,
        tags=_patch(more.value),
        unknown=[name for name in order.unknown if name in more.unknown],
    )


def _patch(more: More | None) -> Mapping[str, str | None]:
    match more:
        case Tagging(tags=given):
            return {**given}
        case TagRemoval(tags=names):
            return dict.fromkeys(names)
    return {}
