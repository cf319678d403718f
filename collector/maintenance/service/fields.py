"""Parses and validates the body of a request about a maintenance window."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.maintenance.answers import WindowAnswer
from collector.maintenance.core import recurrence
from collector.maintenance.core.recurrence import BadRule
from collector.maintenance.core.windows import LONGEST_S, Schedule, Selection, local, moment, occurrences
from collector.platform import references, time_zones
from collector.platform.answer_json import read_only
from collector.platform.fields import Tag
from collector.platform.monitor import MonitorId, Tags, has_ink
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import read
from shared.errors import Invalid
from shared.kinds.fields import ErrorText, NumericText

_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_WHEN = "must be an RFC 3339 timestamp, or a local time such as 2026-12-01T02:00:00"
_YEARS = range(2000, 2101)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The writable fields; *start* and *end* have an offset, or are local to *timezone*."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the window, 1 to 255 characters."""
    description: Annotated[str, MaxLen(10_000)] = ""
    """Human-readable description."""
    monitors: Annotated[list[MonitorId], MaxLen(1_000)] = field(default_factory=list)
    """Ids of the monitors under maintenance."""
    tags: Annotated[
        Tags | Annotated[list[Tag], MaxLen(100)],
        ErrorText("must be an object, or a list of name or name:value"),
    ] = field(default_factory=dict)
    """Tags of the monitors under maintenance: values by name, or a list of `name` and `name:value`."""
    all: bool = False
    """Whether all monitors of the team are under maintenance."""
    start: Annotated[str, MaxLen(64)]
    """Start time: an RFC 3339 timestamp, or a local time of `timezone` such as `2026-12-01T02:00:00`."""
    end: Annotated[str, MaxLen(64)] | None = None
    """End of the first occurrence, as `start`; this or `duration` is required."""
    duration: Annotated[int, Interval(ge=1, le=LONGEST_S), NumericText()] | None = None
    """Length in seconds; this or `end` is required."""
    timezone: Annotated[
        str, Predicate(time_zones.is_zone), ErrorText("must be an IANA time zone, such as Europe/Berlin")
    ] = "UTC"
    """IANA time zone of local times and of the recurrence."""
    rrule: Annotated[str, MaxLen(recurrence.MOST_TEXT)] | None = None
    """Recurrence rule (RFC 5545); without it the window occurs once."""
    exdates: Annotated[list[Annotated[str, MaxLen(64)]], MaxLen(366)] = field(default_factory=list)
    """Dates, or times of those days, on which the window does not occur."""
    enabled: bool = True
    """Whether the window suppresses notifications."""

    def faults(self) -> dict[str, str]:
        """A window without a selection is probably a mistake, not a window for all monitors."""
        named = self.monitors or self.tags or self.all
        return {} if named else {"monitors": "name monitors or tags, or say all: true"}


# Fields that a GET shows and that no caller can set.
_READ_ONLY = read_only(WindowAnswer, Fields)


@dataclass(frozen=True, slots=True)
class ParsedWindow:
    """A valid request."""

    name: str
    description: str
    enabled: bool
    selection: Selection
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """A parsed request body; *asked* is set if there are no *faults*.

    *monitors*: the monitor ids in the body, by the field names under which errors about them are reported.
    """

    asked: ParsedWindow | None
    monitors: dict[str, UUID]
    faults: dict[str, str]
    unknown: list[str]

    def checked(self, more: Mapping[str, str]) -> ParsedWindow:
        """Return the request. Raises Invalid with all errors, including *more*."""
        faults = {**self.faults, **more}
        if faults or self.asked is None:
            raise Invalid(faults)
        return self.asked


def for_create(body: Mapping[str, Any]) -> WindowRequest:
    """Parse a new window, with all defaults filled in."""
    return _read(body, {name: body[name] for name in members(Fields) if name in body}, None)


def for_update(body: Mapping[str, Any], shown: Mapping[str, Any], schedule: Schedule) -> WindowRequest:
    """Parse an update; fields sent as *shown* stay, and yield to changed ones that contradict them."""
    sent = {
        name: body[name]
        for name in members(Fields)
        if name in body and not (name in {"end", "duration"} and body[name] is None)
    }
    news = {name for name in ("start", "end", "duration") if name in sent and sent[name] != shown[name]}
    whole = {**shown, **sent}
    if "end" in news or ("start" in news and "end" in sent and "duration" not in sent):
        spare = None if "duration" in news else "duration"
    else:
        spare = "end"
    whole.pop(spare or "", None)
    return _read(body, whole, None if "start" in news else schedule)


