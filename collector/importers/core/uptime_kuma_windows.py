"""Maintenance of Uptime Kuma as maintenance windows."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried
from collector.importers.core.report import Origin
from collector.importers.core.values import elements, key, read_json, text, truth, whole

if TYPE_CHECKING:
    from collector.importers.core.uptime_kuma import Source

_DAYS: Final = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_DAY_S: Final = 86_400
_CRON: Final = re.compile(r"(\d{1,2}) (\d{1,2}) (\*|[\d,]+) \* (\*|[\d,\-]+)")


def add(
    made: Draft,
    source: "Source",
    monitors: Mapping[str, str],
    children: Mapping[str, Sequence[str]],
    timezone: str,
) -> None:
    """Add the windows; *children*: ids of the monitors of each group; *timezone*: of Kuma's server."""
    for row in source.windows:
        id_ = text(row.get("id"))
        origin = Origin("maintenance", text(row.get("title")) or f"Maintenance {id_}", f"maintenance#{id_}")
        chosen = [
            text(item.get("monitorid"))
            for item in source.window_monitors
            if text(item.get("maintenanceid")) == id_
        ]
        named = [child for monitor in chosen for child in (monitor, *children.get(monitor, ()))]
        keys = list(dict.fromkeys(monitors[item] for item in named if item in monitors))
        zone = _zone(row, source.settings, timezone)
        reasons: list[str] = []
        if zone is None:
            reasons.append("the zone of Kuma's server is not in the file; it is taken as UTC (--timezone)")
        try:
            times = _times(row)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        body: Body = {
            "name": origin.name,
            "description": text(row.get("description")) or None,
            "monitors": keys,
        }
        made.add(
            "maintenanceWindows",
            origin,
            f"kuma-maintenance-{key(id_)}",
            {**body, **times, "timezone": zone or "UTC"},
            reasons,
        )


def _zone(row: Mapping[str, Any], settings: Mapping[str, Any], timezone: str) -> str | None:
    own = text(row.get("timezone"))
    if own and own != "SAME_AS_SERVER":
        return own
    return timezone or text(settings.get("serverTimezone")).strip('"') or None


def _times(row: Mapping[str, Any]) -> Body:
    if not truth(row.get("active", True)):
        raise NotCarried("is switched off there")
    strategy = text(row.get("strategy"))
    start, end = _moment(row.get("startdate")), _moment(row.get("enddate"))
    if strategy == "single":
        if start is None or end is None or end <= start:
            raise NotCarried("its start and end cannot be read")
        return {"start": _shown(start), "duration": int((end - start).total_seconds())}
    if strategy == "manual":
        raise NotCarried("lasts until someone ends it, which a file cannot declare")
    if strategy == "cron":
        return _cron(row, start)
    rules = {
        "recurring-interval": lambda: f"FREQ=DAILY;INTERVAL={max(whole(row.get('intervalday')) or 1, 1)}",
        "recurring-weekday": lambda: f"FREQ=WEEKLY;BYDAY={_weekdays(row)}",
        "recurring-day-of-month": lambda: f"FREQ=MONTHLY;BYMONTHDAY={_days_of_month(row)}",
    }
    if strategy not in rules:
        raise NotCarried(f"its strategy {strategy or 'none'} is not known")
    opens, closes = _clock(row.get("starttime")), _clock(row.get("endtime"))
    if opens is None or closes is None:
        raise NotCarried("its times of day cannot be read")
    first = (_moment(row.get("laststartdate")) or start or datetime(2026, 1, 1)).date()  # noqa: DTZ001 - local
    begin = datetime.combine(first, datetime.min.time()) + timedelta(seconds=opens)
    return {
        "start": _shown(begin),
        "duration": (closes - opens) % _DAY_S or _DAY_S,
        "rrule": rules[strategy]() + _until(end),
    }


def _cron(row: Mapping[str, Any], start: datetime | None) -> Body:
    cron = text(row.get("cron")).strip()
    parts = _CRON.fullmatch(cron)
    minutes = whole(row.get("duration"))
    if parts is None or not minutes or (parts[3] != "*" and parts[4] != "*"):
        raise NotCarried(f"its cron expression {cron or 'none'} has no counterpart")
    day = start.date() if start else date(2026, 1, 1)
    begin = datetime.combine(day, datetime.min.time()).replace(
        hour=int(parts[2]) % 24, minute=int(parts[1]) % 60
    )
    rule = "FREQ=DAILY"
    if parts[3] != "*":
        rule = f"FREQ=MONTHLY;BYMONTHDAY={parts[3]}"
    elif parts[4] != "*":
        rule = f"FREQ=WEEKLY;BYDAY={','.join(_DAYS[number % 7] for number in _numbers(parts[4]))}"
    return {"start": _shown(begin), "duration": minutes, "rrule": rule + _until(_moment(row.get("enddate")))}


def _numbers(listed: str) -> list[int]:
    found: list[int] = []
    for part in listed.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _weekdays(row: Mapping[str, Any]) -> str:
    days = [number for item in _listed(row.get("weekdays")) if (number := whole(item)) is not None]
    if not days:
        raise NotCarried("has no weekday")
    return ",".join(_DAYS[day % 7] for day in dict.fromkeys(days))


def _days_of_month(row: Mapping[str, Any]) -> str:
    found: list[int] = []
    for day in _listed(row.get("daysofmonth")):
        if day == "lastDay1":
            found.append(-1)
        elif (number := whole(day)) is not None:
            found.append(number)
    if not found:
        raise NotCarried("has no day of the month")
    return ",".join(map(str, dict.fromkeys(found)))


def _until(end: datetime | None) -> str:
    return f";UNTIL={end:%Y%m%dT%H%M%S}" if end else ""


def _shown(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def _moment(value: Any) -> datetime | None:
    """Return a local time as Kuma writes it: with a blank or ``T``, with seconds or without."""
    try:
        return datetime.fromisoformat(text(value).strip().replace(" ", "T")[:19])
    except ValueError:
        return None


def _clock(value: Any) -> int | None:
    """Return seconds since midnight of ``HH:mm``."""
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}))?", text(value).strip())
    return None if match is None else int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3] or 0)


def _listed(value: Any) -> list[Any]:
    return elements(read_json(value))
