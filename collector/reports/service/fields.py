"""Parses and validates the body of a request about a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.notifications.channels.email import Address
from collector.platform import references, time_zones
from collector.platform.answer_json import read_only
from collector.platform.fields import Tag
from collector.platform.monitor import MonitorId, Tags, has_ink
from collector.platform.time_zones import TimeZone
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import read
from collector.reports.answers import ReportAnswer
from collector.reports.core.business_hours import is_open_times
from collector.reports.core.periods import PeriodKind
from shared import ids
from shared.errors import Invalid
from shared.kinds.fields import ErrorText, NumericText

_LONGEST_DAYS = 400


def _is_day(text: str) -> bool:
    try:
        return 2000 <= date.fromisoformat(text).year < 2100
    except ValueError:
        return False


def _is_page_id(text: str) -> bool:
    return ids.read("sp", text) is not None


Day = Annotated[str, MaxLen(10), Predicate(_is_day), ErrorText("must be a date such as 2026-10-01")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFields:
    """The writable fields; without a selection the report is about all monitors of the team."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the report, 1 to 255 characters."""
    status_page: (
        Annotated[str, Predicate(_is_page_id), ErrorText("must be an id that starts with sp_")] | None
    ) = None
    """Id of the status page whose components' monitors it is about."""
    monitors: Annotated[list[MonitorId], MaxLen(1_000)] = field(default_factory=list)
    """Ids of the monitors it is about."""
    tags: Annotated[
        Tags | Annotated[list[Tag], MaxLen(100)],
        ErrorText("must be an object, or a list of name or name:value"),
    ] = field(default_factory=dict)
    """Tags of the monitors it is about: values by name, or a list of `name` and `name:value`."""
    period: Literal["week", "month", "quarter", "custom"] = "month"
    """Length of its periods; a custom one has a first and a last day."""
    first_day: Day | None = None
    """First day of a custom period."""
    last_day: Day | None = None
    """Last day of a custom period."""
    timezone: TimeZone = "UTC"
    """IANA time zone of days and hours."""
    send_hour: Annotated[int, Interval(ge=0, le=23), NumericText()] = 6
    """Hour of the day after the period at which it is computed and sent."""
    business_hours: (
        Annotated[
            str,
            MaxLen(500),
            Predicate(is_open_times),
            ErrorText("must be like Mo-Fr 08:00-18:00, Sa 09:00-12:00"),
        ]
        | None
    ) = None
    """Hours that are accounted for separately, such as `Mo-Fr 08:00-18:00, Sa 09:00-12:00`."""
    target: Annotated[float, Interval(gt=0, le=100), NumericText()] | None = None
    """Promised uptime in percent."""
    recipients: Annotated[list[Address], MaxLen(100)] = field(default_factory=list)
    """Email addresses to which each edition is sent."""
    enabled: bool = True
    """Whether it is computed by itself after each period."""

    def faults(self) -> dict[str, str]:
        """A custom period has both of its days, in order; no other has any."""
        if self.period != "custom":
            given = {"firstDay": self.first_day, "lastDay": self.last_day}
            return {name: "only a custom period has it" for name, day in given.items() if day}
        if self.first_day is None or self.last_day is None:
            name = "firstDay" if self.first_day is None else "lastDay"
            return {name: "a custom period needs it"}
        days = (date.fromisoformat(self.last_day) - date.fromisoformat(self.first_day)).days + 1
        if days < 1:
            return {"lastDay": "must not be before firstDay"}
        return {} if days <= _LONGEST_DAYS else {"lastDay": f"makes more than {_LONGEST_DAYS} days"}


# Fields that a GET shows and that no caller can set.
_READ_ONLY = read_only(ReportAnswer, ReportFields)


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A valid request; *monitors*: the ids in it, by the field names of errors about them."""

    fields: ReportFields
    monitors: dict[str, UUID]
    page: UUID | None
    unknown: list[str]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that follow from the request."""
        fields = self.fields
        return {
            "name": fields.name,
            "status_page_id": self.page,
            "monitors": list(dict.fromkeys(self.monitors.values())),
            "tags": fields.tags,
            "period": PeriodKind(fields.period),
            "first_day": date.fromisoformat(fields.first_day) if fields.first_day else None,
            "last_day": date.fromisoformat(fields.last_day) if fields.last_day else None,
            "timezone": time_zones.canonical(fields.timezone),
            "send_hour": fields.send_hour,
            "business_hours": fields.business_hours,
            "target": fields.target,
            "recipients": list(dict.fromkeys(fields.recipients)),
            "enabled": fields.enabled,
        }


def parse(body: Mapping[str, Any], shown: Mapping[str, Any]) -> ReportRequest:
    """Parse a request; fields that are not in it are as *shown*. Raises Invalid."""
    names = members(ReportFields)
    values = {**shown, **{name: body[name] for name in names if name in body}}
    found = read(ReportFields, values)
    if found.value is None:
        raise Invalid(found.faults)
    page = found.value.status_page
    return ReportRequest(
        found.value,
        references.many("mon", "monitors", values.get("monitors")),
        ids.read("sp", page) if page else None,
        [name for name in body if name not in {*names, *_READ_ONLY}],
    )