def _read(body: Mapping[str, Any], values: Mapping[str, Any], old: Schedule | None) -> WindowRequest:
    """Parse and validate; *old*: the schedule whose local start is kept, even in another time zone."""
    known = {*members(Fields), *_READ_ONLY}
    unknown = [name for name in body if name not in known]
    found = read(Fields, values)
    monitors = references.many("mon", "monitors", values.get("monitors"))
    if found.value is None:
        return WindowRequest(None, monitors, {**_beside(found.faults, values, old), **found.faults}, unknown)
    schedule, faults = _schedule(found.value, old)
    if schedule is None:
        return WindowRequest(None, monitors, faults, unknown)
    fields = found.value
    selection = Selection(fields.all, list(dict.fromkeys(monitors.values())), fields.tags)
    asked = ParsedWindow(fields.name, fields.description, fields.enabled, selection, schedule)
    return WindowRequest(asked, monitors, {}, unknown)


def _beside(bad: Collection[str], values: Mapping[str, Any], old: Schedule | None) -> dict[str, str]:
    """Errors of the schedule, as far as it can be checked despite the *bad* fields."""
    fields = {key.partition("[")[0].partition(".")[0] for key in bad}
    if fields & {"start", "end", "duration", "timezone"}:
        return {}
    sound = {name: value for name, value in values.items() if name not in fields}
    readable = read(Fields, {"name": "readable", **sound, "all": True}).value
    return _schedule(readable, old)[1] if readable else {}


def _schedule(fields: Fields, old: Schedule | None) -> tuple[Schedule | None, dict[str, str]]:
    zone = ZoneInfo(time_zones.canonical(fields.timezone))
    faults: dict[str, str] = {}
    start = _start(fields, zone, old)
    exdates = {f"exdates[{at}]": _day(text, zone) for at, text in enumerate(fields.exdates)}
    faults |= {key: "must be a date (YYYY-MM-DD)" for key, day in exdates.items() if day is None}
    rrule = _rrule(fields.rrule, faults)
    if start is None:
        return None, {**faults, "start": f"{_WHEN}, in a year from 2000 to 2100"}
    duration = _duration(fields, start[0], zone, faults)
    schedule = Schedule(
        starts_at=start[0],
        starts_local=start[1],
        duration=duration,
        timezone=zone.key,
        rrule=rrule,
        exdates=sorted({day for day in exdates.values() if day is not None}),
    )
    if not faults and next(occurrences(schedule, schedule.starts_local), None) is None:
        faults["rrule"] = "names no time from start on"
    return (None, faults) if faults else (schedule, {})


def _start(fields: Fields, zone: ZoneInfo, old: Schedule | None) -> tuple[datetime, datetime] | None:
    """The instant and the local time of the start; a kept start keeps its local time."""
    if old is None:
        found = _when(fields.start, zone)
        return found if found and found[1].year in _YEARS else None
    same_zone = zone.key == old.timezone
    return old.starts_at if same_zone else moment(old.starts_local, zone), old.starts_local


def _duration(fields: Fields, start: datetime, zone: ZoneInfo, faults: dict[str, str]) -> timedelta:
    given = timedelta(seconds=fields.duration or 0)
    if fields.end is None:
        if fields.duration is None:
            faults["end"] = "End or duration is required"
        return given
    end = _when(fields.end, zone)
    if end is None:
        faults["end"] = _WHEN
        return given
    length = end[0] - start
    if not timedelta() < length <= timedelta(seconds=LONGEST_S):
        faults["end"] = f"must be after start, by {LONGEST_S // 86_400} days at most"
    elif fields.duration is not None and length != given:
        faults["duration"] = (
            f"must be {length // timedelta(seconds=1)} to fit start and end; one of them is enough"
        )
    return length


def _rrule(text: str | None, faults: dict[str, str]) -> str | None:
    """The normalized rule; None for a window that does not recur."""
    kept = (text or "").strip().upper().removeprefix("RRULE:")
    if not kept:
        return None
    try:
        recurrence.parse(kept)
    except BadRule as error:
        faults["rrule"] = str(error)
    return kept


def _when(text: str, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    """The instant and its local time in *zone*, to the second."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    try:
        at = datetime.fromisoformat(f"{match[1]}T{match[2]}{(match[3] or '').upper()}")
        if at.tzinfo is None:
            return moment(at, zone), at
        return at.astimezone(UTC), local(at, zone)
    except (ValueError, OverflowError):
        return None


def _day(text: str, zone: ZoneInfo) -> date | None:
    at = _when(text, zone)
    if at is not None:
        return at[1].date()
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
